#version 120
// An element of the product of two matrices that are textures: a loop of 16 steps with two lookups.
varying vec2 v;

uniform sampler2D tex;
void main()
{
   vec4 sum = vec4(0.0);
   for (int k = 0; k < 16; k++) {
      float at = (float(k) + 0.5) / 16.0;
      sum += texture2D(tex, vec2(at, v.y)) * texture2D(tex, vec2(v.x, at)).x;
   }
   gl_FragColor = sum;
}
