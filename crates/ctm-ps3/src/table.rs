//! The instructions of the language: one row each. Parser, messages and documentation go by them.

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the rows below say what each one is")]
pub enum TableOp {
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
    pub op: TableOp,
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
    op: TableOp,
    to: To,
    from: &'static [From],
    means: &'static str,
    becomes: &'static str,
) -> Row {
    Row { name, op, to, from, compares: false, means, becomes }
}

const fn comparing(
    name: &'static str,
    op: TableOp,
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
    row("nop",     TableOp::Nop,     To::Nothing,   &[],                      "nothing",                                     "nothing"),
    row("mov",     TableOp::Mov,     XYZW,          &[V],                     "a",                                           "MAX, its bits unchanged"),
    row("add",     TableOp::Add,     XYZW,          &[V, V],                  "a + b",                                       "MAD"),
    row("sub",     TableOp::Sub,     XYZW,          &[V, V],                  "a - b",                                       "MAD"),
    row("mul",     TableOp::Mul,     XYZW,          &[V, V],                  "a * b",                                       "MAD"),
    row("mad",     TableOp::Mad,     XYZW,          &[V, V, V],               "a * b + c, rounded once",                     "MAD"),
    row("dp2add",  TableOp::Dp2add,  XYZW,          &[V, V, S],               "a.x*b.x + a.y*b.y + c",                       "D2A"),
    row("dp3",     TableOp::Dp3,     XYZW,          &[V, V],                  "a.x*b.x + a.y*b.y + a.z*b.z",                 "DP3"),
    row("dp4",     TableOp::Dp4,     XYZW,          &[V, V],                  "a.x*b.x + a.y*b.y + a.z*b.z + a.w*b.w",       "DP4"),
    row("min",     TableOp::Min,     XYZW,          &[V, V],                  "a < b ? a : b",                               "MIN"),
    row("max",     TableOp::Max,     XYZW,          &[V, V],                  "a >= b ? a : b",                              "MAX"),
    row("slt",     TableOp::Slt,     XYZW,          &[V, V],                  "a < b ? 1 : 0",                               "MAD, CMP"),
    row("sge",     TableOp::Sge,     XYZW,          &[V, V],                  "a >= b ? 1 : 0",                              "MAD, CMP"),
    row("abs",     TableOp::Abs,     XYZW,          &[V],                     "|a|",                                         "an operand's modifier"),
    row("frc",     TableOp::Frc,     XYZW,          &[V],                     "a - floor(a)",                                "FRC"),
    row("rcp",     TableOp::Rcp,     XYZW,          &[S],                     "1 / a",                                       "RCP"),
    row("rsq",     TableOp::Rsq,     XYZW,          &[S],                     "1 / sqrt(|a|)",                               "RSQ"),
    row("exp",     TableOp::Exp,     XYZW,          &[S],                     "2^a",                                         "EX2"),
    row("expp",    TableOp::Exp,     XYZW,          &[S],                     "2^a",                                         "EX2"),
    row("log",     TableOp::Log,     XYZW,          &[S],                     "log2(|a|)",                                   "LN2"),
    row("logp",    TableOp::Log,     XYZW,          &[S],                     "log2(|a|)",                                   "LN2"),
    row("pow",     TableOp::Pow,     XYZW,          &[S, S],                  "|a|^b",                                       "LN2, MAD, EX2"),
    row("sincos",  TableOp::Sincos,  To::Vector(3), &[S],                     "x: cos(a), y: sin(a), a in radians",          "MAD, COS, SIN"),
    row("sincos",  TableOp::Sincos,  To::Vector(3), &[S, From::Ignored, From::Ignored], "the same; the constants are not needed", "MAD, COS, SIN"),
    row("lrp",     TableOp::Lrp,     XYZW,          &[V, V, V],               "a * (b - c) + c",                             "MAD with a presubtract, or two"),
    row("crs",     TableOp::Crs,     To::Vector(7), &[V, V],                  "the cross product",                           "two MADs"),
    row("nrm",     TableOp::Nrm,     XYZW,          &[V],                     "a / sqrt(a.x^2 + a.y^2 + a.z^2)",             "DP3, RSQ, MAD"),
    row("cmp",     TableOp::Cmp,     XYZW,          &[V, V, V],               "a >= 0 ? b : c",                              "CMP"),
    row("m3x2",    TableOp::M3x2,    To::Vector(3), &[V, From::Rows(2)],      "two dp3 with rows b, b+1",                    "DP3s"),
    row("m3x3",    TableOp::M3x3,    To::Vector(7), &[V, From::Rows(3)],      "three dp3",                                   "DP3s"),
    row("m3x4",    TableOp::M3x4,    XYZW,          &[V, From::Rows(4)],      "four dp3",                                    "DP3s"),
    row("m4x3",    TableOp::M4x3,    To::Vector(7), &[V, From::Rows(3)],      "three dp4",                                   "DP4s"),
    row("m4x4",    TableOp::M4x4,    XYZW,          &[V, From::Rows(4)],      "four dp4",                                    "DP4s"),
    row("dsx",     TableOp::Dsx,     XYZW,          &[V],                     "change of a from column to column",           "MDH"),
    row("dsy",     TableOp::Dsy,     XYZW,          &[V],                     "change of a from row to row",                 "MDV"),
    row("texld",   TableOp::Texld,   XYZW,          &[V, From::Sampler],      "element (a.x, a.y) of the input",             "LOOKUP"),
    row("texldp",  TableOp::Texldp,  XYZW,          &[V, From::Sampler],      "element (a.x / a.w, a.y / a.w)",              "LOOKUP_PROJ"),
    row("texldb",  TableOp::Texldb,  XYZW,          &[V, From::Sampler],      "as texld: there is one level, no bias",       "LOOKUP"),
    row("texldl",  TableOp::Texldl,  XYZW,          &[V, From::Sampler],      "as texld: there is one level",                "LOOKUP"),
    row("texldd",  TableOp::Texldd,  XYZW,          &[V, From::Sampler, V, V], "as texld: gradients choose no level",        "LOOKUP"),
    row("texkill", TableOp::Texkill, To::Examined,  &[],                      "ends the processor if a channel is below 0",  "KILL_LT_0"),
    comparing("setp", TableOp::Setp, To::Predicate, &[V, V],                  "p0 = a ? b, channel by channel",              "MAD"),
    row("if",      TableOp::If,      To::Nothing,   &[From::Condition],       "",                                            "JUMP"),
    comparing("if", TableOp::If,     To::Nothing,   &[S, S],                  "",                                            "MAD, JUMP"),
    row("else",    TableOp::Else,    To::Nothing,   &[],                      "",                                            "JUMP"),
    row("endif",   TableOp::Endif,   To::Nothing,   &[],                      "",                                            "JUMP"),
    row("loop",    TableOp::Loop,    To::Nothing,   &[From::LoopCounter, From::Int], "",                                     "LOOP"),
    row("endloop", TableOp::Endloop, To::Nothing,   &[],                      "",                                            "ENDLOOP"),
    row("rep",     TableOp::Rep,     To::Nothing,   &[From::Int],             "",                                            "REP"),
    row("endrep",  TableOp::Endrep,  To::Nothing,   &[],                      "",                                            "ENDREP"),
    row("break",   TableOp::Break,   To::Nothing,   &[],                      "",                                            "BREAKLOOP, BREAKREP"),
    comparing("break", TableOp::Break, To::Nothing, &[S, S],                  "",                                            "MAD, BREAKLOOP or BREAKREP"),
    row("breakp",  TableOp::Breakp,  To::Nothing,   &[From::Predicate],       "",                                            "BREAKLOOP, BREAKREP"),
    row("call",    TableOp::Call,    To::Nothing,   &[From::Label],           "",                                            "JUMP, PUSH"),
    row("callnz",  TableOp::Callnz,  To::Nothing,   &[From::Label, From::Condition], "",                                     "JUMP, PUSH"),
    row("ret",     TableOp::Ret,     To::Nothing,   &[],                      "",                                            "JUMP, POP"),
    row("label",   TableOp::Label,   To::Nothing,   &[From::Label],           "",                                            "nothing"),
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
