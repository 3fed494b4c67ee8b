#version 120
//@ uA 0.5 0.375 0.5 0.375
// Marching a ray through a field of distances to a box and a ball; the loop is left when it is near or far.
varying vec2 v;

uniform vec4 uA;
float field(vec3 p)
{
   vec3 d = abs(p) - uA.xyz;
   float box = length(max(d, 0.0)) + min(max(d.x, max(d.y, d.z)), 0.0);
   return min(box, length(p - vec3(0.6, 0.5, -0.6)) - uA.w);
}
void main()
{
   vec3 eye = vec3(0.0, 0.0, -3.0), ray = normalize(vec3(v * 2.0 - 1.0, 1.5));
   float t = 0.5, glow = 0.0;
   for (int i = 0; i < 60; i++) {
      float d = field(eye + ray * t);
      if (d < 0.25) break;
      if (t > 6.0) break;
      t += d * 0.5;
      glow += 0.015625;
   }
   gl_FragColor = vec4(min(t, 6.0) > 5.9 ? 0.0 : 1.0, field(eye + ray * 2.0), ray.z, 1.0);
}
