#version 330 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;

uniform mat4 mvp;
uniform mat3 normalMatrix;

out vec3 stone;
out vec3 turned;

void main() {
    stone = position * 2.5;
    turned = normalMatrix * normal;
    gl_Position = mvp * vec4(position, 1.0);
}
