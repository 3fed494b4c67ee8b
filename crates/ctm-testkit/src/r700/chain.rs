//! The programs of a chain of stages with a geometry program, as drivers write them: positions and colours of 128 bits each go through two rings.

use ctm_exec::r700::Semantic;

/// A fetch program: semantics 5 and 9 from buffer 0, one after the other.
pub const FETCH: &str = "
VTX:
  SEMANTIC SEM[5].xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)
  SEMANTIC SEM[9].xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
RETURN
";

/// Where [`FETCH`] puts them.
pub const SEMANTICS: [Semantic; 2] = [Semantic { id: 5, gpr: 1 }, Semantic { id: 9, gpr: 2 }];

/// Without a geometry program: position and colour to the rasteriser, the position to a stream buffer, too.
pub const STREAMING: &str = "
CALL_FS
MEM_STREAM0: WRITE(0), R1.xyzw ARRAY_SIZE(255) ELEM_SIZE(3)
EXP_DONE: POS0, R1.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
";

/// Position and colour into the first ring: eight dwords.
pub const EXPORT: &str = "
CALL_FS
MEM_RING: WRITE(0), R1.xyzw ARRAY_SIZE(255) ELEM_SIZE(3)
MEM_RING: WRITE(16), R2.xyzw ARRAY_SIZE(255) ELEM_SIZE(3)
NOP
END_OF_PROGRAM
";

/// Three vertices of the first ring, at R0.x, R0.y, R0.w, become a strip.
pub const GEOMETRY: &str = "
VTX:
  FETCH R2.xyzw, R0.x, b17 FORMAT(32_32_32_32_FLOAT)
  FETCH R3.xyzw, R0.x, b17 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
  FETCH R4.xyzw, R0.y, b17 FORMAT(32_32_32_32_FLOAT)
  FETCH R5.xyzw, R0.y, b17 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
  FETCH R6.xyzw, R0.w, b17 FORMAT(32_32_32_32_FLOAT)
  FETCH R7.xyzw, R0.w, b17 FORMAT(32_32_32_32_FLOAT) OFFSET(16)
MEM_RING: WRITE(0), R2.xyzw ARRAY_SIZE(255) ELEM_SIZE(3) BURSTCNT(1)
EMIT_VERTEX
MEM_RING: WRITE(32), R4.xyzw ARRAY_SIZE(255) ELEM_SIZE(3) BURSTCNT(1)
EMIT_VERTEX
MEM_RING: WRITE(64), R6.xyzw ARRAY_SIZE(255) ELEM_SIZE(3) BURSTCNT(1)
EMIT_CUT_VERTEX
NOP
END_OF_PROGRAM
";
