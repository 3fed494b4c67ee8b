#version 120
// A root by 22 bisections, each a choice.
varying vec2 v;

void main()
{
   float low = 0.0, high = 2.0;
   for (int i = 0; i < 22; i++) {
      float middle = 0.5 * (low + high);
      float f = (middle * middle + v.x * 3.0) * middle - v.y * 4.0 - 0.3333;
      if (f > 0.0) high = middle;
      else low = middle;
   }
   gl_FragColor = vec4(low, high * v.x, low * low, 1.0);
}
