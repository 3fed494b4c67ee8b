#version 130
// Mandelbrot in fixed point: products of whole numbers, an arithmetic shift, a loop.
void main()
{
   int cx = (int(gl_FragCoord.x) - 48) * 128, cy = (int(gl_FragCoord.y) - 32) * 128, x = 0, y = 0, n = 0;
   while (n < 24) {
      int xx = x * x >> 12, yy = y * y >> 12;
      if (xx + yy > 16384) break;
      y = (x * y >> 11) + cy;
      x = xx - yy + cx;
      n++;
   }
   gl_FragColor = vec4(float(n), float(x), float(y), 1.0);
}
