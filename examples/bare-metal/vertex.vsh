; R0.x is the number of the vertex. Position and colour lie side by side in the buffer.
.stage vertex
.buffer vertices b160

VTX:
     FETCH          R1.xyzw, R0.x, vertices FORMAT(32_32_32_32_FLOAT)
     FETCH          R2.xyzw, R0.x, vertices FORMAT(32_32_32_32_FLOAT) OFFSET(16)
EXP_DONE: POS0, R1.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
