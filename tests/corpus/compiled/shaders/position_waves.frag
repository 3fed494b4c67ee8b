#version 120
//@ uA 1.0 2.0 6.0 3.0
// Waves around points, from the pixel's place in the window.
uniform vec4 uA;
void main()
{
   vec2 p = gl_FragCoord.xy * 0.125;
   float a = sin(length(p - uA.xy)), b = cos(length(p - uA.zw));
   gl_FragColor = vec4(a, b, a * b, gl_FragCoord.w);
}
