//! The words of an X1K instruction: every field, every reserved bit.
//!
//! An instruction owns six dwords. Dword 0 is common; the layout of the others depends on its `TYPE`:
//!
//! | dword | ALU, OUTPUT | TEX | FC |
//! |---|---|---|---|
//! | 0 | `CMN_INST` | `CMN_INST` | `CMN_INST` |
//! | 1 | `ALU_RGB_ADDR` | `TEX_INST` | not used |
//! | 2 | `ALU_ALPHA_ADDR` | `TEX_ADDR` | `FC_INST` |
//! | 3 | `ALU_RGB_INST` | `TEX_ADDR_DXDY` | `FC_ADDR` |
//! | 4 | `ALU_ALPHA_INST` | not used | not used |
//! | 5 | `ALU_RGBA_INST` | not used | not used |
//!
//! *The Guide (§3.2) lists the FC words as if they followed each other; they sit in dwords 2 and 3.*
//! Bit positions are AMD's; see `docs/manuals.md`.

use super::ops::{
    AOp, AlphaOp, AluResultSel, BOp, Channel, CompareOp, FcOp, Imod, InstType, Omod, PredSel, RgbOp, Sel, SrcpOp,
    Swizzle, TexOp,
};
use crate::table::WordFormat;

word_format! {
    /// The word that all instructions share.
    pub struct CmnInst "CMN_INST" dword 0 cite "CTM §3.2" {
        /// The kind of instruction.
        1:0     kind: InstType = "TYPE";
        /// Do not issue until the texture semaphore is free.
        2:2     tex_sem_wait: bool = "TEX_SEM_WAIT";
        /// Predicate bits for the RGB write mask; on FC the predicate of the jump condition.
        5:3     rgb_pred_sel: PredSel = "RGB_PRED_SEL";
        /// Invert the selected RGB predicate bits.
        6:6     rgb_pred_inv: bool = "RGB_PRED_INV";
        /// Write for processors too that flow control has made inactive.
        7:7     write_inactive: bool = "WRITE_INACTIVE";
        /// All active processors may end here: a hint that the machine need not take.
        8:8     last: bool = "LAST";
        /// Insert one idle cycle after this instruction.
        9:9     nop: bool = "NOP";
        /// Wait for pending ALU work before issuing (FC and TEX).
        10:10   alu_wait: bool = "ALU_WAIT";
        /// Write R (bit 0), G, B of the result to the destination temporary.
        13:11   rgb_wmask: u8 = "RGB_WMASK";
        /// Write A of the result to the destination temporary.
        14:14   alpha_wmask: bool = "ALPHA_WMASK";
        /// OUTPUT: write R (bit 0), G, B to the output; ALU: set those predicate bits.
        17:15   rgb_omask: u8 = "RGB_OMASK";
        /// OUTPUT: write A to the output; ALU: set that predicate bit.
        18:18   alpha_omask: bool = "ALPHA_OMASK";
        /// Clamp the RGB result to 0..1.
        19:19   rgb_clamp: bool = "RGB_CLAMP";
        /// Clamp the alpha result to 0..1.
        20:20   alpha_clamp: bool = "ALPHA_CLAMP";
        /// Which channel becomes the ALU result.
        21:21   alu_result_sel: AluResultSel = "ALU_RESULT_SEL";
        /// Invert the selected alpha predicate bit.
        22:22   alpha_pred_inv: bool = "ALPHA_PRED_INV";
        /// How that channel is compared with zero.
        24:23   alu_result_op: CompareOp = "ALU_RESULT_OP";
        /// Predicate bit for the alpha write mask.
        27:25   alpha_pred_sel: PredSel = "ALPHA_PRED_SEL";
        /// Which channels feed the statistics counter (bit 0 = R; not in the Guide, the order of bits is not certain).
        31:28   stat_we: u8 = "STAT_WE";
    }
}

word_format! {
    /// The three source addresses of the RGB unit and its presubtract operation.
    pub struct RgbAddr "ALU_RGB_ADDR" dword 1 cite "CTM §3.3.1" {
        /// Temporary 0..127, or with bit 7 an inline constant; a constant register when `ADDR0_CONST` is set.
        7:0     addr0: u8 = "ADDR0";
        /// `ADDR0` is a constant register.
        8:8     addr0_const: bool = "ADDR0_CONST";
        /// Add aL to `ADDR0`.
        9:9     addr0_rel: bool = "ADDR0_REL";
        /// As `ADDR0`.
        17:10   addr1: u8 = "ADDR1";
        /// `ADDR1` is a constant register.
        18:18   addr1_const: bool = "ADDR1_CONST";
        /// Add aL to `ADDR1`.
        19:19   addr1_rel: bool = "ADDR1_REL";
        /// As `ADDR0`.
        27:20   addr2: u8 = "ADDR2";
        /// `ADDR2` is a constant register.
        28:28   addr2_const: bool = "ADDR2_CONST";
        /// Add aL to `ADDR2`.
        29:29   addr2_rel: bool = "ADDR2_REL";
        /// Presubtract operation.
        31:30   srcp_op: SrcpOp = "SRCP_OP";
    }
}

word_format! {
    /// The three source addresses of the alpha unit and its presubtract operation.
    pub struct AlphaAddr "ALU_ALPHA_ADDR" dword 2 cite "CTM §3.3.1" {
        /// Temporary 0..127, or with bit 7 an inline constant; a constant register when `ADDR0_CONST` is set.
        7:0     addr0: u8 = "ADDR0";
        /// `ADDR0` is a constant register.
        8:8     addr0_const: bool = "ADDR0_CONST";
        /// Add aL to `ADDR0`.
        9:9     addr0_rel: bool = "ADDR0_REL";
        /// As `ADDR0`.
        17:10   addr1: u8 = "ADDR1";
        /// `ADDR1` is a constant register.
        18:18   addr1_const: bool = "ADDR1_CONST";
        /// Add aL to `ADDR1`.
        19:19   addr1_rel: bool = "ADDR1_REL";
        /// As `ADDR0`.
        27:20   addr2: u8 = "ADDR2";
        /// `ADDR2` is a constant register.
        28:28   addr2_const: bool = "ADDR2_CONST";
        /// Add aL to `ADDR2`.
        29:29   addr2_rel: bool = "ADDR2_REL";
        /// Presubtract operation.
        31:30   srcp_op: SrcpOp = "SRCP_OP";
    }
}

word_format! {
    /// Operands A and B of the RGB unit, its output modifier and target.
    pub struct RgbInst "ALU_RGB_INST" dword 3 cite "CTM §3.3.3" {
        /// Source of operand A.
        1:0     sel_a: Sel = "RGB_SEL_A";
        /// Red component of operand A.
        4:2     red_swiz_a: Swizzle = "RED_SWIZ_A";
        /// Green component of operand A.
        7:5     green_swiz_a: Swizzle = "GREEN_SWIZ_A";
        /// Blue component of operand A.
        10:8    blue_swiz_a: Swizzle = "BLUE_SWIZ_A";
        /// Input modifier of operand A.
        12:11   imod_a: Imod = "RGB_IMOD_A";
        /// Source of operand B.
        14:13   sel_b: Sel = "RGB_SEL_B";
        /// Red component of operand B.
        17:15   red_swiz_b: Swizzle = "RED_SWIZ_B";
        /// Green component of operand B.
        20:18   green_swiz_b: Swizzle = "GREEN_SWIZ_B";
        /// Blue component of operand B.
        23:21   blue_swiz_b: Swizzle = "BLUE_SWIZ_B";
        /// Input modifier of operand B.
        25:24   imod_b: Imod = "RGB_IMOD_B";
        /// Output modifier.
        28:26   omod: Omod = "RGB_OMOD";
        /// OUTPUT: which output (`RenderTarget`), or in an uncached program which write (`UmrtTarget`); ALU: how predicate bits are set (`CompareOp`).
        30:29   target: u8 = "RGB_TARGET";
        /// Update the ALU result.
        31:31   alu_wmask: bool = "ALU_WMASK";
    }
}

word_format! {
    /// Opcode, destination and operands A and B of the alpha unit.
    pub struct AlphaInst "ALU_ALPHA_INST" dword 4 cite "CTM §3.3.3" {
        /// Operation.
        3:0     op: AlphaOp = "ALPHA_OP";
        /// Destination temporary.
        10:4    addrd: u8 = "ALPHA_ADDRD";
        /// Add aL to the destination.
        11:11   addrd_rel: bool = "ALPHA_ADDRD_REL";
        /// Source of operand A.
        13:12   sel_a: Sel = "ALPHA_SEL_A";
        /// The component of operand A.
        16:14   swiz_a: Swizzle = "ALPHA_SWIZ_A";
        /// Input modifier of operand A.
        18:17   imod_a: Imod = "ALPHA_IMOD_A";
        /// Source of operand B.
        20:19   sel_b: Sel = "ALPHA_SEL_B";
        /// The component of operand B.
        23:21   swiz_b: Swizzle = "ALPHA_SWIZ_B";
        /// Input modifier of operand B.
        25:24   imod_b: Imod = "ALPHA_IMOD_B";
        /// Output modifier.
        28:26   omod: Omod = "ALPHA_OMOD";
        /// As `RGB_TARGET`, for the alpha unit.
        30:29   target: u8 = "ALPHA_TARGET";
        /// Write the alpha result to the W output: the conditional value.
        31:31   w_omask: bool = "W_OMASK";
    }
}

word_format! {
    /// Opcode and destination of the RGB unit, and operand C of both units.
    pub struct RgbaInst "ALU_RGBA_INST" dword 5 cite "CTM §3.3.3" {
        /// Operation of the RGB unit.
        3:0     op: RgbOp = "RGB_OP";
        /// Destination temporary of the RGB unit.
        10:4    addrd: u8 = "RGB_ADDRD";
        /// Add aL to the destination.
        11:11   addrd_rel: bool = "RGB_ADDRD_REL";
        /// Source of the RGB unit's operand C.
        13:12   rgb_sel_c: Sel = "RGB_SEL_C";
        /// Red component of operand C.
        16:14   red_swiz_c: Swizzle = "RED_SWIZ_C";
        /// Green component of operand C.
        19:17   green_swiz_c: Swizzle = "GREEN_SWIZ_C";
        /// Blue component of operand C.
        22:20   blue_swiz_c: Swizzle = "BLUE_SWIZ_C";
        /// Input modifier of the RGB unit's operand C.
        24:23   rgb_imod_c: Imod = "RGB_IMOD_C";
        /// Source of the alpha unit's operand C.
        26:25   alpha_sel_c: Sel = "ALPHA_SEL_C";
        /// The component of the alpha unit's operand C.
        29:27   alpha_swiz_c: Swizzle = "ALPHA_SWIZ_C";
        /// Input modifier of the alpha unit's operand C.
        31:30   alpha_imod_c: Imod = "ALPHA_IMOD_C";
    }
}

word_format! {
    /// Texture opcode and control.
    pub struct TexInst "TEX_INST" dword 1 cite "CTM §3.4" {
        /// Which input (sampler ID).
        19:16   tex_id: u8 = "TEX_ID";
        /// Operation.
        24:22   op: TexOp = "INST";
        /// Hold the texture semaphore until the data is in the destination.
        25:25   tex_sem_acquire: bool = "TEX_SEM_ACQUIRE";
        /// Leave uncovered processors out of the lookup.
        26:26   ignore_uncovered: bool = "IGNORE_UNCOVERED";
        /// Coordinates are in texels; otherwise they are scaled by the input's dimensions.
        27:27   unscaled: bool = "UNSCALED";
        reserved 15:0, 21:20, 31:28;
    }
}

word_format! {
    /// Source and destination of a texture instruction.
    pub struct TexAddr "TEX_ADDR" dword 2 cite "CTM §3.4" {
        /// Source temporary.
        6:0     src_addr: u8 = "SRC_ADDR";
        /// Add aL to the source.
        7:7     src_addr_rel: bool = "SRC_ADDR_REL";
        /// Which channel is S.
        9:8     src_s_swiz: Channel = "SRC_S_SWIZ";
        /// Which channel is T.
        11:10   src_t_swiz: Channel = "SRC_T_SWIZ";
        /// Which channel is R.
        13:12   src_r_swiz: Channel = "SRC_R_SWIZ";
        /// Which channel is Q.
        15:14   src_q_swiz: Channel = "SRC_Q_SWIZ";
        /// Destination temporary.
        22:16   dst_addr: u8 = "DST_ADDR";
        /// Add aL to the destination.
        23:23   dst_addr_rel: bool = "DST_ADDR_REL";
        /// Which fetched channel goes to red.
        25:24   dst_r_swiz: Channel = "DST_R_SWIZ";
        /// Which fetched channel goes to green.
        27:26   dst_g_swiz: Channel = "DST_G_SWIZ";
        /// Which fetched channel goes to blue.
        29:28   dst_b_swiz: Channel = "DST_B_SWIZ";
        /// Which fetched channel goes to alpha.
        31:30   dst_a_swiz: Channel = "DST_A_SWIZ";
    }
}

word_format! {
    /// Gradients of a DXDY lookup.
    pub struct TexAddrDxDy "TEX_ADDR_DXDY" dword 3 cite "CTM §3.4" {
        /// Temporary with the gradient along x.
        6:0     dx_addr: u8 = "DX_ADDR";
        /// Add aL to it.
        7:7     dx_addr_rel: bool = "DX_ADDR_REL";
        /// Which channel is S.
        9:8     dx_s_swiz: Channel = "DX_S_SWIZ";
        /// Which channel is T.
        11:10   dx_t_swiz: Channel = "DX_T_SWIZ";
        /// Which channel is R.
        13:12   dx_r_swiz: Channel = "DX_R_SWIZ";
        /// Which channel is Q.
        15:14   dx_q_swiz: Channel = "DX_Q_SWIZ";
        /// Temporary with the gradient along y.
        22:16   dy_addr: u8 = "DY_ADDR";
        /// Add aL to it.
        23:23   dy_addr_rel: bool = "DY_ADDR_REL";
        /// Which channel is S.
        25:24   dy_s_swiz: Channel = "DY_S_SWIZ";
        /// Which channel is T.
        27:26   dy_t_swiz: Channel = "DY_T_SWIZ";
        /// Which channel is R.
        29:28   dy_r_swiz: Channel = "DY_R_SWIZ";
        /// Which channel is Q.
        31:30   dy_q_swiz: Channel = "DY_Q_SWIZ";
    }
}

word_format! {
    /// Operation of a flow-control instruction.
    pub struct FcInst "FC_INST" dword 2 cite "CTM §3.5.3" {
        /// Loop-stack operation.
        2:0     op: FcOp = "OP";
        /// Exchange the branches of the innermost conditional block, before the rest of the instruction.
        4:4     b_else: bool = "B_ELSE";
        /// Jump if at least one active processor wants to; otherwise only if all do.
        5:5     jump_any: bool = "JUMP_ANY";
        /// Address-stack operation.
        7:6     a_op: AOp = "A_OP";
        /// Truth table: bit `(alu_result<<2) + (predicate<<1) + boolean` says whether a processor wants to jump.
        15:8    jump_func: u8 = "JUMP_FUNC";
        /// How much `DECR` takes off the branch counters.
        20:16   b_pop_cnt: u8 = "B_POP_CNT";
        /// Branch-counter operation if stay.
        25:24   b_op0: BOp = "B_OP0";
        /// Branch-counter operation if jump.
        27:26   b_op1: BOp = "B_OP1";
        /// Leave uncovered processors out of the decision.
        28:28   ignore_uncovered: bool = "IGNORE_UNCOVERED";
        reserved 3:3, 23:21, 31:29;
    }
}

word_format! {
    /// Addresses of a flow-control instruction.
    pub struct FcAddr "FC_ADDR" dword 3 cite "CTM §3.5.3" {
        /// Boolean constant of the jump condition.
        4:0     bool_addr: u8 = "BOOL_ADDR";
        /// Integer constant of LOOP and REP.
        12:8    int_addr: u8 = "INT_ADDR";
        /// Where to jump.
        24:16   jump_addr: u16 = "JUMP_ADDR";
        /// `JUMP_ADDR` is absolute; otherwise the program's offset is added.
        31:31   jump_global: bool = "JUMP_GLOBAL";
        reserved 7:5, 15:13, 30:25;
    }
}

/// Every word format, grouped by the instruction types that use it.
pub const WORDS: &[(&[InstType], WordFormat)] = &[
    (&[InstType::Alu, InstType::Output, InstType::Fc, InstType::Tex], CmnInst::FORMAT),
    (&[InstType::Alu, InstType::Output], RgbAddr::FORMAT),
    (&[InstType::Alu, InstType::Output], AlphaAddr::FORMAT),
    (&[InstType::Alu, InstType::Output], RgbInst::FORMAT),
    (&[InstType::Alu, InstType::Output], AlphaInst::FORMAT),
    (&[InstType::Alu, InstType::Output], RgbaInst::FORMAT),
    (&[InstType::Tex], TexInst::FORMAT),
    (&[InstType::Tex], TexAddr::FORMAT),
    (&[InstType::Tex], TexAddrDxDy::FORMAT),
    (&[InstType::Fc], FcInst::FORMAT),
    (&[InstType::Fc], FcAddr::FORMAT),
];

/// Which fields of `CMN_INST` have an effect for an instruction type (the table of CTM §3.2).
///
/// *The Guide's table lists no `IGNORE_UNCOVERED` and no `STAT_WE`; the former sits in the TEX and FC words.*
#[must_use]
pub fn cmn_field_is_effective(field: &str, kind: InstType) -> bool {
    use InstType::{Alu, Fc, Output, Tex};
    match field {
        "TYPE" | "TEX_SEM_WAIT" | "RGB_PRED_SEL" | "RGB_PRED_INV" => true,
        "ALPHA_PRED_SEL" | "ALPHA_PRED_INV" | "WRITE_INACTIVE" | "RGB_WMASK" | "ALPHA_WMASK" => kind != Fc,
        "ALU_WAIT" => matches!(kind, Fc | Tex),
        _ => matches!(kind, Alu | Output),
    }
}
