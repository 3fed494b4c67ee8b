#version 120
// Eight lookups, each where the last one says.
varying vec2 v;

uniform sampler2D tex;
void main()
{
   vec2 at = (floor(v * 16.0) + 0.5) / 16.0;
   vec4 c = vec4(0.0);
   for (int i = 0; i < 8; i++) {
      c = texture2D(tex, at);
      at = (floor(vec2(c.z, fract(c.x + c.y)) * 16.0) + 0.5) / 16.0;
   }
   gl_FragColor = vec4(at, c.zw);
}
