#version 120
//@ uA 2.0 0.25 0.0625 0.0
// A pendulum: Runge-Kutta steps with sines.
varying vec2 v;

uniform vec4 uA;
vec2 rate(vec2 s) { return vec2(s.y, -uA.x * sin(s.x) - uA.y * s.y); }
void main()
{
   vec2 s = v * 2.0 - 1.0;
   for (int i = 0; i < 10; i++) {
      vec2 a = rate(s), b = rate(s + a * (0.5 * uA.z)), c = rate(s + b * (0.5 * uA.z)), d = rate(s + c * uA.z);
      s += (a + 2.0 * b + 2.0 * c + d) * (uA.z / 6.0);
   }
   gl_FragColor = vec4(s, length(s), 1.0);
}
