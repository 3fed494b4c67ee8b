//! The words of a PVS instruction: every field, every reserved bit.
//!
//! An instruction owns four dwords:
//!
//! | dword | plain | with `PVS_DST_DUAL_MATH_OP` |
//! |---|---|---|
//! | 0 | `PVS_OP_DST` | `PVS_OP_DST` |
//! | 1 | `PVS_SRC` 0 | `PVS_SRC` 0 |
//! | 2 | `PVS_SRC` 1 | `PVS_SRC` 1 |
//! | 3 | `PVS_SRC` 2 | `PVS_DUAL_MATH` |
//!
//! The meaning of `PVS_DST_OPCODE` depends on two bits beside it, and address modes are two bits at two places: [`super::inst`] joins them.
//! Below are the registers that describe a program beside its words.

use super::ops::{Component, DstType, FlowOp, Select, SrcType};
use crate::table::WordFormat;

word_format! {
    /// Operation and destination.
    pub struct OpDst "PVS_OP_DST" dword 0 cite "R5xx PVS_OP_DST" {
        /// Operation: a vector, a math or a macro operation, by the next two fields.
        5:0     opcode: u8 = "PVS_DST_OPCODE";
        /// The operation is one of the math engine, which computes a scalar.
        6:6     math: bool = "PVS_DST_MATH_INST";
        /// The operation is a macro: a vector operation of two clocks.
        7:7     macro_op: bool = "PVS_DST_MACRO_INST";
        /// The kind of the destination register.
        11:8    reg_type: DstType = "PVS_DST_REG_TYPE";
        /// High bit of the address mode of the destination.
        12:12   addr_mode_1: bool = "PVS_DST_ADDR_MODE_1";
        /// The destination register.
        19:13   offset: u8 = "PVS_DST_OFFSET";
        /// Write component x.
        20:20   we_x: bool = "PVS_DST_WE_X";
        /// Write component y.
        21:21   we_y: bool = "PVS_DST_WE_Y";
        /// Write component z.
        22:22   we_z: bool = "PVS_DST_WE_Z";
        /// Write component w.
        23:23   we_w: bool = "PVS_DST_WE_W";
        /// Clamp the result of a vector or macro operation to 0..1.
        24:24   ve_sat: bool = "PVS_DST_VE_SAT";
        /// Clamp the result of a math operation to 0..1.
        25:25   me_sat: bool = "PVS_DST_ME_SAT";
        /// Write only if the predicate is as `PVS_DST_PRED_SENSE` says.
        26:26   pred_enable: bool = "PVS_DST_PRED_ENABLE";
        /// The predicate for which the operation writes.
        27:27   pred_sense: bool = "PVS_DST_PRED_SENSE";
        /// Dword 3 is a math operation beside this vector operation.
        28:28   dual_math: bool = "PVS_DST_DUAL_MATH_OP";
        /// The component of A0 for a destination relative to A0.
        30:29   addr_sel: Component = "PVS_DST_ADDR_SEL";
        /// Low bit of the address mode of the destination.
        31:31   addr_mode_0: bool = "PVS_DST_ADDR_MODE_0";
    }
}

word_format! {
    /// One source: a register, and which of its components with which signs.
    pub struct Src "PVS_SRC" dword 1 cite "R5xx PVS_SRC" {
        /// The kind of the register.
        1:0     reg_type: SrcType = "PVS_SRC_REG_TYPE";
        /// Absolute value of all components, before they are negated.
        3:3     abs: bool = "PVS_SRC_ABS_XYZW";
        /// Low bit of the address mode.
        4:4     addr_mode_0: bool = "PVS_SRC_ADDR_MODE_0";
        /// The register.
        12:5    offset: u8 = "PVS_SRC_OFFSET";
        /// What becomes x.
        15:13   swizzle_x: Select = "PVS_SRC_SWIZZLE_X";
        /// What becomes y.
        18:16   swizzle_y: Select = "PVS_SRC_SWIZZLE_Y";
        /// What becomes z.
        21:19   swizzle_z: Select = "PVS_SRC_SWIZZLE_Z";
        /// What becomes w.
        24:22   swizzle_w: Select = "PVS_SRC_SWIZZLE_W";
        /// Negate x.
        25:25   negate_x: bool = "PVS_SRC_MODIFIER_X";
        /// Negate y.
        26:26   negate_y: bool = "PVS_SRC_MODIFIER_Y";
        /// Negate z.
        27:27   negate_z: bool = "PVS_SRC_MODIFIER_Z";
        /// Negate w.
        28:28   negate_w: bool = "PVS_SRC_MODIFIER_W";
        /// The component of A0 for an address relative to A0.
        30:29   addr_sel: Component = "PVS_SRC_ADDR_SEL";
        /// High bit of the address mode.
        31:31   addr_mode_1: bool = "PVS_SRC_ADDR_MODE_1";
        reserved 2:2;
    }
}

word_format! {
    /// A math operation beside a vector operation: operation, source of two components, destination.
    pub struct DualMath "PVS_DUAL_MATH" dword 3 cite "R5xx PVS_DUAL_MATH" {
        /// The kind of the source register.
        1:0     reg_type: SrcType = "PVS_SRC_REG_TYPE";
        /// Bit 4 of the math operation.
        2:2     opcode_msb: bool = "PVS_DST_OPCODE_MSB";
        /// Absolute value of both components, before they are negated.
        3:3     abs: bool = "PVS_SRC_ABS_XYZW";
        /// Low bit of the address mode.
        4:4     addr_mode_0: bool = "PVS_SRC_ADDR_MODE_0";
        /// The source register.
        12:5    offset: u8 = "PVS_SRC_OFFSET";
        /// The first operand.
        15:13   swizzle_x: Select = "PVS_SRC_SWIZZLE_X";
        /// The second operand.
        18:16   swizzle_y: Select = "PVS_SRC_SWIZZLE_Y";
        /// The alternate temporary that is written.
        20:19   dst_offset: u8 = "DUAL_MATH_DST_OFFSET";
        /// Bits 3:0 of the math operation.
        24:21   opcode: u8 = "PVS_DST_OPCODE";
        /// Negate the first operand.
        25:25   negate_x: bool = "PVS_SRC_MODIFIER_X";
        /// Negate the second operand.
        26:26   negate_y: bool = "PVS_SRC_MODIFIER_Y";
        /// The component that is written.
        28:27   we_sel: Component = "PVS_DST_WE_SEL";
        /// The component of A0 for an address relative to A0.
        30:29   addr_sel: Component = "PVS_SRC_ADDR_SEL";
        /// High bit of the address mode.
        31:31   addr_mode_1: bool = "PVS_SRC_ADDR_MODE_1";
    }
}

/// The words of an instruction. `PVS_SRC` is dwords 1 and 2 as well as 3; `PVS_DUAL_MATH` takes the place of the latter.
pub const WORDS: &[&WordFormat] = &[&OpDst::FORMAT, &Src::FORMAT, &DualMath::FORMAT];

word_format! {
    /// The code of a program.
    pub struct CodeCntl "VAP_PVS_CODE_CNTL_0" dword 0 cite "R5xx VAP_PVS_CODE_CNTL_0" {
        /// The first instruction.
        9:0     first: u16 = "PVS_FIRST_INST";
        /// The last instruction that writes the position: a hint.
        19:10   xyzw_valid: u16 = "PVS_XYZW_VALID_INST";
        /// The last instruction.
        29:20   last: u16 = "PVS_LAST_INST";
        reserved 31:30;
    }
}

word_format! {
    /// The constants of a program.
    pub struct ConstCntl "VAP_PVS_CONST_CNTL" dword 0 cite "R5xx VAP_PVS_CONST_CNTL" {
        /// Added to every address of a constant that is in range.
        7:0     base: u8 = "PVS_CONST_BASE_OFFSET";
        /// The greatest address; others read as zeros.
        23:16   max: u8 = "PVS_MAX_CONST_ADDR";
        reserved 31:24, 15:8;
    }
}

word_format! {
    /// The operations of the flow-control slots, two bits each: this is the one of slot 0.
    pub struct FlowOpc "VAP_PVS_FLOW_CNTL_OPC" dword 0 cite "R5xx VAP_PVS_FLOW_CNTL_OPC" {
        /// Slot 0.
        1:0     slot_0: FlowOp = "PVS_FC_OPC_0";
        /// Slot 1.
        3:2     slot_1: FlowOp = "PVS_FC_OPC_1";
        /// Slot 2.
        5:4     slot_2: FlowOp = "PVS_FC_OPC_2";
        /// Slot 3.
        7:6     slot_3: FlowOp = "PVS_FC_OPC_3";
        /// Slot 4.
        9:8     slot_4: FlowOp = "PVS_FC_OPC_4";
        /// Slot 5.
        11:10   slot_5: FlowOp = "PVS_FC_OPC_5";
        /// Slot 6.
        13:12   slot_6: FlowOp = "PVS_FC_OPC_6";
        /// Slot 7.
        15:14   slot_7: FlowOp = "PVS_FC_OPC_7";
        /// Slot 8.
        17:16   slot_8: FlowOp = "PVS_FC_OPC_8";
        /// Slot 9.
        19:18   slot_9: FlowOp = "PVS_FC_OPC_9";
        /// Slot 10.
        21:20   slot_10: FlowOp = "PVS_FC_OPC_10";
        /// Slot 11.
        23:22   slot_11: FlowOp = "PVS_FC_OPC_11";
        /// Slot 12.
        25:24   slot_12: FlowOp = "PVS_FC_OPC_12";
        /// Slot 13.
        27:26   slot_13: FlowOp = "PVS_FC_OPC_13";
        /// Slot 14.
        29:28   slot_14: FlowOp = "PVS_FC_OPC_14";
        /// Slot 15.
        31:30   slot_15: FlowOp = "PVS_FC_OPC_15";
    }
}

impl FlowOpc {
    /// The operations by slot.
    #[must_use]
    pub const fn slots(&self) -> [FlowOp; 16] {
        [
            self.slot_0,
            self.slot_1,
            self.slot_2,
            self.slot_3,
            self.slot_4,
            self.slot_5,
            self.slot_6,
            self.slot_7,
            self.slot_8,
            self.slot_9,
            self.slot_10,
            self.slot_11,
            self.slot_12,
            self.slot_13,
            self.slot_14,
            self.slot_15,
        ]
    }

    /// The register of these operations.
    #[must_use]
    pub const fn from_slots(ops: [FlowOp; 16]) -> Self {
        Self {
            slot_0: ops[0],
            slot_1: ops[1],
            slot_2: ops[2],
            slot_3: ops[3],
            slot_4: ops[4],
            slot_5: ops[5],
            slot_6: ops[6],
            slot_7: ops[7],
            slot_8: ops[8],
            slot_9: ops[9],
            slot_10: ops[10],
            slot_11: ops[11],
            slot_12: ops[12],
            slot_13: ops[13],
            slot_14: ops[14],
            slot_15: ops[15],
        }
    }
}

word_format! {
    /// The instruction at which a flow-control slot acts, and its condition.
    pub struct FlowLower "VAP_PVS_FLOW_CNTL_ADDRS_LW" dword 0 cite "R5xx VAP_PVS_FLOW_CNTL_ADDRS_LW" {
        /// The instruction after which the slot acts.
        15:0    act: u16 = "PVS_FC_ACT_ADRS";
        /// JUMP and JSR: the next instruction. LOOP: the iteration count.
        31:16   target_or_count: u16 = "PVS_FC_LOOP_CNT_JMP_INST";
    }
}

word_format! {
    /// The end of a loop or subroutine, and where its return leads.
    pub struct FlowUpper "VAP_PVS_FLOW_CNTL_ADDRS_UW" dword 0 cite "R5xx VAP_PVS_FLOW_CNTL_ADDRS_UW" {
        /// The last instruction of the loop or subroutine.
        15:0    last: u16 = "PVS_FC_LAST_INST";
        /// LOOP: the first instruction. JSR: the instruction after the return.
        31:16   back: u16 = "PVS_FC_RTN_INST";
    }
}

word_format! {
    /// The loop index of a flow-control slot.
    pub struct FlowLoopIndex "VAP_PVS_FLOW_CNTL_LOOP_INDEX" dword 0 cite "R5xx VAP_PVS_FLOW_CNTL_LOOP_INDEX" {
        /// aL in the first iteration, unsigned.
        7:0     init: u8 = "PVS_FC_LOOP_INIT_VAL";
        /// Added to aL after each iteration, signed.
        15:8    step: u8 = "PVS_FC_LOOP_STEP_VAL";
        /// Begin with the aL of the enclosing loop instead.
        31:31   inherit: bool = "PVS_FC_LOOP_REPEAT_NO_FLI";
        reserved 30:16;
    }
}

/// The registers that describe a program.
pub const REGISTERS: &[&WordFormat] = &[
    &CodeCntl::FORMAT,
    &ConstCntl::FORMAT,
    &FlowOpc::FORMAT,
    &FlowLower::FORMAT,
    &FlowUpper::FORMAT,
    &FlowLoopIndex::FORMAT,
];
