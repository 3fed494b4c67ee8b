#version 120
//@ uA 4.0 2.0 0.0 0.0
// Derivatives across and up of a value that is linear within each quad, and what is made of them.
varying vec2 v;

uniform vec4 uA;
void main()
{
   vec2 p = v * uA.xy;
   vec2 dx = dFdx(p), dy = dFdy(p);
   float density = max(length(dx), length(dy));
   gl_FragColor = vec4(density * 16.0 * v.x, (dx.x * dy.y - dx.y * dy.x) * v.y, fwidth(p.x + p.y) * 8.0 - v.x, log2(density) * v.x);
}
