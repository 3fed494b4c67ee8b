; The fetch subroutine that 07_const_vs calls: two attributes of four floats.
.stage fetch
VTX:
     FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)
     FETCH R2.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
RETURN
