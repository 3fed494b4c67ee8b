#version 120
// Edges of a texture: nine lookups.
varying vec2 v;

uniform sampler2D tex;
float at(float i, float j) { return dot(texture2D(tex, v + vec2(i, j) / 16.0).xyz, vec3(0.25, 0.5, 0.25)); }
void main()
{
   float a = at(-1.0, -1.0), b = at(0.0, -1.0), c = at(1.0, -1.0), d = at(-1.0, 0.0), e = at(0.0, 0.0), f = at(1.0, 0.0);
   float g = at(-1.0, 1.0), h = at(0.0, 1.0), i = at(1.0, 1.0);
   float x = c + 2.0 * f + i - a - 2.0 * d - g, y = g + 2.0 * h + i - a - 2.0 * b - c;
   gl_FragColor = vec4(sqrt(x * x + y * y), x, y, e);
}
