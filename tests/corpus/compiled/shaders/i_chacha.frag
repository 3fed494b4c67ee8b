#version 130
// Two rounds of additions, exclusive ors and rotations.
//
uvec4 rotate(uvec4 x, int n) { return x << n | x >> (32 - n); }
void main()
{
   uvec4 a = uvec4(0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u), b = uvec4(uvec2(gl_FragCoord.xy), 3u, 4u), c = b.wzyx + a, d = uvec4(9u, 8u, 7u, 6u);
   for (int i = 0; i < 4; i++) {
      a += b; d = rotate(d ^ a, 16);
      c += d; b = rotate(b ^ c, 12);
      a += b; d = rotate(d ^ a, 8);
      c += d; b = rotate(b ^ c, 7);
      b = b.yzwx; c = c.zwxy; d = d.wxyz;
   }
   gl_FragColor = vec4(a >> 12);
}
