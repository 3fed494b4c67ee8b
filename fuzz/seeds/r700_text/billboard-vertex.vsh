; In front of the geometry program: a point, turned and projected, goes to the ring.
.stage export
.buffer points b0

VTX:
     FETCH          R1.xyz1, R0.x, points FORMAT(32_32_32_32_FLOAT)
ALU: KCACHE0(CB0:0-15)
  0  x: DOT4_e      R2.x, R1.x, KC0[0].x
     y: DOT4_e      ____, R1.y, KC0[0].y
     z: DOT4_e      ____, R1.z, KC0[0].z
     w: DOT4_e      ____, R1.w, KC0[0].w
  1  x: DOT4_e      ____, R1.x, KC0[1].x
     y: DOT4_e      R2.y, R1.y, KC0[1].y
     z: DOT4_e      ____, R1.z, KC0[1].z
     w: DOT4_e      ____, R1.w, KC0[1].w
  2  x: DOT4_e      ____, R1.x, KC0[2].x
     y: DOT4_e      ____, R1.y, KC0[2].y
     z: DOT4_e      R2.z, R1.z, KC0[2].z
     w: DOT4_e      ____, R1.w, KC0[2].w
MEM_RING: WRITE(0), R2.xyz_ ARRAY_SIZE(0) ELEM_SIZE(3)
NOP
END_OF_PROGRAM
