#version 120
//@ uA -0.1 0.1 0.25 -0.25
// Discs, boxes and rings with soft edges.
varying vec2 v;

uniform vec4 uA;
float box(vec2 p, vec2 half_size, float r) { vec2 d = abs(p) - half_size + r; return length(max(d, 0.0)) + min(max(d.x, d.y), 0.0) - r; }
void main()
{
   vec2 p = v * 2.0 - 1.0;
   float ring = abs(length(p - vec2(0.3, 0.2)) - 0.4) - 0.05, square = box(p + 0.3, vec2(0.4, 0.25), 0.1);
   float both = min(ring, square);
   gl_FragColor = vec4(smoothstep(uA.x, uA.y, ring), smoothstep(uA.x, uA.y, square), smoothstep(uA.z, uA.w, both), both);
}
