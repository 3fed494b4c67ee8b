#version 120
//@ targets 4
// Four colour targets at once.
varying vec2 v;

uniform sampler2D tex;
void main()
{
   vec4 c = texture2D(tex, v);
   gl_FragData[0] = c;
   gl_FragData[1] = vec4(v, v.x * v.y, 1.0);
   gl_FragData[2] = c * c - 0.25;
   gl_FragData[3] = max(c.wzyx, vec4(v, v));
}
