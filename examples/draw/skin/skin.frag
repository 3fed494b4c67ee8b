#version 330 core
in vec3 turned;
in vec4 tint;
out vec4 result;

void main() {
    float light = 0.35 + 0.65 * abs(dot(normalize(turned), normalize(vec3(0.6, 0.4, 1.0))));
    result = vec4(tint.rgb * light, 1.0);
}
