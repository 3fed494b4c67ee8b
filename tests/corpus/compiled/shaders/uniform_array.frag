#version 120
//@ uA 20.0 0.0 0.0 0.0
//@ K[0] 0.1 0.2 0.5 0.25
//@ K[1] 0.8 0.3 0.25 1.0
//@ K[2] 0.4 0.9 1.0 0.0
//@ K[3] 0.6 0.6 0.125 0.75
//@ K[4] 0.9 0.9 0.0 0.5
//@ K[5] 0.2 0.7 0.75 0.375
// A loop over an array of uniforms: the sum of falls in light.
varying vec2 v;

uniform vec4 K[6];
uniform vec4 uA;
void main()
{
   vec3 sum = vec3(0.0);
   for (int n = 0; n < 6; n++) {
      vec2 d = K[n].xy - v;
      sum += vec3(K[n].z, K[n].w, 1.0) / (1.0 + uA.x * dot(d, d));
   }
   gl_FragColor = vec4(sum, 1.0);
}
