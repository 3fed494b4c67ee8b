#version 130
// Lookups by whole numbers in a loop.
uniform sampler2D tex;
in vec2 v;

void main()
{
   ivec2 p = ivec2(v * 16.0);
   vec4 sum = vec4(0.0);
   for (int i = 0; i < 8; i++) sum += texelFetch(tex, (p + ivec2(i, i * i)) & 15, 0) * float(i + 1);
   gl_FragColor = sum;
}
