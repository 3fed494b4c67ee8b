#version 120
// Round holes: a discard that most of a quad does not take, before and after a lookup.
varying vec2 v;

uniform sampler2D tex;
void main()
{
   vec2 p = fract(v * 8.0) - 0.5;
   if (dot(p, p) < 0.0625) discard;
   vec4 c = texture2D(tex, v * 2.0);
   if (c.x > 0.9) discard;
   gl_FragColor = c;
}
