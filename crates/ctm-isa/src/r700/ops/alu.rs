//! ALU opcodes, and the values of ALU fields.

use super::alu_fields::Omod;
use super::columns::{AluInfo, Available, Decides, Domain, SideEffect, Test};
use super::columns::{any, choose, counter, kill, mova, pair, pred, pred_64, push, quad, reduce, set, trans};
use Domain::{Bits, Float, Int, Uint};
use Test::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};

ops! {
    /// ALU operation with up to two operands.
    pub enum Op2 cite "R700 §10.2" info AluInfo {
        /// Sum.
        Add "ADD" 0 => any(2, "src0 + src1");
        /// Product; zero times anything is zero.
        Mul "MUL" 1 => any(2, "src0 * src1, 0 * anything = 0");
        /// Product by IEEE rules.
        MulIeee "MUL_IEEE" 2 => any(2, "src0 * src1").listed("MUL_e");
        /// The larger.
        Max "MAX" 3 => any(2, "src0 >= src1 ? src0 : src1");
        /// The smaller.
        Min "MIN" 4 => any(2, "src0 < src1 ? src0 : src1");
        /// The larger by the NaN rules of DirectX 10.
        MaxDx10 "MAX_DX10" 5 => any(2, "max(src0, src1)");
        /// The smaller by the NaN rules of DirectX 10.
        MinDx10 "MIN_DX10" 6 => any(2, "min(src0, src1)");
        /// Splits into exponent (xy) and fraction (zw).
        Frexp64 "FREXP_64" 7 => quad(1, "exponent and fraction of src0");
        /// Comparison, 1.0 or 0.0.
        Sete "SETE" 8 => set(Equal, "src0 == src1 ? 1.0 : 0.0");
        /// Comparison, 1.0 or 0.0.
        Setgt "SETGT" 9 => set(Greater, "src0 > src1 ? 1.0 : 0.0");
        /// Comparison, 1.0 or 0.0.
        Setge "SETGE" 10 => set(GreaterEqual, "src0 >= src1 ? 1.0 : 0.0");
        /// Comparison, 1.0 or 0.0.
        Setne "SETNE" 11 => set(NotEqual, "src0 != src1 ? 1.0 : 0.0");
        /// Comparison, all ones or zero.
        SeteDx10 "SETE_DX10" 12 => set(Equal, "src0 == src1 ? -1 : 0").writes(Int);
        /// Comparison, all ones or zero.
        SetgtDx10 "SETGT_DX10" 13 => set(Greater, "src0 > src1 ? -1 : 0").writes(Int);
        /// Comparison, all ones or zero.
        SetgeDx10 "SETGE_DX10" 14 => set(GreaterEqual, "src0 >= src1 ? -1 : 0").writes(Int);
        /// Comparison, all ones or zero.
        SetneDx10 "SETNE_DX10" 15 => set(NotEqual, "src0 != src1 ? -1 : 0").writes(Int);
        /// Fraction.
        Fract "FRACT" 16 => any(1, "src0 - floor(src0)");
        /// Integer part.
        Trunc "TRUNC" 17 => any(1, "trunc(src0)");
        /// Next integer above.
        Ceil "CEIL" 18 => any(1, "ceil(src0)");
        /// Nearest integer, ties to even.
        Rndne "RNDNE" 19 => any(1, "roundEven(src0)");
        /// Next integer below.
        Floor "FLOOR" 20 => any(1, "floor(src0)");
        /// Rounds to an integer and copies it to the address register.
        Mova "MOVA" 21 => mova("i = int(floor(src0 + 0.5)); -256 <= i <= 255 ? i : -256");
        /// Floors to an integer and copies it to the address register.
        MovaFloor "MOVA_FLOOR" 22 => mova("i = int(floor(src0)); -256 <= i <= 255 ? i : -256");
        /// Sum of doubles.
        Add64 "ADD_64" 23 cite "R700 §9.2, r700-encoding §10 E8" => pair(2, "src0 + src1");
        /// Copies an integer to the address register.
        MovaInt "MOVA_INT" 24 => mova("-256 <= src0 <= 255 ? src0 : -256").reads(Int);
        /// Copies.
        Mov "MOV" 25 => any(1, "src0").of(Bits);
        /// Does nothing.
        Nop "NOP" 26 cite "r700-encoding §10 E4" => any(0, "");
        /// Product of doubles.
        Mul64 "MUL_64" 27 cite "R700 §9.2, r700-encoding §10 E29" => quad(2, "src0 * src1");
        /// Double to single.
        Flt64ToFlt32 "FLT64_TO_FLT32" 28 => pair(1, "float(src0)").writes(Float);
        /// Single to double.
        Flt32ToFlt64 "FLT32_TO_FLT64" 29 => pair(1, "double(src0)").reads(Float);
        /// Predicate from an unsigned comparison.
        PredSetgtUint "PRED_SETGT_UINT" 30 => pred(Greater, "src0 > src1").reads(Uint);
        /// Predicate from an unsigned comparison.
        PredSetgeUint "PRED_SETGE_UINT" 31 => pred(GreaterEqual, "src0 >= src1").reads(Uint);
        /// Predicate from a comparison.
        PredSete "PRED_SETE" 32 => pred(Equal, "src0 == src1");
        /// Predicate from a comparison.
        PredSetgt "PRED_SETGT" 33 => pred(Greater, "src0 > src1");
        /// Predicate from a comparison.
        PredSetge "PRED_SETGE" 34 => pred(GreaterEqual, "src0 >= src1");
        /// Predicate from a comparison.
        PredSetne "PRED_SETNE" 35 => pred(NotEqual, "src0 != src1");
        /// Inverts a predicate counter.
        PredSetInv "PRED_SET_INV" 36 => counter(1, "src0 == 1.0 ? 0.0 : src0 == 0.0 ? 1.0 : src0");
        /// Pops a predicate counter.
        PredSetPop "PRED_SET_POP" 37 => counter(2, "src0 <= src1 ? 0.0 : src0 - src1");
        /// Clears a predicate counter.
        PredSetClr "PRED_SET_CLR" 38 => counter(0, "MAX_FLOAT");
        /// Restores a predicate from a counter.
        PredSetRestore "PRED_SET_RESTORE" 39 => counter(1, "src0 == 0.0 ? 0.0 : src0");
        /// Counts a predicate.
        PredSetePush "PRED_SETE_PUSH" 40 => push(Equal, "src1 == 0.0 && src0 == 0.0 ? 0.0 : src0 + 1.0");
        /// Counts a predicate.
        PredSetgtPush "PRED_SETGT_PUSH" 41 => push(Greater, "src1 > 0.0 && src0 == 0.0 ? 0.0 : src0 + 1.0");
        /// Counts a predicate.
        PredSetgePush "PRED_SETGE_PUSH" 42 => push(GreaterEqual, "src1 >= 0.0 && src0 == 0.0 ? 0.0 : src0 + 1.0");
        /// Counts a predicate.
        PredSetnePush "PRED_SETNE_PUSH" 43 => push(NotEqual, "src1 != 0.0 && src0 == 0.0 ? 0.0 : src0 + 1.0");
        /// Kills pixels by a comparison.
        Kille "KILLE" 44 => kill(Equal, "src0 == src1");
        /// Kills pixels by a comparison.
        Killgt "KILLGT" 45 => kill(Greater, "src0 > src1");
        /// Kills pixels by a comparison.
        Killge "KILLGE" 46 => kill(GreaterEqual, "src0 >= src1");
        /// Kills pixels by a comparison.
        Killne "KILLNE" 47 => kill(NotEqual, "src0 != src1");
        /// Bitwise and.
        AndInt "AND_INT" 48 => any(2, "src0 & src1").of(Int);
        /// Bitwise or.
        OrInt "OR_INT" 49 => any(2, "src0 | src1").of(Int);
        /// Bitwise exclusive or.
        XorInt "XOR_INT" 50 => any(2, "src0 ^ src1").of(Int);
        /// Bitwise not.
        NotInt "NOT_INT" 51 => any(1, "~src0").of(Int);
        /// Integer sum.
        AddInt "ADD_INT" 52 cite "R700 §9.2, r700-encoding §10 E8" => any(2, "src0 + src1").of(Int);
        /// Integer difference.
        SubInt "SUB_INT" 53 => any(2, "src0 - src1").of(Int);
        /// The larger signed integer.
        MaxInt "MAX_INT" 54 => any(2, "max(src0, src1)").of(Int);
        /// The smaller signed integer.
        MinInt "MIN_INT" 55 => any(2, "min(src0, src1)").of(Int);
        /// The larger unsigned integer.
        MaxUint "MAX_UINT" 56 => any(2, "max(src0, src1)").of(Uint);
        /// The smaller unsigned integer.
        MinUint "MIN_UINT" 57 => any(2, "min(src0, src1)").of(Uint);
        /// Integer comparison, all ones or zero.
        SeteInt "SETE_INT" 58 => set(Equal, "src0 == src1 ? -1 : 0").of(Int);
        /// Integer comparison, all ones or zero.
        SetgtInt "SETGT_INT" 59 => set(Greater, "src0 > src1 ? -1 : 0").of(Int);
        /// Integer comparison, all ones or zero.
        SetgeInt "SETGE_INT" 60 => set(GreaterEqual, "src0 >= src1 ? -1 : 0").of(Int);
        /// Integer comparison, all ones or zero.
        SetneInt "SETNE_INT" 61 => set(NotEqual, "src0 != src1 ? -1 : 0").of(Int);
        /// Unsigned comparison, all ones or zero.
        SetgtUint "SETGT_UINT" 62 => set(Greater, "src0 > src1 ? -1 : 0").of(Uint);
        /// Unsigned comparison, all ones or zero.
        SetgeUint "SETGE_UINT" 63 => set(GreaterEqual, "src0 >= src1 ? -1 : 0").of(Uint);
        /// Kills pixels by an unsigned comparison.
        KillgtUint "KILLGT_UINT" 64 => kill(Greater, "src0 > src1").reads(Uint);
        /// Kills pixels by an unsigned comparison.
        KillgeUint "KILLGE_UINT" 65 => kill(GreaterEqual, "src0 >= src1").reads(Uint);
        /// Predicate from an integer comparison.
        PredSeteInt "PRED_SETE_INT" 66 => pred(Equal, "src0 == src1").reads(Int);
        /// Predicate from an integer comparison.
        PredSetgtInt "PRED_SETGT_INT" 67 => pred(Greater, "src0 > src1").reads(Int);
        /// Predicate from an integer comparison.
        PredSetgeInt "PRED_SETGE_INT" 68 => pred(GreaterEqual, "src0 >= src1").reads(Int);
        /// Predicate from an integer comparison.
        PredSetneInt "PRED_SETNE_INT" 69 => pred(NotEqual, "src0 != src1").reads(Int);
        /// Kills pixels by an integer comparison.
        KilleInt "KILLE_INT" 70 cite "R700 §10.2, r700-encoding §10 E3" => kill(Equal, "src0 == src1").reads(Int);
        /// Kills pixels by an integer comparison.
        KillgtInt "KILLGT_INT" 71 cite "R700 §10.2, r700-encoding §10 E3" => kill(Greater, "src0 > src1").reads(Int);
        /// Kills pixels by an integer comparison.
        KillgeInt "KILLGE_INT" 72 => kill(GreaterEqual, "src0 >= src1").reads(Int);
        /// Kills pixels by an integer comparison.
        KillneInt "KILLNE_INT" 73 => kill(NotEqual, "src0 != src1").reads(Int);
        /// Counts a predicate of an integer.
        PredSetePushInt "PRED_SETE_PUSH_INT" 74 cite "R700 §9.2, r700-encoding §10 E18" => push(Equal, "src1 == 0 && src0 == 0.0 ? 0.0 : src0 + 1.0").reads(Int);
        /// Counts a predicate of an integer.
        PredSetgtPushInt "PRED_SETGT_PUSH_INT" 75 cite "R700 §9.2, r700-encoding §10 E18" => push(Greater, "src1 > 0 && src0 == 0.0 ? 0.0 : src0 + 1.0").reads(Int);
        /// Counts a predicate of an integer.
        PredSetgePushInt "PRED_SETGE_PUSH_INT" 76 cite "R700 §9.2, r700-encoding §10 E18" => push(GreaterEqual, "src1 >= 0 && src0 == 0.0 ? 0.0 : src0 + 1.0").reads(Int);
        /// Counts a predicate of an integer.
        PredSetnePushInt "PRED_SETNE_PUSH_INT" 77 cite "R700 §9.2, r700-encoding §10 E18" => push(NotEqual, "src1 != 0 && src0 == 0.0 ? 0.0 : src0 + 1.0").reads(Int);
        /// Counts a predicate of an integer.
        PredSetltPushInt "PRED_SETLT_PUSH_INT" 78 cite "R700 §9.2, r700-encoding §10 E18" => push(Less, "src1 < 0 && src0 == 0.0 ? 0.0 : src0 + 1.0").reads(Int);
        /// Counts a predicate of an integer.
        PredSetlePushInt "PRED_SETLE_PUSH_INT" 79 cite "R700 §9.2, r700-encoding §10 E18" => push(LessEqual, "src1 <= 0 && src0 == 0.0 ? 0.0 : src0 + 1.0").reads(Int);
        /// Dot product of four elements; zero times anything is zero.
        Dot4 "DOT4" 80 => reduce(2, "sum of src0 * src1, 0 * anything = 0");
        /// Dot product of four elements by IEEE rules.
        Dot4Ieee "DOT4_IEEE" 81 => reduce(2, "sum of src0 * src1").listed("DOT4_e");
        /// Cube map coordinates of (Rn.zzxy, Rn.yxzz).
        Cube "CUBE" 82 => reduce(2, "cube map face and coordinates");
        /// The largest of four elements.
        Max4 "MAX4" 83 => reduce(1, "the largest src0");
        /// Copies an integer to the address register (R600).
        MovaGprInt "MOVA_GPR_INT" 96 cite "R700 §10.2, r700-encoding §10 E14" => AluInfo { kind: SideEffect::Mova, available: Available::R600Only, ..trans(1, "clamp(src0, -256, 255)").of(Int) };
        /// Two to the power.
        ExpIeee "EXP_IEEE" 97 => trans(1, "2 ^ src0").listed("EXP_e");
        /// Logarithm to base two, clamped.
        LogClamped "LOG_CLAMPED" 98 => trans(1, "log2(src0), -inf becomes -MAX_FLOAT").listed("LOG_sat");
        /// Logarithm to base two.
        LogIeee "LOG_IEEE" 99 => trans(1, "log2(src0)").listed("LOG_e");
        /// Reciprocal, clamped.
        RecipClamped "RECIP_CLAMPED" 100 => trans(1, "1 / src0, inf becomes MAX_FLOAT").listed("RCP_sat");
        /// Reciprocal; infinity becomes zero.
        RecipFf "RECIP_FF" 101 => trans(1, "1 / src0, inf becomes 0").listed("RCP_FF");
        /// Reciprocal.
        RecipIeee "RECIP_IEEE" 102 => trans(1, "1 / src0").listed("RCP_e");
        /// Reciprocal square root, clamped.
        RecipsqrtClamped "RECIPSQRT_CLAMPED" 103 => trans(1, "1 / sqrt(src0), inf becomes MAX_FLOAT").listed("RSQ_sat");
        /// Reciprocal square root; infinity becomes zero.
        RecipsqrtFf "RECIPSQRT_FF" 104 => trans(1, "1 / sqrt(src0), inf becomes 0").listed("RSQ_FF");
        /// Reciprocal square root.
        RecipsqrtIeee "RECIPSQRT_IEEE" 105 => trans(1, "1 / sqrt(src0)").listed("RSQ_e");
        /// Square root.
        SqrtIeee "SQRT_IEEE" 106 => trans(1, "sqrt(src0)").listed("SQRT_e");
        /// Float to signed integer.
        FltToInt "FLT_TO_INT" 107 => trans(1, "int(src0)").writes(Int);
        /// Signed integer to float.
        IntToFlt "INT_TO_FLT" 108 => trans(1, "float(src0)").reads(Int);
        /// Unsigned integer to float.
        UintToFlt "UINT_TO_FLT" 109 => trans(1, "float(src0)").reads(Uint);
        /// Sine of turns.
        Sin "SIN" 110 cite "r700-encoding §10 E1" => trans(1, "sin(2pi * src0)");
        /// Cosine of turns.
        Cos "COS" 111 cite "r700-encoding §10 E1" => trans(1, "cos(2pi * src0)");
        /// Arithmetic shift right.
        AshrInt "ASHR_INT" 112 cite "R700 table 4.4, §9.2, r700-encoding §10 E28" => any(2, "src0 >> (src1 & 31)").of(Int);
        /// Logical shift right.
        LshrInt "LSHR_INT" 113 cite "R700 table 4.4, §9.2, r700-encoding §10 E28" => any(2, "src0 >> (src1 & 31)").of(Uint);
        /// Shift left.
        LshlInt "LSHL_INT" 114 cite "R700 table 4.4, §9.2, r700-encoding §10 E28" => any(2, "src0 << (src1 & 31)").of(Int);
        /// Low half of a signed product.
        MulloInt "MULLO_INT" 115 => trans(2, "low 32 bits of src0 * src1").of(Int);
        /// High half of a signed product.
        MulhiInt "MULHI_INT" 116 => trans(2, "high 32 bits of src0 * src1").of(Int);
        /// Low half of an unsigned product.
        MulloUint "MULLO_UINT" 117 => trans(2, "low 32 bits of src0 * src1").of(Uint);
        /// High half of an unsigned product.
        MulhiUint "MULHI_UINT" 118 => trans(2, "high 32 bits of src0 * src1").of(Uint);
        /// Reciprocal of a signed integer.
        RecipInt "RECIP_INT" 119 => trans(1, "2^32 / src0").of(Int).listed("RCP_INT");
        /// Reciprocal of an unsigned integer.
        RecipUint "RECIP_UINT" 120 => trans(1, "2^32 / src0").of(Uint).listed("RCP_UINT");
        /// Float to unsigned integer.
        FltToUint "FLT_TO_UINT" 121 => trans(1, "uint(src0)").writes(Uint);
        /// Scales a double by a power of two.
        Ldexp64 "LDEXP_64" 122 => pair(2, "src0 * 2 ^ src1");
        /// Fraction of a double.
        Fract64 "FRACT_64" 123 => pair(1, "src0 - floor(src0)");
        /// Predicate from a comparison of doubles.
        PredSetgt64 "PRED_SETGT_64" 124 => pred_64(Greater, "src0 > src1");
        /// Predicate from a comparison of doubles.
        PredSete64 "PRED_SETE_64" 125 => pred_64(Equal, "src0 == src1");
        /// Predicate from a comparison of doubles.
        PredSetge64 "PRED_SETGE_64" 126 => pred_64(GreaterEqual, "src0 >= src1");
    }
}

ops! {
    /// ALU operation with three operands.
    pub enum Op3 cite "R700 §10.2" info AluInfo {
        /// Multiply and add doubles.
        Muladd64 "MULADD_64" 8 => quad(3, "round(src0 * src1) + src2");
        /// Multiply and add doubles, doubled.
        Muladd64M2 "MULADD_64_M2" 9 => quad(3, "(round(src0 * src1) + src2) * 2").scaled(Omod::M2);
        /// Multiply and add doubles, times four.
        Muladd64M4 "MULADD_64_M4" 10 => quad(3, "(round(src0 * src1) + src2) * 4").scaled(Omod::M4);
        /// Multiply and add doubles, halved.
        Muladd64D2 "MULADD_64_D2" 11 => quad(3, "(round(src0 * src1) + src2) / 2").scaled(Omod::D2);
        /// Multiply for lighting (LIT).
        MulLit "MUL_LIT" 12 => trans(3, "LIT product of src0, src1, src2");
        /// Multiply for lighting (LIT), doubled.
        MulLitM2 "MUL_LIT_M2" 13 => trans(3, "(LIT product of src0, src1, src2) * 2").scaled(Omod::M2);
        /// Multiply for lighting (LIT), times four.
        MulLitM4 "MUL_LIT_M4" 14 => trans(3, "(LIT product of src0, src1, src2) * 4").scaled(Omod::M4);
        /// Multiply for lighting (LIT), halved.
        MulLitD2 "MUL_LIT_D2" 15 => trans(3, "(LIT product of src0, src1, src2) / 2").scaled(Omod::D2);
        /// Multiply and add.
        Muladd "MULADD" 16 => any(3, "round(src0 * src1) + src2, 0 * anything = 0");
        /// Multiply and add, doubled.
        MuladdM2 "MULADD_M2" 17 => any(3, "(round(src0 * src1) + src2, 0 * anything = 0) * 2").listed("MULADD*2").scaled(Omod::M2);
        /// Multiply and add, times four.
        MuladdM4 "MULADD_M4" 18 => any(3, "(round(src0 * src1) + src2, 0 * anything = 0) * 4").listed("MULADD*4").scaled(Omod::M4);
        /// Multiply and add, halved.
        MuladdD2 "MULADD_D2" 19 => any(3, "(round(src0 * src1) + src2, 0 * anything = 0) / 2").listed("MULADD/2").scaled(Omod::D2);
        /// Multiply and add by IEEE rules.
        MuladdIeee "MULADD_IEEE" 20 => any(3, "round(src0 * src1) + src2").listed("MULADD_e");
        /// Multiply and add by IEEE rules, doubled.
        MuladdIeeeM2 "MULADD_IEEE_M2" 21 => any(3, "(round(src0 * src1) + src2) * 2").listed("MULADD_e*2").scaled(Omod::M2);
        /// Multiply and add by IEEE rules, times four.
        MuladdIeeeM4 "MULADD_IEEE_M4" 22 => any(3, "(round(src0 * src1) + src2) * 4").listed("MULADD_e*4").scaled(Omod::M4);
        /// Multiply and add by IEEE rules, halved.
        MuladdIeeeD2 "MULADD_IEEE_D2" 23 => any(3, "(round(src0 * src1) + src2) / 2").listed("MULADD_e/2").scaled(Omod::D2);
        /// Choice by a comparison with zero (CMOVE in chapter 9).
        Cnde "CNDE" 24 cite "R700 §9.2, r700-encoding §10 E17" => choose(Equal, "src0 == 0.0 ? src1 : src2").writes(Bits);
        /// Choice by a comparison with zero (CMOVGT in chapter 9).
        Cndgt "CNDGT" 25 cite "R700 §9.2, r700-encoding §10 E17" => choose(Greater, "src0 > 0.0 ? src1 : src2").writes(Bits);
        /// Choice by a comparison with zero (CMOVGE in chapter 9).
        Cndge "CNDGE" 26 cite "R700 §9.2, r700-encoding §10 E17" => choose(GreaterEqual, "src0 >= 0.0 ? src1 : src2").writes(Bits);
        /// Choice by an integer comparison with zero (CMOVE_INT in chapter 9).
        CndeInt "CNDE_INT" 28 cite "R700 §9.2, r700-encoding §10 E17" => choose(Equal, "src0 == 0 ? src1 : src2").of(Int);
        /// Choice by an integer comparison with zero (CMOVGT_INT in chapter 9).
        CndgtInt "CNDGT_INT" 29 cite "R700 §9.2, r700-encoding §10 E17" => choose(Greater, "src0 > 0 ? src1 : src2").of(Int);
        /// Choice by an integer comparison with zero (CMOVGE_INT in chapter 9).
        CndgeInt "CNDGE_INT" 30 cite "R700 §9.2, r700-encoding §10 E17" => choose(GreaterEqual, "src0 >= 0 ? src1 : src2").of(Int);
    }
}

impl Op2 {
    /// The operation that gives all ones where the predicate of this one says execute, and 0 elsewhere: `SETGE_INT` of
    /// `PRED_SETGE_INT`. `None` for operations that set no predicate, or not by comparing two 32-bit numbers.
    #[must_use]
    pub fn truth(self) -> Option<Self> {
        if self.info().kind != SideEffect::PredSet {
            return None;
        }
        self.compares_alike(|row| row.kind == SideEffect::Plain && row.writes.is_integer())
    }

    /// The operation that sets the predicate where this one's comparison holds: `PRED_SETGE_INT` of `SETGE_INT`. `None` for operations that do not give the outcome of
    /// comparing two 32-bit numbers.
    #[must_use]
    pub fn predicate(self) -> Option<Self> {
        if self.info().kind != SideEffect::Plain {
            return None;
        }
        self.compares_alike(|row| row.kind == SideEffect::PredSet)
    }

    /// The operation that compares the same in the same way, and is such.
    fn compares_alike(self, is: impl Fn(&AluInfo) -> bool) -> Option<Self> {
        let info = self.info();
        let alike = |row: &AluInfo| row.decides == info.decides && row.reads == info.reads && is(row);
        let compares = matches!(info.decides, Decides::Compare(_));
        compares.then(|| Self::ALL.iter().copied().find(|op| alike(&op.info())))?
    }
}

impl Op3 {
    /// The operation without the power of two that belongs to its name: `MULADD` of `MULADD_M2`.
    #[must_use]
    pub const fn unscaled(self) -> Self {
        match self {
            Self::Muladd64M2 | Self::Muladd64M4 | Self::Muladd64D2 => Self::Muladd64,
            Self::MulLitM2 | Self::MulLitM4 | Self::MulLitD2 => Self::MulLit,
            Self::MuladdM2 | Self::MuladdM4 | Self::MuladdD2 => Self::Muladd,
            Self::MuladdIeeeM2 | Self::MuladdIeeeM4 | Self::MuladdIeeeD2 => Self::MuladdIeee,
            _ => self,
        }
    }
}

/// An ALU operation of either form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AluOp {
    /// Up to two operands.
    Op2(Op2),
    /// Three operands.
    Op3(Op3),
}

impl AluOp {
    /// Every operation: first those with up to two operands, then those with three, each in the manual's order.
    pub fn all() -> impl Iterator<Item = Self> {
        Op2::ALL.iter().map(|&op| Self::Op2(op)).chain(Op3::ALL.iter().map(|&op| Self::Op3(op)))
    }

    /// The manual's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Op2(op) => op.name(),
            Self::Op3(op) => op.name(),
        }
    }

    /// How AMD's listings spell it (an output modifier that belongs to the name is part of it: `MULADD*2`).
    #[must_use]
    pub const fn listing(self) -> &'static str {
        match self.info().listing {
            Some(name) => name,
            None => self.name(),
        }
    }

    /// The further columns of its row.
    #[must_use]
    pub const fn info(self) -> AluInfo {
        match self {
            Self::Op2(op) => op.info(),
            Self::Op3(op) => op.info(),
        }
    }

    /// Its description.
    #[must_use]
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Op2(op) => op.doc(),
            Self::Op3(op) => op.doc(),
        }
    }

    /// Where the manual says it.
    #[must_use]
    pub const fn cite(self) -> &'static str {
        match self {
            Self::Op2(op) => op.cite(),
            Self::Op3(op) => op.cite(),
        }
    }

    /// The number in its field.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Op2(op) => op.code(),
            Self::Op3(op) => op.code(),
        }
    }
}
