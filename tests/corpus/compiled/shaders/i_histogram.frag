#version 130
//@ uA 20.0 0.0 0.0 0.0
// Counts in an array whose index is computed.
uniform vec4 uA;
void main()
{
   float bins[6];
   for (int i = 0; i < 6; i++) bins[i] = 0.0;
   int x = int(gl_FragCoord.x), y = int(gl_FragCoord.y);
   for (int i = 0; i < int(uA.x); i++) bins[(x * i + y) % 6] += 1.0;
   gl_FragColor = vec4(bins[0], bins[1], bins[x % 6], bins[y % 6]);
}
