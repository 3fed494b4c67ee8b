#version 120
// Five octaves of noise from a polynomial that permutes 0 to 288; all of it exact until the octaves are mixed.
varying vec2 v;

vec4 permute(vec4 x) { return mod((x * 34.0 + 1.0) * x, 289.0); }
float noise(vec2 p)
{
   vec2 cell = floor(p), f = p - cell;
   vec4 corner = permute(permute(vec4(cell.x, cell.x + 1.0, cell.x, cell.x + 1.0)) + vec4(cell.y, cell.y, cell.y + 1.0, cell.y + 1.0)) / 289.0;
   vec2 w = f * f * (3.0 - 2.0 * f);
   return mix(mix(corner.x, corner.y, w.x), mix(corner.z, corner.w, w.x), w.y);
}
void main()
{
   float sum = 0.0, weight = 0.5;
   vec2 p = v * 8.0 + 0.001953125;
   for (int octave = 0; octave < 5; octave++) {
      sum += noise(p) * weight;
      weight *= 0.5;
      p = p * 2.0 + 3.0;
   }
   gl_FragColor = vec4(sum, noise(v * 16.0 + 0.001953125), noise(v.yx * 4.0 + 0.001953125), 1.0);
}
