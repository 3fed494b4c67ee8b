#version 120
//@ uA 3.0 0.4545 0.0 0.0
// Exposure, a filmic curve and gamma.
varying vec2 v;

uniform sampler2D tex;
uniform vec4 uA;
void main()
{
   vec3 c = texture2D(tex, v).xyz * uA.x;
   c = (c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14);
   gl_FragColor = vec4(pow(clamp(c, 0.0, 1.0), vec3(uA.y)), dot(c, c));
}
