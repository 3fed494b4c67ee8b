#version 130
// Trilinear lookups whose level follows from the derivatives.
uniform sampler2D mip;
in vec2 v;
void main()
{
   gl_FragColor = texture(mip, v * 3.0) + texture(mip, v * 0.5, 0.75);
}
