#version 130
// Bits of two numbers interleaved, and taken apart again.
uint spread(uint x) { x = (x | x << 8) & 0x00ff00ffu; x = (x | x << 4) & 0x0f0f0f0fu; x = (x | x << 2) & 0x33333333u; return (x | x << 1) & 0x55555555u; }
uint gather(uint x) { x &= 0x55555555u; x = (x | x >> 1) & 0x33333333u; x = (x | x >> 2) & 0x0f0f0f0fu; x = (x | x >> 4) & 0x00ff00ffu; return (x | x >> 8) & 0x0000ffffu; }
void main()
{
   uint code = spread(uint(gl_FragCoord.x)) | spread(uint(gl_FragCoord.y)) << 1;
   uint other = code * 5u + 77u;
   gl_FragColor = vec4(float(code), float(gather(other)), float(gather(other >> 1)), 1.0);
}
