#version 130
//@ uA 7.71 1.93 0.0 0.0
// Rounding, signs and remainders of both kinds.
in vec2 v;
uniform vec4 uA;
void main()
{
   float x = (v.x - 0.5) * uA.x, y = v.y * uA.y + 0.5;
   gl_FragColor = vec4(trunc(x) + round(y * 4.0 + 0.001953125) * 16.0, sign(x) * ceil(y), mod(x, y), x - y * trunc(x / y));
}
