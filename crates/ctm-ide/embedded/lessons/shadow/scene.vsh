; Moved and scaled by `place`; the position as the viewer sees it, and as the light sees it.

; $MODE = "UniformRegister"

; $ATTRIB_VARS[0].name = "position"
; $ATTRIB_VARS[0].type = "vec4"
; $ATTRIB_VARS[0].location = 0
; $ATTRIB_VARS[1].name = "normal"
; $ATTRIB_VARS[1].type = "vec4"
; $ATTRIB_VARS[1].location = 1

; Columns of matrices: C0 to C3 the viewer, C4 to C7 the light. C8: the place, and the size in w.
; $UNIFORM_VARS[0].name = "mvp"
; $UNIFORM_VARS[0].type = "mat4"
; $UNIFORM_VARS[0].count = 1
; $UNIFORM_VARS[0].block = -1
; $UNIFORM_VARS[0].offset = 0
; $UNIFORM_VARS[1].name = "light"
; $UNIFORM_VARS[1].type = "mat4"
; $UNIFORM_VARS[1].count = 1
; $UNIFORM_VARS[1].block = -1
; $UNIFORM_VARS[1].offset = 16
; $UNIFORM_VARS[2].name = "place"
; $UNIFORM_VARS[2].type = "vec4"
; $UNIFORM_VARS[2].count = 1
; $UNIFORM_VARS[2].block = -1
; $UNIFORM_VARS[2].offset = 32

CALL_FS
ALU:
  x: MULADD R1.x, R1.x, C8.w, C8.x
  y: MULADD R1.y, R1.y, C8.w, C8.y
  z: MULADD R1.z, R1.z, C8.w, C8.z

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

  x: MUL R5.x, R1.w, C7.x
  y: MUL R5.y, R1.w, C7.y
  z: MUL R5.z, R1.w, C7.z
  w: MUL R5.w, R1.w, C7.w

  x: MULADD R5.x, R1.z, C6.x, R5.x
  y: MULADD R5.y, R1.z, C6.y, R5.y
  z: MULADD R5.z, R1.z, C6.z, R5.z
  w: MULADD R5.w, R1.z, C6.w, R5.w

  x: MULADD R5.x, R1.y, C5.x, R5.x
  y: MULADD R5.y, R1.y, C5.y, R5.y
  z: MULADD R5.z, R1.y, C5.z, R5.z
  w: MULADD R5.w, R1.y, C5.w, R5.w

  x: MULADD R5.x, R1.x, C4.x, R5.x
  y: MULADD R5.y, R1.x, C4.y, R5.y
  z: MULADD R5.z, R1.x, C4.z, R5.z
  w: MULADD R5.w, R1.x, C4.w, R5.w
EXP_DONE: POS0, R4.xyzw
EXP: PARAM0, R5.xyzw
EXP_DONE: PARAM1, R2.xyzw
END_OF_PROGRAM
