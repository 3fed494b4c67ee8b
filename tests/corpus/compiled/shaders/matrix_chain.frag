#version 120
//@ uA 0.5 -0.25 1.0 0.75
//@ uB 0.25 0.125 -0.5 1.5
// Products of matrices and a vector.
varying vec2 v;

uniform vec4 uA, uB;
void main()
{
   mat4 m = mat4(uA, uB, uA.wzyx, vec4(v, v.yx));
   mat4 n = mat4(uB.yxwz, vec4(v.x, uA.yzw), vec4(uB.xy, v), uA);
   vec4 p = m * (n * vec4(v, 1.0, 0.5));
   gl_FragColor = (m * n)[1] + p;
}
