#version 120
//@ uA 16.0 0.0 0.0625 0.1875
// Lookups in a loop that is left when enough has been gathered.
varying vec2 v;

uniform sampler2D tex;
uniform vec4 uA;
void main()
{
   vec2 at = v;
   float depth = 0.0, n = 0.0;
   for (float i = 0.0; i < uA.x; i += 1.0) {
      depth += texture2D(tex, at).x;
      if (depth > 2.96) break;
      at += uA.zw;
      n += 1.0;
   }
   gl_FragColor = vec4(depth, n, 0.0, 1.0);
}
