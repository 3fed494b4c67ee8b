#version 120
// Newton's method for z^3 = 1: a loop that is left by a break inside an if. The colour is the root that is found.
varying vec2 v;

void main()
{
   vec2 z = v * 4.0 - 2.0;
   float steps = 0.0;
   for (int i = 0; i < 40; i++) {
      float d = dot(z, z);
      if (d < 0.0009765625) break;
      vec2 square = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y);
      vec2 next = z * (2.0 / 3.0) + vec2(square.x, -square.y) / (3.0 * d * d);
      vec2 moved = next - z;
      z = next;
      if (dot(moved, moved) < 0.01) break;
      steps += 1.0;
   }
   gl_FragColor = vec4(floor(z * 2.0 + 0.5), min(steps, 2.0), 1.0);
}
