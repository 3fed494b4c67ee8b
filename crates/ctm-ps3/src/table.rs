//! The instructions of the language: one row each. Parser, messages and documentation go by them.

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the rows below say what each one is")]
pub enum Op {
    Nop,
    Mov,
    Add,
    Sub,
    Mul,
    Mad,
    Dp2add,
    Dp3,
    Dp4,
    Min,
    Max,
    Slt,
    Sge,
    Abs,
    Frc,
    Rcp,
    Rsq,
    Exp,
    Log,
    Pow,
    Sincos,
    Lrp,
    Crs,
    Nrm,
    Cmp,
    M3x2,
    M3x3,
    M3x4,
    M4x3,
    M4x4,
    Dsx,
    Dsy,
    Texld,
    Texldp,
    Texldb,
    Texldl,
    Texldd,
    Texkill,
    Setp,
    If,
    Else,
    Endif,
    Loop,
    Endloop,
    Rep,
    Endrep,
    Break,
    Breakp,
    Call,
    Callnz,
    Ret,
    Label,
}

/// The result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Nothing.
    Nothing,
    /// A temporary or an output, in any of the channels given (bit 0 = x).
    Vector(u8),
    /// The predicate.
    Predicate,
    /// Nothing: the register is examined (`texkill`).
    Examined,
}

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Four components of a register that holds numbers.
    Vector,
    /// One component: the swizzle names one channel.
    Scalar,
    /// The first of this number of rows, constants or temporaries that follow each other.
    Rows(u8),
    /// A sampler.
    Sampler,
    /// An integer constant.
    Int,
    /// `aL`.
    LoopCounter,
    /// A boolean constant, or the predicate with one channel.
    Condition,
    /// The predicate with one channel.
    Predicate,
    /// A label.
    Label,
    /// An operand that older versions have and this one ignores.
    Ignored,
}

/// A comparison of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Compare {
    Gt,
    Lt,
    Ge,
    Le,
    Eq,
    Ne,
}

impl Compare {
    /// The suffixes of instructions.
    pub const ALL: [(&'static str, Self); 6] =
        [("gt", Self::Gt), ("lt", Self::Lt), ("ge", Self::Ge), ("le", Self::Le), ("eq", Self::Eq), ("ne", Self::Ne)];
}

/// One instruction of the language.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// As it is written, without `_sat`, `_pp` and comparison.
    pub name: &'static str,
    /// Which one.
    pub op: Op,
    /// Its result.
    pub to: To,
    /// Its operands.
    pub from: &'static [From],
    /// Takes a comparison: `setp_lt`. `If` and `Break` have rows with and without.
    pub compares: bool,
    /// Its formula.
    pub means: &'static str,
    /// Its lowering.
    pub becomes: &'static str,
}

const XYZW: To = To::Vector(15);
const V: From = From::Vector;
const S: From = From::Scalar;

const fn row(
    name: &'static str,
    op: Op,
    to: To,
    from: &'static [From],
    means: &'static str,
    becomes: &'static str,
) -> Row {
    Row { name, op, to, from, compares: false, means, becomes }
}

const fn comparing(
    name: &'static str,
    op: Op,
    to: To,
    from: &'static [From],
    means: &'static str,
    becomes: &'static str,
) -> Row {
    Row { name, op, to, from, compares: true, means, becomes }
}

/// Every instruction. Where a name has several rows, the number of operands or the comparison chooses.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("nop",     Op::Nop,     To::Nothing,   &[],                      "nothing",                                     "nothing"),
    row("mov",     Op::Mov,     XYZW,          &[V],                     "a",                                           "MAX, its bits unchanged"),
    row("add",     Op::Add,     XYZW,          &[V, V],                  "a + b",                                       "MAD"),
    row("sub",     Op::Sub,     XYZW,          &[V, V],                  "a - b",                                       "MAD"),
    row("mul",     Op::Mul,     XYZW,          &[V, V],                  "a * b",                                       "MAD"),
    row("mad",     Op::Mad,     XYZW,          &[V, V, V],               "a * b + c, rounded once",                     "MAD"),
    row("dp2add",  Op::Dp2add,  XYZW,          &[V, V, S],               "a.x*b.x + a.y*b.y + c",                       "D2A"),
    row("dp3",     Op::Dp3,     XYZW,          &[V, V],                  "a.x*b.x + a.y*b.y + a.z*b.z",                 "DP3"),
    row("dp4",     Op::Dp4,     XYZW,          &[V, V],                  "a.x*b.x + a.y*b.y + a.z*b.z + a.w*b.w",       "DP4"),
    row("min",     Op::Min,     XYZW,          &[V, V],                  "a < b ? a : b",                               "MIN"),
    row("max",     Op::Max,     XYZW,          &[V, V],                  "a >= b ? a : b",                              "MAX"),
    row("slt",     Op::Slt,     XYZW,          &[V, V],                  "a < b ? 1 : 0",                               "MAD, CMP"),
    row("sge",     Op::Sge,     XYZW,          &[V, V],                  "a >= b ? 1 : 0",                              "MAD, CMP"),
    row("abs",     Op::Abs,     XYZW,          &[V],                     "|a|",                                         "an operand's modifier"),
    row("frc",     Op::Frc,     XYZW,          &[V],                     "a - floor(a)",                                "FRC"),
    row("rcp",     Op::Rcp,     XYZW,          &[S],                     "1 / a",                                       "RCP"),
    row("rsq",     Op::Rsq,     XYZW,          &[S],                     "1 / sqrt(|a|)",                               "RSQ"),
    row("exp",     Op::Exp,     XYZW,          &[S],                     "2^a",                                         "EX2"),
    row("expp",    Op::Exp,     XYZW,          &[S],                     "2^a",                                         "EX2"),
    row("log",     Op::Log,     XYZW,          &[S],                     "log2(|a|)",                                   "LN2"),
    row("logp",    Op::Log,     XYZW,          &[S],                     "log2(|a|)",                                   "LN2"),
    row("pow",     Op::Pow,     XYZW,          &[S, S],                  "|a|^b",                                       "LN2, MAD, EX2"),
    row("sincos",  Op::Sincos,  To::Vector(3), &[S],                     "x: cos(a), y: sin(a), a in radians",          "MAD, COS, SIN"),
    row("sincos",  Op::Sincos,  To::Vector(3), &[S, From::Ignored, From::Ignored], "the same; the constants are not needed", "MAD, COS, SIN"),
    row("lrp",     Op::Lrp,     XYZW,          &[V, V, V],               "a * (b - c) + c",                             "MAD with a presubtract, or two"),
    row("crs",     Op::Crs,     To::Vector(7), &[V, V],                  "the cross product",                           "two MADs"),
    row("nrm",     Op::Nrm,     XYZW,          &[V],                     "a / sqrt(a.x^2 + a.y^2 + a.z^2)",             "DP3, RSQ, MAD"),
    row("cmp",     Op::Cmp,     XYZW,          &[V, V, V],               "a >= 0 ? b : c",                              "CMP"),
    row("m3x2",    Op::M3x2,    To::Vector(3), &[V, From::Rows(2)],      "two dp3 with rows b, b+1",                    "DP3s"),
    row("m3x3",    Op::M3x3,    To::Vector(7), &[V, From::Rows(3)],      "three dp3",                                   "DP3s"),
    row("m3x4",    Op::M3x4,    XYZW,          &[V, From::Rows(4)],      "four dp3",                                    "DP3s"),
    row("m4x3",    Op::M4x3,    To::Vector(7), &[V, From::Rows(3)],      "three dp4",                                   "DP4s"),
    row("m4x4",    Op::M4x4,    XYZW,          &[V, From::Rows(4)],      "four dp4",                                    "DP4s"),
    row("dsx",     Op::Dsx,     XYZW,          &[V],                     "change of a from column to column",           "MDH"),
    row("dsy",     Op::Dsy,     XYZW,          &[V],                     "change of a from row to row",                 "MDV"),
    row("texld",   Op::Texld,   XYZW,          &[V, From::Sampler],      "element (a.x, a.y) of the input",             "LOOKUP"),
    row("texldp",  Op::Texldp,  XYZW,          &[V, From::Sampler],      "element (a.x / a.w, a.y / a.w)",              "LOOKUP_PROJ"),
    row("texldb",  Op::Texldb,  XYZW,          &[V, From::Sampler],      "as texld: there is one level, no bias",       "LOOKUP"),
    row("texldl",  Op::Texldl,  XYZW,          &[V, From::Sampler],      "as texld: there is one level",                "LOOKUP"),
    row("texldd",  Op::Texldd,  XYZW,          &[V, From::Sampler, V, V], "as texld: gradients choose no level",        "LOOKUP"),
    row("texkill", Op::Texkill, To::Examined,  &[],                      "ends the processor if a channel is below 0",  "KILL_LT_0"),
    comparing("setp", Op::Setp, To::Predicate, &[V, V],                  "p0 = a ? b, channel by channel",              "MAD"),
    row("if",      Op::If,      To::Nothing,   &[From::Condition],       "",                                            "JUMP"),
    comparing("if", Op::If,     To::Nothing,   &[S, S],                  "",                                            "MAD, JUMP"),
    row("else",    Op::Else,    To::Nothing,   &[],                      "",                                            "JUMP"),
    row("endif",   Op::Endif,   To::Nothing,   &[],                      "",                                            "JUMP"),
    row("loop",    Op::Loop,    To::Nothing,   &[From::LoopCounter, From::Int], "",                                     "LOOP"),
    row("endloop", Op::Endloop, To::Nothing,   &[],                      "",                                            "ENDLOOP"),
    row("rep",     Op::Rep,     To::Nothing,   &[From::Int],             "",                                            "REP"),
    row("endrep",  Op::Endrep,  To::Nothing,   &[],                      "",                                            "ENDREP"),
    row("break",   Op::Break,   To::Nothing,   &[],                      "",                                            "BREAKLOOP, BREAKREP"),
    comparing("break", Op::Break, To::Nothing, &[S, S],                  "",                                            "MAD, BREAKLOOP or BREAKREP"),
    row("breakp",  Op::Breakp,  To::Nothing,   &[From::Predicate],       "",                                            "BREAKLOOP, BREAKREP"),
    row("call",    Op::Call,    To::Nothing,   &[From::Label],           "",                                            "JUMP, PUSH"),
    row("callnz",  Op::Callnz,  To::Nothing,   &[From::Label, From::Condition], "",                                     "JUMP, PUSH"),
    row("ret",     Op::Ret,     To::Nothing,   &[],                      "",                                            "JUMP, POP"),
    row("label",   Op::Label,   To::Nothing,   &[From::Label],           "",                                            "nothing"),
];

/// The usages of input declarations.
pub const USAGES: [&str; 13] = [
    "texcoord",
    "color",
    "position",
    "blendweight",
    "blendindices",
    "normal",
    "psize",
    "tangent",
    "binormal",
    "tessfactor",
    "positiont",
    "fog",
    "depth",
];

/// The rows of an instruction's name.
pub fn named(name: &str) -> impl Iterator<Item = &'static Row> {
    let name = name.to_owned();
    ROWS.iter().filter(move |r| r.name == name)
}
