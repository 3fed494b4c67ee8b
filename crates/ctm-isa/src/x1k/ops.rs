//! Opcodes and field values of the X1K, in the order of the CTM Guide.
//!
//! Numbers are AMD's ("R5xx Acceleration" register text); the Guide names them without numbers.

ops! {
    /// The kind of instruction in the slot.
    pub enum InstType cite "CTM §3.1" {
        /// Arithmetic and logic; may set predicate bits.
        Alu "ALU" 0;
        /// Arithmetic and logic; may write the output registers.
        Output "OUTPUT" 1;
        /// Flow control.
        Fc "FC" 2;
        /// Texture: reads an input, or kills processors.
        Tex "TEX" 3;
    }
}

ops! {
    /// Which predicate bits are ANDed with a write mask, or take part in a jump condition.
    pub enum PredSel cite "CTM §3.3.6" {
        /// No predication.
        None "NONE" 0;
        /// Each channel its own bit.
        Rgba "RGBA" 1;
        /// The R bit for every channel.
        Rrrr "RRRR" 2;
        /// The G bit for every channel.
        Gggg "GGGG" 3;
        /// The B bit for every channel.
        Bbbb "BBBB" 4;
        /// The A bit for every channel.
        Aaaa "AAAA" 5;
    }
}

ops! {
    /// Which channel of an instruction's result becomes the ALU result.
    pub enum AluResultSel cite "CTM §3.3.10" {
        /// The red channel of the RGB unit.
        Red "RED" 0;
        /// The alpha unit.
        Alpha "ALPHA" 1;
    }
}

ops! {
    /// Comparison of a channel with zero: sets a predicate bit (TARGET field of an ALU instruction) or the ALU result.
    pub enum CompareOp cite "CTM §3.3.9" {
        /// Set when the channel is zero.
        Equal "EQUAL" 0;
        /// Set when the channel is negative.
        Less "LESS" 1;
        /// Set when the channel is not negative.
        GreaterEqual "GREATER_EQUAL" 2;
        /// Set when the channel is not zero.
        NotEqual "NOT_EQUAL" 3;
    }
}

ops! {
    /// Presubtract operation of one unit.
    pub enum SrcpOp cite "CTM §3.3.2" {
        /// `1 - 2*src0`
        Bias "BIAS" 0;
        /// `src1 - src0`
        Sub "SUB" 1;
        /// `src1 + src0`
        Add "ADD" 2;
        /// `1 - src0`
        Inv "INV" 3;
    }
}

ops! {
    /// Which source an operand selects.
    pub enum Sel cite "CTM §3.3.3" {
        /// `{rgb_addr0.rgb, alpha_addr0.a}`
        Src0 "SRC0" 0;
        /// `{rgb_addr1.rgb, alpha_addr1.a}`
        Src1 "SRC1" 1;
        /// `{rgb_addr2.rgb, alpha_addr2.a}`
        Src2 "SRC2" 2;
        /// The presubtract results of both units.
        Srcp "SRCP" 3;
    }
}

ops! {
    /// The component that a swizzle selects from the source.
    pub enum Swizzle cite "CTM §3.3.3" {
        /// Red.
        R "R" 0;
        /// Green.
        G "G" 1;
        /// Blue.
        B "B" 2;
        /// Alpha.
        A "A" 3;
        /// The value 0.
        Zero "ZERO" 4;
        /// The value 0.5.
        Half "HALF" 5;
        /// The value 1.
        One "ONE" 6;
        /// Not documented by AMD; compilers use it for "do not care". Reads 0 here.
        Unused "UNUSED" 7 cite "x1k-encoding §1.3";
    }
}

ops! {
    /// Input modifier of one operand.
    pub enum Imod cite "CTM §3.3.3" {
        /// No modification.
        Off "OFF" 0;
        /// Negate.
        Neg "NEG" 1;
        /// Absolute value.
        Abs "ABS" 2;
        /// Negative of the absolute value.
        Nab "NAB" 3;
    }
}

ops! {
    /// Output modifier of one unit.
    pub enum Omod cite "CTM §3.3.5" {
        /// Multiply by 1.
        U1 "U1" 0;
        /// Multiply by 2.
        U2 "U2" 1;
        /// Multiply by 4.
        U4 "U4" 2;
        /// Multiply by 8.
        U8 "U8" 3;
        /// Divide by 2.
        D2 "D2" 4;
        /// Divide by 4.
        D4 "D4" 5;
        /// Divide by 8.
        D8 "D8" 6;
        /// No modification at all, no clamp: the bits of the chosen operand. MIN, MAX, CND and CMP only.
        Disabled "DISABLED" 7;
    }
}

ops! {
    /// TARGET of an OUTPUT instruction in a program with cached writes.
    pub enum RenderTarget cite "CTM §3.3.8" {
        /// Output 0.
        A "A" 0;
        /// Output 1.
        B "B" 1;
        /// Output 2.
        C "C" 2;
        /// Output 3.
        D "D" 3;
    }
}

ops! {
    /// TARGET (of the RGB unit) of an OUTPUT instruction in a program with uncached writes.
    ///
    /// The order of the numbers is inferred from the Guide's list: UNVERIFIED, a public program would settle it.
    pub enum UmrtTarget cite "CTM §3.3.8" {
        /// One index for all processors of the group.
        SameIdx "UMRT_SAME_IDX" 0;
        /// As `UMRT_SAME_IDX`, and acquires the texture semaphore.
        SameIdxAcquire "UMRT_SAME_IDX_TEX_SEM_ACQUIRE" 1;
        /// Each processor its own index (at a quarter of the speed).
        PerProcessorIdx "UMRT_PER_PROCESSOR_IDX" 2;
        /// As `UMRT_PER_PROCESSOR_IDX`, and acquires the texture semaphore.
        PerProcessorIdxAcquire "UMRT_PER_PROCESSOR_IDX_TEX_SEM_ACQUIRE" 3;
    }
}

/// The components of an operand that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// None: the operand takes no part.
    Nothing,
    /// For each channel that is computed, the one of that channel.
    Own,
    /// These, independent of the write mask: bit 0 is red, and bit 3 means the same operand of the alpha unit.
    Channels(u8),
    /// None: the operand's selection is ignored, and src0 of the quad's processors is read (x1k-encoding §1.5).
    Quad,
}

impl Looks {
    /// Whether an operation of the RGB unit reads the same operand of the alpha unit.
    #[must_use]
    pub const fn alpha_too(self) -> bool {
        matches!(self, Self::Channels(mask) if mask >> 3 & 1 == 1)
    }
}

/// The kind of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Arithmetic, each channel by itself.
    Plain,
    /// One of its operands: `OMOD_DISABLED` is allowed (CTM §3.3.5).
    Choice,
    /// A scalar of the RGB unit, which `ALPHA_DP` can copy (CTM §3.3.4).
    DotProduct,
    /// A scalar of the alpha unit, which `RGB_SOP` can copy (CTM §3.3.4).
    Transcendental,
    /// Arithmetic that reads other processors of the quad (x1k-encoding §1.5).
    Quad,
    /// The other unit's scalar.
    Copy,
}

/// The further columns of an ALU opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AluInfo {
    /// The components of A, B and C that it reads.
    pub looks: [Looks; 3],
    /// The kind of its result.
    pub class: Class,
    /// Its formula.
    pub formula: &'static str,
}

impl AluInfo {
    /// How many of the operands A, B, C it reads.
    #[must_use]
    pub const fn operands(&self) -> u8 {
        let (mut count, mut n) = (0, 0);
        while n < self.looks.len() {
            if !matches!(self.looks[n], Looks::Nothing) {
                count += 1;
            }
            n += 1;
        }
        count
    }

    /// The components that it reads for channels `wanted` (bit 0 is red) of its result: operand (0 is A) and channel. Channel 3 is the
    /// operand of the alpha unit. Reads of other processors by quad operations are not included.
    pub fn looked_at(self, wanted: u8) -> impl Iterator<Item = (usize, usize)> {
        let masks = self.looks.map(|looks| match looks {
            Looks::Nothing | Looks::Quad => 0,
            Looks::Own => wanted,
            Looks::Channels(mask) if wanted != 0 => mask,
            Looks::Channels(_) => 0,
        });
        (0..4usize).flat_map(move |channel| {
            (0..3usize).filter(move |&n| masks[n] >> channel & 1 == 1).map(move |n| (n, channel))
        })
    }

    /// Whether `OMOD_DISABLED` is allowed (CTM §3.3.5).
    #[must_use]
    pub const fn omod_disabled(&self) -> bool {
        matches!(self.class, Class::Choice)
    }
}

/// Operands that each channel reads its own component of.
const A: [Looks; 3] = [Looks::Own, Looks::Nothing, Looks::Nothing];
const AB: [Looks; 3] = [Looks::Own, Looks::Own, Looks::Nothing];
const ABC: [Looks; 3] = [Looks::Own; 3];
/// The operands of a quad operation.
const QUAD: [Looks; 3] = [Looks::Quad, Looks::Own, Looks::Quad];

const fn alu(class: Class, looks: [Looks; 3], formula: &'static str) -> AluInfo {
    AluInfo { looks, class, formula }
}

/// A dot product, by the channels of A, B and C.
const fn dot(a: u8, b: u8, c: u8, formula: &'static str) -> AluInfo {
    let c = if c == 0 { Looks::Nothing } else { Looks::Channels(c) };
    alu(Class::DotProduct, [Looks::Channels(a), Looks::Channels(b), c], formula)
}

/// The other unit's scalar.
const fn copy(formula: &'static str) -> AluInfo {
    alu(Class::Copy, [Looks::Nothing; 3], formula)
}

ops! {
    /// Operation of the RGB unit.
    pub enum RgbOp cite "CTM §3.3.4" info AluInfo {
        /// Multiply and add, rounded once.
        Mad "MAD" 0 => alu(Class::Plain, ABC, "A * B + C");
        /// Three-component dot product, to all three channels.
        Dp3 "DP3" 1 => dot(0b0111, 0b0111, 0, "A.r*B.r + A.g*B.g + A.b*B.b");
        /// Four-component dot product, to all three channels; the fourth pair comes from the alpha unit's operands A and B.
        Dp4 "DP4" 2 => dot(0b1111, 0b1111, 0, "A.r*B.r + A.g*B.g + A.b*B.b + A.a*B.a");
        /// Two-component dot product plus a scalar, to all three channels.
        D2a "D2A" 3 => dot(0b0011, 0b0011, 0b0100, "A.r*B.r + A.g*B.g + C.b");
        /// The smaller of A and B.
        Min "MIN" 4 => alu(Class::Choice, AB, "A < B ? A : B");
        /// The larger of A and B.
        Max "MAX" 5 => alu(Class::Choice, AB, "A >= B ? A : B");
        /// Choice by comparison with one half.
        Cnd "CND" 7 => alu(Class::Choice, ABC, "C > 0.5 ? A : B");
        /// Choice by comparison with zero.
        Cmp "CMP" 8 => alu(Class::Choice, ABC, "C >= 0 ? A : B");
        /// Fraction.
        Frc "FRC" 9 => alu(Class::Plain, A, "A - floor(A)");
        /// The alpha unit's transcendental result, to all three channels.
        Sop "SOP" 10 => copy("result of the alpha unit");
        /// Horizontal quad operation: A is src0 of the top-left processor of the quad, C src0 of the top-right one.
        Mdh "MDH" 11 cite "x1k-encoding §1.5" => alu(Class::Quad, QUAD, "topleft.src0 * B + topright.src0");
        /// Vertical quad operation: A is src0 of the top-left processor of the quad, C src0 of the bottom-left one.
        Mdv "MDV" 12 cite "x1k-encoding §1.5" => alu(Class::Quad, QUAD, "topleft.src0 * B + bottomleft.src0");
    }
}

ops! {
    /// Operation of the alpha unit.
    pub enum AlphaOp cite "CTM §3.3.4" info AluInfo {
        /// Multiply and add, rounded once.
        Mad "MAD" 0 => alu(Class::Plain, ABC, "A * B + C");
        /// The RGB unit's dot product.
        Dp "DP" 1 => copy("result of the RGB unit");
        /// The smaller of A and B.
        Min "MIN" 2 => alu(Class::Choice, AB, "A < B ? A : B");
        /// The larger of A and B.
        Max "MAX" 3 => alu(Class::Choice, AB, "A >= B ? A : B");
        /// Choice by comparison with one half.
        Cnd "CND" 5 => alu(Class::Choice, ABC, "C > 0.5 ? A : B");
        /// Choice by comparison with zero.
        Cmp "CMP" 6 => alu(Class::Choice, ABC, "C >= 0 ? A : B");
        /// Fraction.
        Frc "FRC" 7 => alu(Class::Plain, A, "A - floor(A)");
        /// Two to the power of A.
        Ex2 "EX2" 8 => alu(Class::Transcendental, A, "2 ^ A");
        /// Logarithm to base two.
        Ln2 "LN2" 9 => alu(Class::Transcendental, A, "log2(A)");
        /// Reciprocal.
        Rcp "RCP" 10 => alu(Class::Transcendental, A, "1 / A");
        /// Reciprocal square root; does not take the absolute value by itself.
        Rsq "RSQ" 11 => alu(Class::Transcendental, A, "1 / squareRoot(A)");
        /// Sine of A turns.
        Sin "SIN" 12 => alu(Class::Transcendental, A, "sin(A * 2pi)");
        /// Cosine of A turns.
        Cos "COS" 13 => alu(Class::Transcendental, A, "cos(A * 2pi)");
        /// Horizontal quad operation: A is src0 of the top-left processor of the quad, C src0 of the top-right one.
        Mdh "MDH" 14 cite "x1k-encoding §1.5" => alu(Class::Quad, QUAD, "topleft.src0 * B + topright.src0");
        /// Vertical quad operation: A is src0 of the top-left processor of the quad, C src0 of the bottom-left one.
        Mdv "MDV" 15 cite "x1k-encoding §1.5" => alu(Class::Quad, QUAD, "topleft.src0 * B + bottomleft.src0");
    }
}

impl RgbOp {
    /// Whether the result is a scalar that `ALPHA_DP` can copy (CTM §3.3.4).
    #[must_use]
    pub const fn is_dot_product(self) -> bool {
        matches!(self.info().class, Class::DotProduct)
    }

    /// Whether it reads its quad neighbours (x1k-encoding §1.5).
    #[must_use]
    pub const fn is_quad(self) -> bool {
        matches!(self.info().class, Class::Quad)
    }

    /// The alpha unit's operation of the same name, where each unit computes its own channels.
    #[must_use]
    pub fn alpha(self) -> Option<AlphaOp> {
        match self.info().class {
            Class::Plain | Class::Choice | Class::Quad => AlphaOp::from_name(self.name()),
            Class::DotProduct | Class::Transcendental | Class::Copy => None,
        }
    }
}

impl AlphaOp {
    /// The RGB unit's operation of the same name, where each unit computes its own channels.
    #[must_use]
    pub fn rgb(self) -> Option<RgbOp> {
        RgbOp::from_name(self.name()).filter(|rgb| rgb.alpha() == Some(self))
    }

    /// Whether the result is one that `RGB_SOP` can copy (CTM §3.3.4).
    #[must_use]
    pub const fn is_transcendental(self) -> bool {
        matches!(self.info().class, Class::Transcendental)
    }

    /// Whether it reads its quad neighbours (x1k-encoding §1.5).
    #[must_use]
    pub const fn is_quad(self) -> bool {
        matches!(self.info().class, Class::Quad)
    }
}

/// The source components of a texture operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexReads {
    /// Nothing.
    Nothing,
    /// The coordinates S and T.
    St,
    /// The coordinates, and Q.
    Stq,
    /// The coordinates, and the gradients of `TEX_ADDR_DXDY`.
    StGradients,
    /// The channels that the write mask names; swizzles are ignored.
    Masked,
}

ops! {
    /// Texture operation.
    pub enum TexOp cite "CTM §3.4.1" info TexReads {
        /// Does nothing, but may acquire the texture semaphore.
        Nop "NOP" 0 => TexReads::Nothing;
        /// Reads an input at the source coordinates.
        Lookup "LOOKUP" 1 => TexReads::St;
        /// Kills the processor when a masked channel of the source is less than zero.
        KillLt0 "KILL_LT_0" 2 => TexReads::Masked;
        /// Reads an input at the source coordinates divided by Q.
        LookupProj "LOOKUP_PROJ" 3 => TexReads::Stq;
        /// Lookup with a level-of-detail bias; inputs have one level, so it reads as LOOKUP.
        LodBias "LODBIAS" 4 cite "x1k-encoding §1.6" => TexReads::Stq;
        /// Lookup at a given level of detail; inputs have one level, so it reads as LOOKUP.
        Lod "LOD" 5 cite "x1k-encoding §1.6" => TexReads::Stq;
        /// Lookup with given gradients; inputs have one level, so it reads as LOOKUP.
        Dxdy "DXDY" 6 cite "x1k-encoding §1.6" => TexReads::StGradients;
        /// Reads elements written by uncached writes. The number is inferred (the only free one): UNVERIFIED.
        LookupUncached "LOOKUP_UNCACHED" 7 => TexReads::St;
    }
}

impl TexOp {
    /// Whether it reads an input and writes the destination.
    #[must_use]
    pub const fn is_lookup(self) -> bool {
        matches!(self.info(), TexReads::St | TexReads::Stq | TexReads::StGradients)
    }
}

ops! {
    /// Channel of a texture source or result.
    pub enum Channel cite "CTM §3.4" {
        /// Red.
        R "R" 0;
        /// Green.
        G "G" 1;
        /// Blue.
        B "B" 2;
        /// Alpha.
        A "A" 3;
    }
}

ops! {
    /// Loop-stack operation of a flow-control instruction.
    pub enum FcOp cite "CTM §3.5.3" {
        /// None.
        Jump "JUMP" 0;
        /// Initialise count and aL and push the loop stack if stay.
        Loop "LOOP" 1;
        /// Count and step aL if jump, else pop the loop stack.
        EndLoop "ENDLOOP" 2;
        /// Initialise the count and push the loop stack if stay.
        Rep "REP" 3;
        /// Count if jump, else pop the loop stack.
        EndRep "ENDREP" 4;
        /// Pop the loop stack (innermost LOOP) if jump.
        BreakLoop "BREAKLOOP" 5;
        /// Pop the loop stack (innermost REP) if jump.
        BreakRep "BREAKREP" 6;
        /// Disable processors until the end of the current loop.
        Continue "CONTINUE" 7;
    }
}

ops! {
    /// Address-stack operation of a flow-control instruction.
    pub enum AOp cite "CTM §3.5.3" {
        /// None.
        None "NONE" 0;
        /// Pop the address stack if jump; overrides `JUMP_ADDR`.
        Pop "POP" 1;
        /// Push the address stack if jump.
        Push "PUSH" 2;
    }
}

ops! {
    /// Branch-counter operation of a flow-control instruction, if stay (`B_OP0`) or if jump (`B_OP1`).
    pub enum BOp cite "CTM §3.5.3" {
        /// None.
        None "NONE" 0;
        /// Decrement the branch counters of inactive processors by `B_POP_CNT`; activate those that go negative.
        Decr "DECR" 1;
        /// Increment the branch counters of inactive processors; deactivate those that disagree with the decision.
        Incr "INCR" 2;
    }
}
