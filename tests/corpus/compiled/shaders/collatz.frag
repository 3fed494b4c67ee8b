#version 120
//@ uA 60.0 0.0 0.0 0.0
// Steps until 1 by halving and tripling, in whole floating-point numbers.
varying vec2 v;

uniform vec4 uA;
void main()
{
   float n = floor(v.x * 64.0) + 64.0 * floor(v.y * 8.0) + 1.0, steps = 0.0;
   while (n > 1.5 && steps < uA.x) {
      float half_of = n * 0.5, low = floor(half_of);
      if (half_of == low) n = low;
      else n = n * 3.0 + 1.0;
      steps += 1.0;
   }
   gl_FragColor = vec4(steps, n, 0.0, 1.0);
}
