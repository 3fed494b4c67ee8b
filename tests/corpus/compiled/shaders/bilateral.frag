#version 120
//@ uA 0.25 3.0 0.0 0.0
// A filter that weighs by distance and by likeness; 25 lookups in nested loops.
varying vec2 v;

uniform sampler2D tex;
uniform vec4 uA;
void main()
{
   vec3 centre = texture2D(tex, v).xyz, sum = vec3(0.0);
   float weights = 0.0;
   for (int j = -2; j <= 2; j++)
      for (int i = -2; i <= 2; i++) {
         vec2 o = vec2(float(i), float(j));
         vec3 c = texture2D(tex, v + o / 16.0).xyz, d = c - centre;
         float w = exp(-dot(o, o) * uA.x - dot(d, d) * uA.y);
         sum += c * w;
         weights += w;
      }
   gl_FragColor = vec4(sum / weights, weights);
}
