#version 120
// Nested loops whose bounds differ from pixel to pixel, with a continue.
varying vec2 v;

void main()
{
   float n = floor(v.x * 8.0), m = floor(v.y * 8.0), sum = 0.0, turns = 0.0;
   for (float i = 0.0; i < n; i += 1.0) {
      if (i == m) continue;
      for (float j = 0.0; j <= i; j += 1.0) {
         if (j > m) break;
         sum += i * m - j * n;
         turns += 1.0;
      }
   }
   gl_FragColor = vec4(sum, turns, n, m);
}
