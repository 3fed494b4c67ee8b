#version 120
// From hue, saturation and value to red, green and blue, and back to brightness.
varying vec2 v;

void main()
{
   vec3 k = abs(fract(v.x + vec3(1.0, 2.0 / 3.0, 1.0 / 3.0)) * 6.0 - 3.0);
   vec3 rgb = mix(vec3(1.0), clamp(k - 1.0, 0.0, 1.0), v.y) * (0.5 + 0.5 * v.x);
   gl_FragColor = vec4(rgb, dot(rgb, vec3(0.2126, 0.7152, 0.0722)));
}
