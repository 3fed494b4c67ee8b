#version 120
//@ uA 0.5 0.75 -0.25 2.0
// A tree of branches on the pixel's place, each with other arithmetic.
uniform vec4 uA;
void main()
{
   vec2 p = floor(gl_FragCoord.xy * 0.25);
   float k = mod(p.x + 3.0 * p.y, 5.0);
   vec4 c = vec4(p * 0.0625, k, 1.0);
   if (k < 2.0) {
      if (k < 1.0) c.xyz = sqrt(c.xyz + uA.x);
      else c.xyz = c.yzx * uA.y - c.xyz;
   } else if (k < 3.0) c = c * c + uA;
   else if (k < 4.0) c.w = dot(c, uA);
   else c = vec4(exp2(-c.x), c.yyz / (1.0 + c.x));
   gl_FragColor = c;
}
