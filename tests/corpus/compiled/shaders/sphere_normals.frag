#version 120
//@ uA 0.5 1.0 -0.75 0.9
// A ball and a plane found in closed form and lit; nested ifs.
varying vec2 v;

uniform vec4 uA;
void main()
{
   vec3 ray = normalize(vec3(v * 2.0 - 1.0, 2.0)), to = vec3(0.1, 0.2, 3.0);
   float b = dot(ray, to), c = dot(to, to) - uA.w * uA.w, d = b * b - c;
   vec3 colour = vec3(0.1, 0.2, 0.4);
   if (d > 0.01) {
      float t = b - sqrt(d);
      vec3 n = (ray * t - to) / uA.w;
      float light = max(dot(n, normalize(uA.xyz)), 0.0);
      colour = vec3(0.9, 0.6, 0.3) * light + 0.05;
      if (light > 0.5) colour += vec3(pow(light, 8.0));
   } else if (ray.y < -0.0625) {
      colour = vec3(-1.0 / ray.y) * 0.0625;
   }
   gl_FragColor = vec4(colour, d);
}
