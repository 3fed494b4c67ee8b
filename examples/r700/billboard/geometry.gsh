; A point becomes a square that faces the viewer: a strip of four vertices, or nothing where it lies behind the viewer (z < 0).
;
; A vertex is eight dwords of the ring: its position, then its place in the square.
.stage geometry
.buffer ring b0
.const  size KC0[3]                 ; half a side of a square

VTX:
     FETCH          R1.xyz1, R0.x, ring FORMAT(32_32_32_32_FLOAT)
ALU_PUSH_BEFORE:
  0  x: PRED_SETGE  ____, R1.z, 0.0f UPDATE_EXEC_MASK UPDATE_PRED
JUMP POP_CNT(1) ADDR(end)
ALU: KCACHE0(CB0:0-15)
  1  x: ADD         R2.x, R1.x, -size.x         ; left
     y: ADD         R2.y, R1.y, -size.x         ; bottom
     z: ADD         R2.z, R1.x, size.x          ; right
     w: ADD         R2.w, R1.y, size.x          ; top
  2  x: MOV         R3.x, PV.x
     y: MOV         R3.y, PV.y
     z: MOV         R3.z, R1.z
     w: MOV         R3.w, 1.0f
  3  x: MOV         R4.x, 0.0f
     y: MOV         R4.y, 0.0f
MEM_RING: WRITE(0), R3.xyzw ARRAY_SIZE(4095) ELEM_SIZE(3)
MEM_RING: WRITE(16), R4.xy__ ARRAY_SIZE(4095) ELEM_SIZE(3)
EMIT_VERTEX
ALU:
  4  x: MOV         R3.x, R2.z
     t: MOV         R4.x, 1.0f
MEM_RING: WRITE(32), R3.xyzw ARRAY_SIZE(4095) ELEM_SIZE(3)
MEM_RING: WRITE(48), R4.xy__ ARRAY_SIZE(4095) ELEM_SIZE(3)
EMIT_VERTEX
ALU:
  5  x: MOV         R3.x, R2.x
     y: MOV         R3.y, R2.w
  6  x: MOV         R4.x, 0.0f
     y: MOV         R4.y, 1.0f
MEM_RING: WRITE(64), R3.xyzw ARRAY_SIZE(4095) ELEM_SIZE(3)
MEM_RING: WRITE(80), R4.xy__ ARRAY_SIZE(4095) ELEM_SIZE(3)
EMIT_VERTEX
ALU:
  7  x: MOV         R3.x, R2.z
     t: MOV         R4.x, 1.0f
MEM_RING: WRITE(96), R3.xyzw ARRAY_SIZE(4095) ELEM_SIZE(3)
MEM_RING: WRITE(112), R4.xy__ ARRAY_SIZE(4095) ELEM_SIZE(3)
EMIT_VERTEX
POP POP_CNT(1)
end:
CUT_VERTEX
NOP
END_OF_PROGRAM
