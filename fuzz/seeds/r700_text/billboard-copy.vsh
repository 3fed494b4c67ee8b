; Behind the geometry program: takes vertices from the ring and exports them.
.stage copy
.buffer ring b0

VTX:
     FETCH          R1.xyzw, R0.x, ring FORMAT(32_32_32_32_FLOAT)
     FETCH          R2.xyzw, R0.x, ring FORMAT(32_32_32_32_FLOAT) OFFSET(16)
EXP_DONE: POS0, R1.xyzw
EXP_DONE: PARAM0, R2.xy00
END_OF_PROGRAM
