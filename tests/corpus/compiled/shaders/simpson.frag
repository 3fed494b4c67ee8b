#version 120
//@ uA 16.0 0.0 0.0 0.0
// An integral by Simpson's rule, its number of points a uniform.
varying vec2 v;

uniform vec4 uA;
float f(float x) { return exp(-x * x) * cos(x * (1.0 + 2.0 * v.y)); }
void main()
{
   float h = v.x / uA.x, sum = f(0.0) + f(v.x);
   for (float i = 1.0; i < uA.x; i += 1.0) sum += f(i * h) * (fract(i * 0.5) > 0.25 ? 4.0 : 2.0);
   gl_FragColor = vec4(sum * h / 3.0, h, f(v.x), 1.0);
}
