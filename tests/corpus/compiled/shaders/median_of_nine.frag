#version 120
// A sorting network of minima and maxima.
varying vec2 v;

uniform sampler2D tex;
#define ORDER(a, b) { vec4 low = min(a, b); b = max(a, b); a = low; }
vec4 at(float i, float j) { return texture2D(tex, v + vec2(i, j) / 16.0); }
void main()
{
   vec4 a = at(-1.0, -1.0), b = at(0.0, -1.0), c = at(1.0, -1.0), d = at(-1.0, 0.0), e = at(0.0, 0.0), f = at(1.0, 0.0);
   vec4 g = at(-1.0, 1.0), h = at(0.0, 1.0), i = at(1.0, 1.0);
   ORDER(b, c) ORDER(e, f) ORDER(h, i) ORDER(a, b) ORDER(d, e) ORDER(g, h) ORDER(b, c) ORDER(e, f) ORDER(h, i)
   ORDER(a, d) ORDER(f, i) ORDER(e, h) ORDER(d, g) ORDER(b, e) ORDER(c, f) ORDER(e, h) ORDER(e, c) ORDER(g, e) ORDER(e, c)
   gl_FragColor = e;
}
