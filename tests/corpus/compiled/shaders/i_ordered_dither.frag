#version 130
// A dither matrix from bits of the pixel's place.
uniform sampler2D tex;
in vec2 v;

void main()
{
   uvec2 p = uvec2(gl_FragCoord.xy);
   uint x = p.x ^ p.y, y = p.y;
   uint rank = (x & 1u) << 5 | (y & 1u) << 4 | (x & 2u) << 2 | (y & 2u) << 1 | (x & 4u) >> 1 | (y & 4u) >> 2;
   vec4 c = texture2D(tex, v) * 4.0 + (float(rank) + 0.5) / 64.0;
   gl_FragColor = vec4(float(rank), floor(c.xyz));
}
