#version 120
//@ uA -0.75 0.25 30.0 0.0
// A Julia set; bound and constant are uniforms, and the number of steps is what is drawn.
varying vec2 v;

uniform vec4 uA;
void main()
{
   vec2 z = floor(v * 64.0) / 32.0 - 1.0;
   float n = 0.0;
   for (float i = 0.0; i < uA.z; i += 1.0) {
      z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + uA.xy;
      if (dot(z, z) > 16.0) break;
      n += 1.0;
   }
   gl_FragColor = vec4(n, n > 6.0 ? 1.0 : 0.0, n > 2.0 ? 1.0 : 0.0, 1.0);
}
