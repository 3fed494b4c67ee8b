#version 120
// A function that returns from inside its loop.
varying vec2 v;

float crossing(float a, float b)
{
   float x = 0.0;
   for (int i = 0; i < 50; i++) {
      x += a;
      if (x * x > b) return float(i);
      x += 0.01;
   }
   return -1.0;
}
void main()
{
   vec2 q = floor(v * 64.0) / 64.0;
   gl_FragColor = vec4(crossing(q.x * 0.25 + 0.02, q.y + 0.2501), crossing(q.y * 0.125 + 0.03125, q.x + 0.1251), q);
}
