#version 120
//@ uA 0.75 1.5 0.375 0.25
// Eight numbers sorted by comparisons and choices.
varying vec2 v;

uniform vec4 uA;
void swap(inout float a, inout float b) { if (a > b) { float t = a; a = b; b = t; } }
void main()
{
   float a = v.x, b = v.y, c = uA.x - v.x, d = uA.y * v.y, e = v.x * v.y, f = uA.z, g = v.x + v.y - uA.w, h = v.y - v.x;
   swap(a, b); swap(c, d); swap(e, f); swap(g, h);
   swap(a, c); swap(b, d); swap(e, g); swap(f, h);
   swap(b, c); swap(f, g); swap(a, e); swap(d, h);
   swap(b, f); swap(c, g);
   swap(b, e); swap(d, g);
   swap(c, e); swap(d, f);
   swap(d, e);
   gl_FragColor = vec4(a + 2.0 * b, c + 2.0 * d, e + 2.0 * f, g + 2.0 * h);
}
