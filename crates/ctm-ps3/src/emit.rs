//! Slots to X1K assembly text, whose assembler gives addresses, waits, flow-control words and program information.

use crate::ir::{
    ALPHA, Alu, BranchCond, Comp, FlowStatement, Guard, Load, Mask, Op, Pre, RGB, Reg, UnitKind, VirtualOperand,
    VirtualProgram, VirtualStatement, ZeroTest, channels,
};
use crate::schedule::Slot;
use ctm_isa::diag::Span;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text, and for each of its lines the place in the shader.
pub(crate) struct Text {
    pub text: String,
    pub lines: Vec<Span>,
}

/// Program-wide settings of the shader's options.
#[derive(Clone, Copy)]
pub(crate) struct Whole {
    pub scaled: bool,
    pub zero_times_anything: bool,
}

const CHANNELS: [char; 4] = ['r', 'g', 'b', 'a'];

fn mask_text(mask: Mask) -> String {
    channels(mask).map(|c| CHANNELS[usize::from(c)]).collect()
}

fn float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        format!("{bits:#010x}")
    } else if value.is_infinite() {
        if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
    } else {
        format!("{value:?}")
    }
}

fn reg(reg: Reg) -> String {
    match reg {
        Reg::Temp(v) => format!("r{v}"),
        Reg::InputRel(n) => format!("r[aL+{n}]"),
        Reg::Const(n) => format!("c{n}"),
        Reg::ConstRel(n) => format!("c[aL+{n}]"),
        Reg::Inline(bits) => float(bits),
    }
}

fn pre(pre: Pre) -> String {
    match pre {
        Pre::Bias(a) => format!("(1 - 2*{})", reg(a)),
        Pre::Sub(a, b) => format!("({} - {})", reg(a), reg(b)),
        Pre::Add(a, b) => format!("({} + {})", reg(a), reg(b)),
        Pre::Inv(a) => format!("(1 - {})", reg(a)),
    }
}

/// The components of an operand that are in `wanted`.
fn operand(operand: &VirtualOperand, wanted: Mask) -> String {
    let list: Vec<Comp> = channels(wanted).map(|c| operand.comps[usize::from(c)]).collect();
    let text = components(&list, operand.pre);
    match (operand.neg, operand.abs) {
        (false, false) => text,
        (true, false) => format!("-{text}"),
        (false, true) => format!("|{text}|"),
        (true, true) => format!("-|{text}|"),
    }
}

fn components(list: &[Comp], presubtract: Option<Pre>) -> String {
    let fixed = |c: Comp| match c {
        Comp::Zero => Some(('0', "0")),
        Comp::Half => Some(('h', "0.5")),
        Comp::One => Some(('1', "1")),
        // It is not read; any letter will do.
        Comp::Absent => Some(('0', "0")),
        Comp::Read(..) | Comp::Pre(_) => None,
    };
    if let Some(first) = list.first().and_then(|&c| fixed(c))
        && list.iter().all(|&c| fixed(c) == Some(first))
    {
        return first.1.to_owned();
    }
    // A number has no channels: it means every component, or as a part of a list.
    let number = |c: Comp| match c {
        Comp::Read(inline @ Reg::Inline(_), _) => Some(inline),
        _ => None,
    };
    if let Some(inline) = list.first().and_then(|&c| number(c))
        && list.iter().all(|&c| number(c) == Some(inline))
    {
        return reg(inline);
    }
    let mut base = None;
    let mut letters = String::new();
    for &comp in list {
        let (name, letter) = match comp {
            Comp::Read(Reg::Inline(_), _) => {
                base = None;
                break;
            }
            Comp::Read(r, c) => (reg(r), CHANNELS[usize::from(c)]),
            Comp::Pre(c) => (presubtract.map_or_else(String::new, pre), CHANNELS[usize::from(c)]),
            _ => {
                letters.push(fixed(comp).map_or('0', |f| f.0));
                continue;
            }
        };
        if *base.get_or_insert_with(|| name.clone()) != name {
            base = None;
            break;
        }
        letters.push(letter);
    }
    match base {
        Some(base) => format!("{base}.{letters}"),
        None => {
            let parts: Vec<String> = list
                .iter()
                .map(|&c| match c {
                    Comp::Read(inline @ Reg::Inline(_), _) => reg(inline),
                    Comp::Read(r, c) => format!("{}.{}", reg(r), CHANNELS[usize::from(c)]),
                    Comp::Pre(c) => {
                        format!("{}.{}", presubtract.map_or_else(String::new, pre), CHANNELS[usize::from(c)])
                    }
                    other => fixed(other).map_or("0", |f| f.1).to_owned(),
                })
                .collect();
            format!("({})", parts.join(", "))
        }
    }
}

fn test(test: ZeroTest) -> &'static str {
    match test {
        ZeroTest::Eq => "eq",
        ZeroTest::Lt => "lt",
        ZeroTest::Ge => "ge",
        ZeroTest::Ne => "ne",
    }
}

/// Where the channels of `unit` go.
fn destination(alu: &Alu, unit: Mask) -> String {
    let dest = &alu.dest;
    let mask = dest.mask & unit;
    if dest.w {
        return "w".to_owned();
    }
    if let Some(result) = dest.result {
        return format!("res(a {})", test(result));
    }
    let letters = mask_text(mask);
    match (dest.pred, dest.out) {
        (Some(pred), _) => format!("p.{letters}({})", test(pred)),
        (None, Some(out)) => format!("o{out}.{letters}"),
        (None, None) => match dest.temp_of(channels(mask).next().unwrap_or(0)) {
            Some(v) => format!("r{v}.{letters}"),
            None => "_".to_owned(),
        },
    }
}

fn modifiers(alu: &Alu) -> String {
    let omod = match alu.omod {
        1 => " *2",
        2 => " *4",
        3 => " *8",
        -1 => " /2",
        -2 => " /4",
        -3 => " /8",
        _ => "",
    };
    format!("{omod}{}", if alu.sat { " sat" } else { "" })
}

fn guard(guard: Option<Guard>) -> String {
    match guard {
        None => String::new(),
        Some(g) => {
            let bits = g.channel.map_or_else(|| "rgba".to_owned(), |c| CHANNELS[usize::from(c)].to_string());
            format!("({}p.{bits}) ", if g.not { "!" } else { "" })
        }
    }
}

/// One operation as a statement for the channels of `unit`.
fn statement(alu: &Alu, unit: Mask) -> String {
    let all = |comp: Comp, n: usize| {
        let operand = &alu.src[n];
        !operand.has_modifier() && channels(alu.components(n) & unit).all(|c| operand.comps[usize::from(c)] == comp)
    };
    let text = |n: usize| {
        let wanted = match alu.op.kind() {
            UnitKind::Wide => alu.components(n) & unit,
            UnitKind::Dot | UnitKind::Scalar => alu.components(n),
        };
        operand(&alu.src[n], wanted)
    };
    let (name, operands): (&str, &[usize]) = match alu.op {
        Op::Mad if all(Comp::One, 1) => ("add", &[0, 2]),
        Op::Mad if all(Comp::Zero, 2) => ("mul", &[0, 1]),
        Op::Mad => ("mad", &[0, 1, 2]),
        Op::Mov => ("mov", &[0]),
        Op::Min => ("min", &[0, 1]),
        Op::Max => ("max", &[0, 1]),
        Op::Cmp => ("cmp", &[0, 1, 2]),
        Op::Frc => ("frc", &[0]),
        Op::Mdh => ("mdh", &[0, 1]),
        Op::Mdv => ("mdv", &[0, 1]),
        Op::Dp3 => ("dp3", &[0, 1]),
        Op::Dp4 => ("dp4", &[0, 1]),
        Op::D2a => ("d2a", &[0, 1, 2]),
        Op::Ex2 => ("ex2", &[0]),
        Op::Ln2 => ("lg2", &[0]),
        Op::Rcp => ("rcp", &[0]),
        Op::Rsq => ("rsq", &[0]),
        Op::Sin => ("sin", &[0]),
        Op::Cos => ("cos", &[0]),
    };
    let list: Vec<String> = operands.iter().map(|&n| text(n)).collect();
    format!("{name} {}, {}{}", destination(alu, unit), list.join(", "), modifiers(alu))
}

/// The halves of a slot as text: RGB and alpha.
fn halves(alu: &Alu) -> (Option<String>, Option<String>) {
    let (rgb, alpha) = (alu.dest.mask & RGB != 0, alu.dest.mask & ALPHA != 0);
    let (to_rgb, to_alpha) = (|| destination(alu, RGB), || destination(alu, ALPHA));
    let changes = modifiers(alu);
    match alu.op.kind() {
        UnitKind::Scalar if rgb && alpha => (Some(format!("sop {}{changes}", to_rgb())), Some(statement(alu, ALPHA))),
        UnitKind::Dot if alu.op == Op::Dp4 && rgb && alpha => {
            let part = |n: usize, of: Mask| operand(&alu.src[n], of);
            (
                Some(format!("dp4 {}, {}, {}{changes}", to_rgb(), part(0, RGB), part(1, RGB))),
                Some(format!("dp {}, {}, {}{changes}", to_alpha(), part(0, ALPHA), part(1, ALPHA))),
            )
        }
        UnitKind::Dot if rgb && alpha => (Some(statement(alu, RGB)), Some(format!("dp {}{changes}", to_alpha()))),
        UnitKind::Dot if rgb => (Some(statement(alu, RGB)), None),
        UnitKind::Dot | UnitKind::Scalar => {
            // One statement that needs the other unit too.
            if rgb { (Some(statement(alu, RGB)), None) } else { (None, Some(statement(alu, ALPHA))) }
        }
        UnitKind::Wide => (rgb.then(|| statement(alu, RGB)), alpha.then(|| statement(alu, ALPHA))),
    }
}

fn pair(a: &Alu, b: Option<&Alu>) -> String {
    let (mut rgb, mut alpha) = halves(a);
    let (mut rgb_guard, mut alpha_guard) = (a.guard, a.guard);
    if let Some(b) = b {
        let (other_rgb, other_alpha) = halves(b);
        if other_rgb.is_some() {
            (rgb, rgb_guard) = (other_rgb, b.guard);
        }
        if other_alpha.is_some() {
            (alpha, alpha_guard) = (other_alpha, b.guard);
        }
    }
    match (rgb, alpha) {
        (Some(rgb), Some(alpha)) => {
            let first = format!("{}{rgb}", guard(rgb_guard));
            let second = match (rgb_guard, alpha_guard) {
                (Some(_), None) => "(always) ".to_owned(),
                (_, own) => guard(own),
            };
            format!("{first:<44} | {second}{alpha}")
        }
        (Some(rgb), None) => format!("{}{rgb}", guard(rgb_guard)),
        (None, Some(alpha)) => format!("{}{alpha}", guard(alpha_guard)),
        (None, None) => "idle".to_owned(),
    }
}

fn condition(condition: BranchCond) -> String {
    match condition {
        BranchCond::Result => "res".to_owned(),
        BranchCond::Predicate { channel, not } => {
            format!("{}p.{}", if not { "!" } else { "" }, CHANNELS[usize::from(channel)])
        }
        BranchCond::Bool { index, not } => format!("{}b{index}", if not { "!" } else { "" }),
    }
}

fn flow(flow: FlowStatement) -> String {
    match flow {
        FlowStatement::If(c) => format!("if {}", condition(c)),
        FlowStatement::Else => "else".to_owned(),
        FlowStatement::Endif => "endif".to_owned(),
        FlowStatement::Loop { rep, int } => format!("{} i{int}", if rep { "rep" } else { "loop" }),
        FlowStatement::Endloop { rep } => if rep { "endrep" } else { "endloop" }.to_owned(),
        FlowStatement::Break(None) => "break".to_owned(),
        FlowStatement::Break(Some(c)) => format!("break {}", condition(c)),
        FlowStatement::Call(label, None) => format!("call sub{label}"),
        FlowStatement::Call(label, Some(c)) => format!("call sub{label} {}", condition(c)),
        FlowStatement::End => "end".to_owned(),
        FlowStatement::Label(label) => format!("sub{label}:"),
        FlowStatement::Ret => "ret".to_owned(),
    }
}

/// References of the code.
#[derive(Default)]
struct Uses {
    inputs: BTreeSet<u8>,
    outputs: BTreeSet<u8>,
    floats: BTreeSet<u8>,
    ints: BTreeSet<u8>,
    bools: BTreeSet<u8>,
    relative: bool,
}

impl Uses {
    fn of(slots: &[Slot]) -> Self {
        let mut uses = Self::default();
        for inst in slots.iter().flat_map(Slot::insts) {
            match inst {
                VirtualStatement::Alu(alu) => {
                    uses.outputs.extend(alu.dest.out);
                    for (reg, _) in alu.reads() {
                        match reg {
                            Reg::Const(n) => {
                                uses.floats.insert(n);
                            }
                            Reg::ConstRel(_) => uses.relative = true,
                            Reg::Temp(_) | Reg::InputRel(_) | Reg::Inline(_) => {}
                        }
                    }
                }
                VirtualStatement::Tex(tex) => {
                    uses.inputs.insert(tex.sampler);
                }
                VirtualStatement::Flow(flow, _) => match flow {
                    FlowStatement::Loop { int, .. } => {
                        uses.ints.insert(int);
                    }
                    FlowStatement::If(c) | FlowStatement::Break(Some(c)) | FlowStatement::Call(_, Some(c)) => {
                        if let BranchCond::Bool { index, .. } = c {
                            uses.bools.insert(index);
                        }
                    }
                    _ => {}
                },
                VirtualStatement::Kill { .. } => {}
            }
        }
        uses
    }
}

fn directives(code: &VirtualProgram, uses: &Uses, real: &[u8], whole: Whole) -> Vec<String> {
    let mut lines = Vec::new();
    if whole.zero_times_anything {
        lines.push(".zero_times_anything".to_owned());
    }
    for &(v, load) in &code.loads {
        let to = real[v as usize];
        lines.push(match load {
            Load::Position => format!(".position r{to}"),
            Load::Interpolant(n) => format!(".interp t{n} -> r{to}"),
        });
    }
    if code.loads.is_empty() {
        lines.push(".position none".to_owned());
    }
    let name = |file: char, n: u8| code.names.get(&(file, n)).cloned().unwrap_or_else(|| format!("{file}{n}"));
    lines.extend(uses.inputs.iter().map(|&n| format!(".input \"{}\" = s{n}", name('s', n))));
    lines.extend(uses.outputs.iter().map(|n| format!(".output \"oC{n}\" = o{n}")));
    // With relative addresses every constant that the text defines may be read.
    let mut floats = uses.floats.clone();
    if uses.relative {
        floats.extend(code.floats.keys());
    }
    for n in floats {
        lines.push(match code.floats.get(&n) {
            Some(value) => format!(".const c{n} ({})", value.map(float).join(", ")),
            None => format!(".const \"{}\" = c{n}", name('c', n)),
        });
    }
    for &n in &uses.ints {
        lines.push(match code.ints.get(&n) {
            Some([count, start, step, _]) => format!(".int i{n} ({count}, {start}, {})", i8::from_ne_bytes([*step])),
            None => format!(".int \"{}\" = i{n}", name('i', n)),
        });
    }
    for &n in &uses.bools {
        lines.push(match code.bools.get(&n) {
            Some(value) => format!(".bool b{n} ({value})"),
            None => format!(".bool \"{}\" = b{n}", name('b', n)),
        });
    }
    lines
}

/// Prints the program.
pub(crate) fn emit(code: &VirtualProgram, slots: &[Slot], real: &[u8], whole: Whole) -> Text {
    let uses = Uses::of(slots);
    let mut out = Text { text: String::new(), lines: Vec::new() };
    let mut line = |text: &str, span: Span| {
        let _ = writeln!(out.text, "{text}");
        out.lines.push(span);
    };
    for directive in directives(code, &uses, real, whole) {
        line(&directive, Span::default());
    }
    let mut depth = 1usize;
    for slot in slots {
        let (text, span, indent) = match slot {
            Slot::Alu(a, b) => (pair(a, b.as_ref()), a.span, depth),
            Slot::Other(inst) => {
                let mut indent = depth;
                let text = match inst {
                    VirtualStatement::Tex(tex) => {
                        let letter = |c: u8| CHANNELS[usize::from(c)];
                        let result: String = channels(tex.mask).map(|c| letter(tex.swizzle[usize::from(c)])).collect();
                        let [s, t, q] = tex.channels.map(letter);
                        let name = if tex.project { "texp" } else { "tex" };
                        let coord = if tex.project { format!("{s}{t}{q}{q}") } else { format!("{s}{t}") };
                        let scaled = if whole.scaled { " scaled" } else { "" };
                        format!(
                            "{}{name} r{}.{}, s{}.{result}, r{}.{coord}{scaled}",
                            guard(tex.guard),
                            tex.dest,
                            mask_text(tex.mask),
                            tex.sampler,
                            tex.coord
                        )
                    }
                    VirtualStatement::Kill { temp, mask, guard: g, .. } => {
                        format!("{}texkill r{temp}.{}", guard(*g), mask_text(*mask))
                    }
                    VirtualStatement::Flow(f, _) => {
                        match f {
                            FlowStatement::Endif | FlowStatement::Endloop { .. } => {
                                (depth, indent) = (depth - 1, depth - 1)
                            }
                            FlowStatement::Else => indent = depth - 1,
                            FlowStatement::If(_) | FlowStatement::Loop { .. } => depth += 1,
                            FlowStatement::Label(_) => (depth, indent) = (1, 0),
                            _ => {}
                        }
                        flow(*f)
                    }
                    VirtualStatement::Alu(_) => "idle".to_owned(),
                };
                (text, inst.span(), indent)
            }
        };
        line(&format!("{:indent$}{text}", "", indent = indent * 8), span);
    }
    out
}
