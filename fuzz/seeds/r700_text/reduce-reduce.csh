; The sum of an array: groups of 256 threads, each with one place in the local data share.
;
; A thread adds up four elements of four numbers. Then, eight times, it adds what the thread has whose number differs in one bit: after
; that each knows the sum of its group, and the first of each group writes it. Elements beyond the array read 0.

.stage compute
.buffer values b0

ALU:
  0  y: AND_INT     R1.y, R0.x, 0xFFFFFF00
     z: AND_INT     R1.z, R0.x, 255             ; the thread's number in its group
     w: LSHR_INT    R1.w, R0.x, 8               ; the group
  1  y: LSHL_INT    R1.y, PV.y, 2
  2  x: ADD_INT     R1.x, PV.y, R1.z            ; its first element: group * 1024 + number
     y: MOV         R2.y, 128                   ; the bit in which partners differ
VTX:
     FETCH          R3.xyzw, R1.x, values FORMAT(32_32_32_32_FLOAT)
     FETCH          R4.xyzw, R1.x, values FORMAT(32_32_32_32_FLOAT) OFFSET(4096)
     FETCH          R5.xyzw, R1.x, values FORMAT(32_32_32_32_FLOAT) OFFSET(8192)
     FETCH          R6.xyzw, R1.x, values FORMAT(32_32_32_32_FLOAT) OFFSET(12288)
ALU:
  3  x: ADD         R3.x, R3.x, R4.x
     y: ADD         R3.y, R3.y, R4.y
     z: ADD         R3.z, R3.z, R4.z
     w: ADD         R3.w, R3.w, R4.w
  4  x: ADD         R5.x, R5.x, R6.x
     y: ADD         R5.y, R5.y, R6.y
     z: ADD         R5.z, R5.z, R6.z
     w: ADD         R5.w, R5.w, R6.w
  5  x: ADD         R3.x, R3.x, PV.x
     y: ADD         R3.y, R3.y, PV.y
     z: ADD         R3.z, R3.z, PV.z
     w: ADD         R3.w, R3.w, PV.w
  6  x: ADD         R3.x, PV.x, PV.y
     z: ADD         R3.z, PV.z, PV.w
  7  x: ADD         R3.x, PV.x, PV.z
LOOP_START i0 FAIL_JUMP_ADDR(done)
halve:
TEX:
     LOCAL_DS_WRITE LDS[0], R3.xxxx STRIDE(4) WAVE_REL
ALU:
  8  x: XOR_INT     R4.x, R1.z, R2.y
     y: MOV         R4.y, 0.0f
     w: LSHR_INT    R2.w, R2.y, 1
  9  y: MOV         R2.y, PV.w
TEX:
     LOCAL_DS_READ  R5.x___, R4.xy OFFSET(0)
ALU:
 10  x: ADD         R3.x, R3.x, R5.x
LOOP_END i0 PASS_JUMP_ADDR(halve)
done:
ALU_PUSH_BEFORE:
 11  x: PRED_SETE_INT ____, R1.z, 0 UPDATE_EXEC_MASK UPDATE_PRED
JUMP POP_CNT(1) ADDR(end)
ALU:
 12  x: MOV         R4.x, R1.w
MEM_EXPORT: WRITE(0 + R4), R3.x___ ARRAY_SIZE(0)
POP POP_CNT(1)
end:
NOP
END_OF_PROGRAM
