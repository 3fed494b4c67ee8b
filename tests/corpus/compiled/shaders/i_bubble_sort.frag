#version 130
// An array in registers, sorted by nested loops with indices.
void main()
{
   int a[8];
   for (int i = 0; i < 8; i++) a[i] = (int(gl_FragCoord.x) * (i * 7 + 3) + int(gl_FragCoord.y) * (i + 5)) & 63;
   for (int i = 0; i < 7; i++)
      for (int j = 0; j < 7 - i; j++)
         if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
   gl_FragColor = vec4(float(a[0]), float(a[3]), float(a[5]), float(a[7]));
}
