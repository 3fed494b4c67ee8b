#version 130
// The smallest divisor by trial division: remainders in a loop with a break.
void main()
{
   int n = int(gl_FragCoord.x) + 64 * int(gl_FragCoord.y) + 2, divisor = n;
   for (int d = 2; d * d <= n; d++)
      if (n % d == 0) { divisor = d; break; }
   gl_FragColor = vec4(float(n), float(divisor), float(n / divisor), divisor == n ? 1.0 : 0.0);
}
