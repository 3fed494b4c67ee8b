#version 120
//@ uA 9.0 0.0 0.0 0.0
// Pixels that are discarded in the middle of a loop, at different turns.
varying vec2 v;

uniform vec4 uA;
void main()
{
   float x = floor(v.x * 32.0), y = floor(v.y * 32.0), sum = 0.0;
   for (float i = 0.0; i < uA.x; i += 1.0) {
      sum += x + i;
      if (sum > y * 12.0 + 150.0) discard;
      if (sum < y) { sum += 2.0; continue; }
      sum += y * 0.5;
   }
   gl_FragColor = vec4(sum, x, y, 1.0);
}
