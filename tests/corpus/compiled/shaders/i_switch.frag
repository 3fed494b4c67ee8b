#version 130
// A switch in a loop: a small machine that runs its program.
void main()
{
   int a = int(gl_FragCoord.x), b = int(gl_FragCoord.y), code = a * 31 + b * 17;
   for (int i = 0; i < 10; i++) {
      switch (code & 3) {
      case 0: a += b; break;
      case 1: b = a - b; break;
      case 2: a = a * 3 & 1023; break;
      default: b ^= a; break;
      }
      code = code >> 2 ^ a + i;
   }
   gl_FragColor = vec4(float(a), float(b), float(code), 1.0);
}
