#version 130
// A random number generator, eight steps for each pixel.
void main()
{
   uint x = uint(gl_FragCoord.x) * 1664525u + uint(gl_FragCoord.y) * 22695477u + 1u;
   uint sum = 0u;
   for (int i = 0; i < 8; i++) {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      sum += x & 255u;
   }
   gl_FragColor = vec4(float(x >> 16), float(x & 65535u), float(sum), 1.0);
}
