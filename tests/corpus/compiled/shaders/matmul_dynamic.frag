#version 120
//@ uA 13.0 0.0 0.0 0.0
// The same with a number of steps that is a uniform.
varying vec2 v;

uniform sampler2D tex, tex1;
uniform vec4 uA;
void main()
{
   vec4 sum = vec4(0.0);
   for (float k = 0.5; k < uA.x; k += 1.0)
      sum += texture2D(tex, vec2(k / 16.0, v.y)) * texture2D(tex1, vec2(v.x, k / 16.0)).y;
   gl_FragColor = sum;
}
