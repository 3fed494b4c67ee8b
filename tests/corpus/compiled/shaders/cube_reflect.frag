#version 130
// A cube map in the directions of reflected rays.
uniform samplerCube cube;
in vec2 v;
void main()
{
   vec3 n = normalize(vec3(v * 3.0 - 1.46875, 0.8125)), ray = normalize(vec3(v.yx - 0.484375, 0.5625));
   gl_FragColor = textureLod(cube, reflect(ray, n), 0.0);
}
