#version 330 core
in vec3 stone;
in vec3 turned;

uniform vec4 light;
uniform vec4 vein;
uniform vec4 time;

out vec4 colour;

// Ripples along three directions, each bent by the one before.
float ripples(vec3 at) {
    float bent = sin(at.x * 3.0 + time.x);
    bent += 0.5 * sin(at.y * 5.0 + bent * 2.0);
    return bent + 0.25 * sin(at.z * 9.0 + bent * 4.0);
}

void main() {
    float stripe = abs(sin(3.14159 * ripples(stone)));
    vec3 base = mix(vein.rgb, vec3(0.93, 0.91, 0.87), stripe);
    float facing = dot(normalize(turned), normalize(light.xyz));
    if (facing < 0.0)
        facing = 0.15 * -facing;
    colour = vec4(base * (0.25 + 0.75 * facing), 1.0);
}
