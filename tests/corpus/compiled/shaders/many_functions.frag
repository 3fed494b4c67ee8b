#version 120
//@ uA 1.25 0.3 0.8 2.0
// Functions that call functions, with several ways out.
varying vec2 v;

uniform vec4 uA;
float shape(float x) { if (x < 0.25) return x * 4.0; if (x < 0.75) return 1.0; return (1.0 - x) * 4.0; }
vec2 turn(vec2 p, float by) { float c = cos(by), s = sin(by); return vec2(c * p.x - s * p.y, s * p.x + c * p.y); }
float layer(vec2 p, float by) { p = turn(p - 0.5, by) * uA.x + 0.5; return shape(clamp(p.x, 0.0, 1.0)) * shape(clamp(p.y, 0.0, 1.0)); }
void main()
{
   gl_FragColor = vec4(layer(v, uA.y), layer(v, uA.z), layer(v.yx, uA.w), 1.0);
}
