#version 120
// The nearest of nine points in cells: nested loops.
varying vec2 v;

void main()
{
   vec2 p = v * 6.0, cell = floor(p + 0.0009765625);
   float nearest = 8.0, second = 8.0;
   for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
         vec2 c = cell + vec2(float(i), float(j));
         vec2 point = c + 0.5 + 0.375 * vec2(mod(c.x * 5.0 + c.y * 3.0, 8.0) - 3.5, mod(c.x * 3.0 + c.y * 7.0, 8.0) - 3.5) / 3.5;
         float d = distance(point, p);
         second = min(second, max(nearest, d));
         nearest = min(nearest, d);
      }
   gl_FragColor = vec4(nearest, second, second - nearest, 1.0);
}
