#version 130
// A checksum bit by bit: 32 choices in a loop.
void main()
{
   uint crc = 0xffffffffu, word = uint(gl_FragCoord.x) | uint(gl_FragCoord.y) << 16;
   for (int i = 0; i < 32; i++) {
      uint bit = (crc ^ word) & 1u;
      crc >>= 1;
      if (bit != 0u) crc ^= 0xedb88320u;
      word >>= 1;
   }
   gl_FragColor = vec4(float(crc >> 16), float(crc & 65535u), 0.0, 1.0);
}
