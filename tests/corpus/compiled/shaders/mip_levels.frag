#version 130
// Trilinear lookups at levels that are computed.
uniform sampler2D mip;
in vec2 v;
void main()
{
   gl_FragColor = textureLod(mip, v * 2.0, v.x * 4.0) + 0.5 * textureLod(mip, v.yx, 1.0 + v.y * 3.0);
}
