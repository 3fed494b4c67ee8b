; A picture turned over its diagonal: each thread reads a texel and writes it where its column and row change places.
.stage compute
.resource picture t0
.const    shape   KC0[0]            ; x: rows of the picture, an integer

TEX:
     LD             R1.xyzw, R0.yz00, picture, s0 DENORM(XYZW)
ALU: KCACHE0(CB0:0-15)
  0  t: MULLO_INT   R2.x, R0.y, shape.x         ; column * rows + row
  1  x: ADD_INT     R2.x, PS, R0.z
  2  x: LSHL_INT    R2.x, PV.x, 2               ; four dwords each
MEM_EXPORT: WRITE(0 + R2), R1.xyzw ARRAY_SIZE(0) ELEM_SIZE(3)
NOP
END_OF_PROGRAM
