; Position times a matrix; the colour goes on.

; $MODE = "UniformRegister"

; $ATTRIB_VARS[0].name = "position"
; $ATTRIB_VARS[0].type = "vec4"
; $ATTRIB_VARS[0].location = 0
; $ATTRIB_VARS[1].name = "colour"
; $ATTRIB_VARS[1].type = "vec4"
; $ATTRIB_VARS[1].location = 1

; Columns of the matrix: C0 to C3.
; $UNIFORM_VARS[0].name = "mvp"
; $UNIFORM_VARS[0].type = "mat4"
; $UNIFORM_VARS[0].count = 1
; $UNIFORM_VARS[0].block = -1
; $UNIFORM_VARS[0].offset = 0

CALL_FS
ALU:
  x: MUL R4.x, R1.w, C3.x
  y: MUL R4.y, R1.w, C3.y
  z: MUL R4.z, R1.w, C3.z
  w: MUL R4.w, R1.w, C3.w

  x: MULADD R4.x, R1.z, C2.x, R4.x
  y: MULADD R4.y, R1.z, C2.y, R4.y
  z: MULADD R4.z, R1.z, C2.z, R4.z
  w: MULADD R4.w, R1.z, C2.w, R4.w

  x: MULADD R4.x, R1.y, C1.x, R4.x
  y: MULADD R4.y, R1.y, C1.y, R4.y
  z: MULADD R4.z, R1.y, C1.z, R4.z
  w: MULADD R4.w, R1.y, C1.w, R4.w

  x: MULADD R4.x, R1.x, C0.x, R4.x
  y: MULADD R4.y, R1.x, C0.y, R4.y
  z: MULADD R4.z, R1.x, C0.z, R4.z
  w: MULADD R4.w, R1.x, C0.w, R4.w
EXP_DONE: POS0, R4.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
