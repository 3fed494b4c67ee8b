#version 330 core
// A vertex moved by up to four joints (glTF 2.0, 3.7.3.3).
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 colour;
layout(location = 3) in uvec4 joints;
layout(location = 4) in vec4 weights;

layout(std140) uniform Bones { mat4 bones[32]; };
uniform mat4 mvp;
uniform mat3 normalMatrix;

out vec3 turned;
out vec4 tint;

void main() {
    mat4 skin = weights.x * bones[joints.x] + weights.y * bones[joints.y] + weights.z * bones[joints.z] + weights.w * bones[joints.w];
    turned = normalMatrix * mat3(skin) * normal;
    tint = colour;
    gl_Position = mvp * skin * vec4(position, 1.0);
}
