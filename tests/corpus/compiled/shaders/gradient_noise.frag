#version 120
//@ uA 8.0 0.001953125 0.0 0.0
// Noise of gradients, with dot products at four corners.
varying vec2 v;

uniform vec4 uA;
float corner(vec2 cell, vec2 f)
{
   float h = mod((cell.x * 7.0 + cell.y * 13.0) * (cell.x + 3.0), 16.0);
   vec2 g = vec2(h < 8.0 ? 1.0 : -1.0, mod(h, 4.0) - 1.5);
   return dot(g, f);
}
void main()
{
   vec2 p = v * uA.x + uA.y, cell = floor(p), f = p - cell;
   vec2 w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
   float a = corner(cell, f), b = corner(cell + vec2(1.0, 0.0), f - vec2(1.0, 0.0));
   float c = corner(cell + vec2(0.0, 1.0), f - vec2(0.0, 1.0)), d = corner(cell + 1.0, f - 1.0);
   gl_FragColor = vec4(mix(mix(a, b, w.x), mix(c, d, w.x), w.y), w, 1.0);
}
