#version 120
// Nine linear lookups with Gaussian weights.
varying vec2 v;

uniform sampler2D lin;
void main()
{
   vec4 sum = texture2D(lin, v) * 0.2270270;
   for (int i = 1; i <= 4; i++) {
      float w = i == 1 ? 0.1945946 : i == 2 ? 0.1216216 : i == 3 ? 0.0540541 : 0.0162162;
      vec2 o = vec2(float(i) * 0.0390625, 0.0);
      sum += (texture2D(lin, v + o) + texture2D(lin, v - o)) * w;
   }
   gl_FragColor = sum;
}
