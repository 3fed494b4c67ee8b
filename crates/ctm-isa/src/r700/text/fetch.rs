//! Fetches as text: printer and parser.

use super::alu::chan_from_byte;
use super::cursor::{Cursor, Parsed, Reported, nearest};
use super::extra::{self, Extra};
use super::names::Names;
use crate::diag::{Diagnostic, Span};
use crate::r700::formats::{
    MemDsrWord0, MemDsrWord1, MemDsrWord2, MemDswWord0, MemDswWord1, MemDswWord2, MemRdWord0, MemRdWord1, MemRdWord2,
    TexWord0, TexWord1, TexWord2, VtxWord0, VtxWord1Gpr, VtxWord1Sem, VtxWord2,
};
use crate::r700::inst::{
    Fetch, FetchInst, MemDsr, MemDsw, MemRd, TexFetch, VtxFetch, VtxWord1, lod_bias, texel_offset,
};
use crate::r700::ops::{
    Chan, DataFormat, EndianSwap, FetchType, FormatComp, MemOp, MuxCntl, NumFormat, RelMode, Sel, SrfMode, TexOp, VtxOp,
};
use crate::r700::program::SymbolKind;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

// ---- mnemonics

/// What a fetch mnemonic names.
#[derive(Clone, Copy)]
pub(super) enum FetchMnemonic {
    Tex(TexOp),
    Vtx(VtxOp),
    Mem(MemOp),
}

static MNEMONICS: LazyLock<HashMap<&'static str, FetchMnemonic>> = LazyLock::new(|| {
    let tex = TexOp::ALL.iter().filter(|op| !matches!(op, TexOp::VtxFetch | TexOp::VtxSemantic | TexOp::Mem));
    let mut names: HashMap<_, _> =
        tex.flat_map(|&op| [(op.name(), FetchMnemonic::Tex(op)), (op.listing(), FetchMnemonic::Tex(op))]).collect();
    names.extend(MemOp::ALL.iter().map(|&op| (op.name(), FetchMnemonic::Mem(op))));
    names.extend([
        ("FETCH", FetchMnemonic::Vtx(VtxOp::Fetch)),
        ("VTX_FETCH", FetchMnemonic::Vtx(VtxOp::Fetch)),
        ("SEMANTIC", FetchMnemonic::Vtx(VtxOp::Semantic)),
        ("VTX_SEMANTIC", FetchMnemonic::Vtx(VtxOp::Semantic)),
    ]);
    names
});

pub(super) fn mnemonic(name: &str) -> Option<FetchMnemonic> {
    MNEMONICS.get(name).copied()
}

pub(super) fn is_mnemonic(name: &str) -> bool {
    MNEMONICS.contains_key(name)
}

pub(super) fn all_mnemonics() -> impl Iterator<Item = &'static str> {
    MNEMONICS.keys().copied()
}

// ---- parts

/// Prints `.xyzw`, with `0`, `1` and `_`.
pub(super) fn print_swizzle(out: &mut String, swizzle: [Sel; 4]) {
    out.push('.');
    swizzle.iter().for_each(|s| out.push_str(s.name()));
}

fn sel_from_byte(byte: u8) -> Option<Sel> {
    match byte {
        b'0' => Some(Sel::Zero),
        b'1' => Some(Sel::One),
        b'_' => Some(Sel::Mask),
        byte => chan_from_byte(byte).and_then(|c| Sel::from_code(c.code())),
    }
}

/// Reads up to four elements behind a dot; without a dot `.xyzw`. Missing elements are masked.
pub(super) fn parse_swizzle(c: &mut Cursor<'_>) -> Parsed<[Sel; 4]> {
    if !c.eat_adjacent(b'.') {
        return Ok([Sel::X, Sel::Y, Sel::Z, Sel::W]);
    }
    let start = c.place();
    let mut swizzle = [Sel::Mask; 4];
    let mut n = 0;
    while let Some(sel) = sel_from_byte(c.next_byte()) {
        c.eat_adjacent(c.next_byte());
        if n == 4 {
            return c.fail("swizzle", start, "a swizzle has at most four elements");
        }
        swizzle[n] = sel;
        n += 1;
    }
    if n == 0 || c.next_byte().is_ascii_alphanumeric() {
        return c.fail("swizzle", start, "a swizzle is made of x, y, z, w, 0, 1 and _");
    }
    Ok(swizzle)
}

/// Reads `R5`, `R5[AL]`, `R[AL+5]` or a register's name.
pub(super) fn parse_register(c: &mut Cursor<'_>, names: &Names) -> Parsed<(u8, bool)> {
    let (gpr, mode) = parse_register_mode(c, names)?;
    match mode {
        RelMode::None => Ok((gpr, false)),
        RelMode::Loop => Ok((gpr, true)),
        RelMode::Global => {
            let at = c.place();
            c.fail("index", at, "only data share operations have global registers")
        }
    }
}

fn parse_register_mode(c: &mut Cursor<'_>, names: &Names) -> Parsed<(u8, RelMode)> {
    c.peek();
    let start = c.place();
    let word = c.word().unwrap_or_default();
    let digits = word.strip_prefix('R').filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
    let mut number: Option<u32> = match (digits, names.get(word)) {
        (Some(digits), _) => digits.parse().ok(),
        (None, Some((SymbolKind::Gpr, index))) => Some(u32::from(index)),
        (None, _) => {
            let found = if word.is_empty() { c.found() } else { format!("`{word}`") };
            return c.fail("operand", start, format!("a register is expected here, not {found}: R5 or R5[AL]"));
        }
    };
    let mut mode = RelMode::None;
    if c.eat_adjacent(b'[') {
        loop {
            c.peek();
            let at = c.place();
            if c.peek().is_ascii_digit() {
                number = Some(number.unwrap_or(0).saturating_add(c.integer("a register", 127)?));
            } else {
                mode = match c.word() {
                    Some("AL" | "aL") => RelMode::Loop,
                    Some("GLOBAL") => RelMode::Global,
                    _ => return c.fail("index", at, "a fetch's register is relative to AL only"),
                };
            }
            if c.eat(b']') {
                break;
            }
            c.expect(b'+', "inside an index")?;
        }
        // `R[AL]` is register 0.
        number = number.or(Some(0));
    }
    match number.and_then(|n| u8::try_from(n).ok()).filter(|&n| n < 128) {
        Some(n) => Ok((n, mode)),
        None => c.fail("range", start, "registers are R0 to R127"),
    }
}

fn print_register(out: &mut String, gpr: u8, mode: RelMode) {
    let _ = match mode {
        RelMode::None => write!(out, "R{gpr}"),
        RelMode::Loop => write!(out, "R{gpr}[AL]"),
        RelMode::Global => write!(out, "R{gpr}[GLOBAL]"),
    };
}

fn rel(relative: bool) -> RelMode {
    if relative { RelMode::Loop } else { RelMode::None }
}

/// Reads a resource, sampler or buffer: `t18`, or a name.
fn parse_id(c: &mut Cursor<'_>, names: &Names, letter: char, kind: SymbolKind, max: u8) -> Parsed<u8> {
    c.peek();
    let start = c.place();
    let word = c.word().unwrap_or_default();
    let index = match names.get(word) {
        Some((found, index)) if found == kind => Some(u32::from(index)),
        _ => word.strip_prefix(letter).and_then(|d| d.parse().ok()),
    };
    match index.and_then(|n| u8::try_from(n).ok()).filter(|&n| n <= max) {
        Some(n) => Ok(n),
        None => {
            let found = if word.is_empty() { c.found() } else { format!("`{word}`") };
            let what = match kind {
                SymbolKind::Resource => "a texture",
                SymbolKind::Sampler => "a sampler",
                _ => "a buffer",
            };
            c.fail("operand", start, format!("{what} is expected here, not {found}: {letter}0 to {letter}{max}"))
        }
    }
}

fn parenthesised(c: &mut Cursor<'_>, what: &str, max: u32) -> Parsed<u32> {
    c.expect(b'(', "here")?;
    let value = c.integer(what, max)?;
    c.expect(b')', "behind the number")?;
    Ok(value)
}

fn named<T: Copy>(c: &mut Cursor<'_>, all: &[T], name: impl Fn(T) -> &'static str) -> Parsed<T> {
    c.expect(b'(', "here")?;
    c.peek();
    let start = c.place();
    // Some names begin with a digit.
    let text = c.word().or_else(|| c.number_text()).unwrap_or_default();
    let found = all.iter().copied().find(|&v| name(v) == text);
    let Some(value) = found else {
        let allowed: Vec<_> = all.iter().map(|&v| name(v)).collect();
        return c.fail("modifier", start, format!("`{text}` is none of {}", allowed.join(", ")));
    };
    c.expect(b')', "behind the name")?;
    Ok(value)
}

fn narrow(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

// ---- formats of data

#[derive(Clone, Copy, PartialEq, Eq)]
struct Format {
    data: DataFormat,
    num: NumFormat,
    comp: FormatComp,
    srf: SrfMode,
}

impl Format {
    const NONE: Self = Self {
        data: DataFormat::FmtInvalid,
        num: NumFormat::Norm,
        comp: FormatComp::Unsigned,
        srf: SrfMode::ZeroClampMinusOne,
    };

    fn print(self, out: &mut String) {
        let data = self.data.name();
        let _ = write!(out, " FORMAT({} {}", data.strip_prefix("FMT_").unwrap_or(data), self.num.name());
        out.push(' ');
        out.push_str(self.comp.name());
        if self.srf != SrfMode::ZeroClampMinusOne {
            out.push(' ');
            out.push_str(self.srf.name());
        }
        out.push(')');
    }

    /// Reads `(32_32_FLOAT NORM UNSIGNED NO_ZERO)`: all but the first may be left out, numbers stand for names.
    fn parse(c: &mut Cursor<'_>) -> Parsed<Self> {
        c.expect(b'(', "behind FORMAT")?;
        c.peek();
        let start = c.place();
        let text = c.word().or_else(|| c.number_text()).unwrap_or_default();
        let bare = text.strip_prefix("FMT_").unwrap_or(text);
        let data = DataFormat::ALL
            .iter()
            .copied()
            .find(|f| f.name().strip_prefix("FMT_") == Some(bare))
            .or_else(|| bare.parse().ok().and_then(DataFormat::from_code));
        let Some(data) = data else {
            let near = nearest(bare, DataFormat::ALL.iter().map(|f| f.name().strip_prefix("FMT_").unwrap_or(f.name())));
            let span = c.span(start);
            let mut d =
                Diagnostic::error("format", format!("`{text}` is not a data format")).at(span, "").cite("R700 §10.3");
            if let Some(near) = near {
                d = d.help(format!("did you mean `{near}`?"));
            }
            c.report(d);
            return Err(Reported);
        };
        let mut format = Self { data, ..Self::NONE };
        while !c.eat(b')') {
            let at = c.place();
            match c.word().or_else(|| c.number_text()) {
                Some("NORM") => format.num = NumFormat::Norm,
                Some("INT") => format.num = NumFormat::Int,
                Some("SCALED") => format.num = NumFormat::Scaled,
                Some("SIGNED") => format.comp = FormatComp::Signed,
                Some("UNSIGNED") => format.comp = FormatComp::Unsigned,
                Some("NO_ZERO" | "1") => format.srf = SrfMode::NoZero,
                Some("ZERO_CLAMP_MINUS_ONE" | "0") => format.srf = SrfMode::ZeroClampMinusOne,
                _ => {
                    return c.fail(
                        "format",
                        at,
                        "a format is a data format, NORM, INT or SCALED, SIGNED or UNSIGNED, and NO_ZERO",
                    );
                }
            }
        }
        Ok(format)
    }
}

// ---- fixed point

/// Reads `(1.5)` as a two's complement field with `fraction` bits behind the point.
fn parse_fixed(c: &mut Cursor<'_>, bits: u32, fraction: u32) -> Parsed<u8> {
    c.expect(b'(', "here")?;
    let negative = c.eat(b'-');
    c.peek();
    let start = c.place();
    let text = c.number_text().unwrap_or_default();
    let Ok(value) = text.strip_suffix(['f', 'F']).unwrap_or(text).parse::<f32>() else {
        return c.fail("syntax", start, "a number is expected here");
    };
    let scale = f32::from(1u8 << fraction);
    let scaled = if negative { -value } else { value } * scale;
    let limit = f32::from(1u8 << (bits - 1));
    if scaled.fract() != 0.0 || !(-limit..limit).contains(&scaled) {
        return c.fail(
            "range",
            start,
            format!("the value goes from {} to {} in steps of {}", -limit / scale, (limit - 1.0) / scale, 1.0 / scale),
        );
    }
    c.expect(b')', "behind the number")?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number in range, as two's complement"
    )]
    Ok((scaled as i8 as u8) & ((1u16 << bits) - 1) as u8)
}

// ---- printing

/// Prints a fetch from its mnemonic on.
pub(super) fn print(out: &mut String, inst: &FetchInst, words: [u32; 4]) {
    let said = match &inst.fetch {
        Fetch::Vtx(i) => print_vtx(out, i),
        Fetch::Tex(i) => print_tex(out, i),
        Fetch::MemRd(i) => print_mem_rd(out, i),
        Fetch::MemDsw(i) => print_dsw(out, i),
        Fetch::MemDsr(i) => print_dsr(out, i),
    };
    extra::print(out, &inst.fetch.formats(), &words[..3], &said);
    if inst.padding != 0 {
        let _ = write!(out, " PAD(0x{:08X})", inst.padding);
    }
}

fn pad_name(out: &mut String, name: &str) {
    let _ = write!(out, "{name:<15} ");
}

fn print_vtx(out: &mut String, i: &VtxFetch) -> [u32; 3] {
    pad_name(out, i.word0.op.name());
    let (use_const, format) = match &i.word1 {
        VtxWord1::Gpr(w) => {
            print_register(out, w.dst_gpr, rel(w.dst_rel));
            (
                w.use_const_fields,
                Format { data: w.data_format, num: w.num_format_all, comp: w.format_comp_all, srf: w.srf_mode_all },
            )
        }
        VtxWord1::Sem(w) => {
            let _ = write!(out, "SEM[{}]", w.semantic_id);
            (
                w.use_const_fields,
                Format { data: w.data_format, num: w.num_format_all, comp: w.format_comp_all, srf: w.srf_mode_all },
            )
        }
    };
    print_swizzle(out, i.word1.swizzle());
    out.push_str(", ");
    print_register(out, i.word0.src_gpr, rel(i.word0.src_rel));
    let _ =
        write!(out, ".{}, b{} FETCH_TYPE({})", i.word0.src_sel_x.name(), i.word0.buffer_id, i.word0.fetch_type.name());
    if !use_const {
        format.print(out);
    }
    let bytes = u32::from(i.word0.mega_fetch_count) + 1;
    let _ = write!(out, " {}({bytes}) OFFSET({})", if i.word2.mega_fetch { "MEGA" } else { "MINI" }, i.word2.offset);
    if i.word0.fetch_whole_quad {
        out.push_str(" WHOLE_QUAD");
    }
    print_endian(out, i.word2.endian_swap);
    if i.word2.const_buf_no_stride {
        out.push_str(" CONST_BUF_NO_STRIDE");
    }
    if i.word2.alt_const {
        out.push_str(" ALT_CONST");
    }
    let mut said = *i;
    if use_const {
        set_format(&mut said.word1, Format::NONE, true);
    }
    Fetch::Vtx(said).encode()
}

fn set_format(word: &mut VtxWord1, format: Format, use_const: bool) {
    match word {
        VtxWord1::Gpr(w) => {
            (w.data_format, w.num_format_all, w.format_comp_all, w.srf_mode_all) =
                (format.data, format.num, format.comp, format.srf);
            w.use_const_fields = use_const;
        }
        VtxWord1::Sem(w) => {
            (w.data_format, w.num_format_all, w.format_comp_all, w.srf_mode_all) =
                (format.data, format.num, format.comp, format.srf);
            w.use_const_fields = use_const;
        }
    }
}

fn print_endian(out: &mut String, swap: EndianSwap) {
    if swap != EndianSwap::None {
        let _ = write!(out, " ENDIAN_SWAP({})", swap.name());
    }
}

fn print_tex(out: &mut String, i: &TexFetch) -> [u32; 3] {
    pad_name(out, i.word0.op.listing());
    print_register(out, i.word1.dst_gpr, rel(i.word1.dst_rel));
    print_swizzle(out, i.destination_swizzle());
    out.push_str(", ");
    print_register(out, i.word0.src_gpr, rel(i.word0.src_rel));
    print_swizzle(out, i.source_swizzle());
    let _ = write!(out, ", t{}, s{}", i.word0.resource_id, i.word2.sampler_id);
    if i.word1.lod_bias != 0 {
        let _ = write!(out, " LOD({:?})", lod_bias(i.word1.lod_bias));
    }
    if i.word0.fetch_whole_quad {
        out.push_str(" WHOLE_QUAD");
    }
    if i.word0.bc_frac_mode {
        out.push_str(" BC_FRAC_MODE");
    }
    if i.word0.alt_const {
        out.push_str(" ALT_CONST");
    }
    let w = &i.word1;
    let normalised = [w.coord_type_x, w.coord_type_y, w.coord_type_z, w.coord_type_w];
    if normalised != [true; 4] {
        out.push_str(" DENORM(");
        for (name, _) in ["X", "Y", "Z", "W"].iter().zip(normalised).filter(|(_, n)| !n) {
            out.push_str(name);
        }
        out.push(')');
    }
    for (name, offset) in [("X", i.word2.offset_x), ("Y", i.word2.offset_y), ("Z", i.word2.offset_z)] {
        if offset != 0 {
            let _ = write!(out, " {name}OFFSET({:?})", texel_offset(offset));
        }
    }
    Fetch::Tex(*i).encode()
}

/// Scale of the base of a memory array, in bytes (R700 §10.5, `ARRAY_BASE`).
const fn base_scale(op: MemOp) -> u32 {
    match op {
        MemOp::RdScratch | MemOp::RdReduc => 16,
        MemOp::RdScatter | MemOp::LocalDsWrite | MemOp::LocalDsRead => 4,
    }
}

fn print_mem_rd(out: &mut String, i: &MemRd) -> [u32; 3] {
    let (w0, w1, w2) = (&i.word0, &i.word1, &i.word2);
    pad_name(out, w0.mem_op.name());
    let mut said = *i;
    print_register(out, w1.dst_gpr, rel(w1.dst_rel));
    print_swizzle(out, [w1.dst_sel_x, w1.dst_sel_y, w1.dst_sel_z, w1.dst_sel_w]);
    let _ = write!(out, ", READ({}", u32::from(w2.array_base) * base_scale(w0.mem_op));
    if w0.indexed {
        out.push_str(" + ");
        print_register(out, w0.src_gpr, rel(w0.src_rel));
        let _ = write!(out, ".{}", w0.src_sel_x.name());
    } else {
        (said.word0.src_gpr, said.word0.src_rel, said.word0.src_sel_x) = (0, false, Chan::X);
    }
    let _ = write!(out, ") ARRAY_SIZE({})", w2.array_size);
    if w0.elem_size != 0 {
        let _ = write!(out, " ELEM_SIZE({})", w0.elem_size);
    }
    if w0.burst_cnt != 0 {
        let _ = write!(out, " BURSTCNT({})", w0.burst_cnt);
    }
    let format =
        Format { data: w1.data_format, num: w1.num_format_all, comp: w1.format_comp_all, srf: w1.srf_mode_all };
    if format != Format::NONE {
        format.print(out);
    }
    if w0.uncached {
        out.push_str(" UNCACHED");
    }
    if !w2.mega_fetch {
        out.push_str(" MINI");
    }
    if w0.fetch_whole_quad {
        out.push_str(" WHOLE_QUAD");
    }
    print_endian(out, w2.endian_swap);
    said.word0.mem_req_size = 0;
    Fetch::MemRd(said).encode()
}

fn print_dsw(out: &mut String, i: &MemDsw) -> [u32; 3] {
    let (w0, w1) = (&i.word0, &i.word1);
    pad_name(out, w0.mem_op.name());
    let index = u32::from(w1.dst_index) | u32::from(w1.dst_index_ext) << 6;
    let stride = u32::from(w1.dst_stride) | u32::from(w1.dst_stride_ext) << 7;
    let _ = write!(out, "LDS[{index}], ");
    print_register(out, w0.src_gpr, w0.src_rel_mode);
    print_swizzle(out, [w0.src_sel_x, w0.src_sel_y, w0.src_sel_z, w0.src_sel_w]);
    let _ = write!(out, " STRIDE({stride})");
    if w1.simd_wave_rel {
        out.push_str(" WAVE_REL");
    }
    if i.word2.burst_cnt != 0 {
        let _ = write!(out, " BURSTCNT({})", i.word2.burst_cnt);
    }
    Fetch::MemDsw(*i).encode()
}

fn print_dsr(out: &mut String, i: &MemDsr) -> [u32; 3] {
    let (w0, w1) = (&i.word0, &i.word1);
    pad_name(out, w0.mem_op.name());
    print_register(out, w1.dst_gpr, w1.dst_rel_mode);
    out.push('.');
    for (name, on) in ["x", "y", "z", "w"].iter().zip([w1.dst_wr_x, w1.dst_wr_y, w1.dst_wr_z, w1.dst_wr_w]) {
        out.push_str(if on { name } else { "_" });
    }
    out.push_str(", ");
    print_register(out, w0.src_gpr, w0.src_rel_mode);
    let _ = write!(out, ".{}{} OFFSET({})", w0.src_sel_x.name(), w0.src_sel_y.name(), w0.rd_offset);
    if w1.broadcast {
        out.push_str(" BROADCAST");
    }
    if w1.waterfall {
        out.push_str(" WATERFALL");
    }
    if w1.mux_cntl != MuxCntl::None {
        let _ = write!(out, " MUX({})", w1.mux_cntl.name());
    }
    if i.word2.burst_cnt != 0 {
        let _ = write!(out, " BURSTCNT({})", i.word2.burst_cnt);
    }
    Fetch::MemDsr(*i).encode()
}

// ---- parsing

/// One fetch as it is read.
#[derive(Clone, Debug)]
pub(super) struct ParsedFetch {
    pub(super) words: [u32; 4],
    /// Whether only a texture clause can hold it.
    pub(super) texture: bool,
    pub(super) span: Span,
}

/// Reads a fetch behind its mnemonic.
pub(super) fn parse(c: &mut Cursor<'_>, names: &Names, what: FetchMnemonic) -> Parsed<ParsedFetch> {
    let mut fetch = match what {
        FetchMnemonic::Tex(op) => Fetch::Tex(parse_tex(c, names, op)?),
        FetchMnemonic::Vtx(op) => Fetch::Vtx(parse_vtx(c, names, op)?),
        FetchMnemonic::Mem(MemOp::LocalDsWrite) => Fetch::MemDsw(parse_dsw(c, names)?),
        FetchMnemonic::Mem(MemOp::LocalDsRead) => Fetch::MemDsr(parse_dsr(c, names)?),
        FetchMnemonic::Mem(op) => Fetch::MemRd(parse_mem_rd(c, names, op)?),
    };
    let mut extras: Vec<Extra> = Vec::new();
    let mut padding = 0;
    while !c.at_end() {
        let start = c.place();
        let Some(name) = c.word() else {
            let found = c.found();
            return c.fail("syntax", start, format!("a modifier is expected here, not {found}"));
        };
        if name == "PAD" {
            padding = parenthesised(c, "the fourth dword", u32::MAX)?;
            continue;
        }
        let known = match &mut fetch {
            Fetch::Tex(i) => tex_modifier(c, i, name)?,
            Fetch::Vtx(i) => vtx_modifier(c, i, name)?,
            Fetch::MemRd(i) => mem_rd_modifier(c, i, name)?,
            Fetch::MemDsw(i) => dsw_modifier(c, i, name)?,
            Fetch::MemDsr(i) => dsr_modifier(c, i, name)?,
        };
        if !known {
            match extra::parse(c, &fetch.formats(), name) {
                Some(found) => extras.push(found?),
                None => return c.fail("modifier", start, format!("`{name}` is not a modifier of {}", fetch.name())),
            }
        }
    }
    let mut words = FetchInst { fetch, padding }.encode();
    extras.iter().for_each(|e| e.apply(&mut words));
    Ok(ParsedFetch { words, texture: matches!(fetch, Fetch::Tex(_)), span: c.line_span() })
}

fn parse_tex(c: &mut Cursor<'_>, names: &Names, op: TexOp) -> Parsed<TexFetch> {
    let (dst_gpr, dst_rel, dst) = if c.peek() == b'_' {
        while c.eat_adjacent(b'_') {}
        (0, false, [Sel::Mask; 4])
    } else {
        let (gpr, relative) = parse_register(c, names)?;
        (gpr, relative, parse_swizzle(c)?)
    };
    c.expect(b',', "behind the destination")?;
    let (src_gpr, src_rel) = parse_register(c, names)?;
    let src = parse_swizzle(c)?;
    c.expect(b',', "behind the source")?;
    let resource_id = parse_id(c, names, 't', SymbolKind::Resource, 255)?;
    c.expect(b',', "behind the texture")?;
    let sampler_id = parse_id(c, names, 's', SymbolKind::Sampler, 31)?;
    Ok(TexFetch {
        word0: TexWord0 {
            op,
            bc_frac_mode: false,
            fetch_whole_quad: false,
            resource_id,
            src_gpr,
            src_rel,
            alt_const: false,
        },
        word1: TexWord1 {
            dst_gpr,
            dst_rel,
            dst_sel_x: dst[0],
            dst_sel_y: dst[1],
            dst_sel_z: dst[2],
            dst_sel_w: dst[3],
            lod_bias: 0,
            coord_type_x: true,
            coord_type_y: true,
            coord_type_z: true,
            coord_type_w: true,
        },
        word2: TexWord2 {
            offset_x: 0,
            offset_y: 0,
            offset_z: 0,
            sampler_id,
            src_sel_x: src[0],
            src_sel_y: src[1],
            src_sel_z: src[2],
            src_sel_w: src[3],
        },
    })
}

fn tex_modifier(c: &mut Cursor<'_>, i: &mut TexFetch, name: &str) -> Parsed<bool> {
    match name {
        "LOD" => i.word1.lod_bias = parse_fixed(c, 7, 4)?,
        "XOFFSET" => i.word2.offset_x = parse_fixed(c, 5, 1)?,
        "YOFFSET" => i.word2.offset_y = parse_fixed(c, 5, 1)?,
        "ZOFFSET" => i.word2.offset_z = parse_fixed(c, 5, 1)?,
        "WHOLE_QUAD" | "WHOLE_QUAD_MODE" => i.word0.fetch_whole_quad = true,
        "BC_FRAC_MODE" if c.next_byte() != b'(' => i.word0.bc_frac_mode = true,
        "ALT_CONST" if c.next_byte() != b'(' => i.word0.alt_const = true,
        "DENORM" | "NORM" => {
            c.expect(b'(', "here")?;
            let mut listed = [false; 4];
            c.peek();
            let start = c.place();
            while let Some(chan) = chan_from_byte(c.next_byte()) {
                c.eat_adjacent(c.next_byte());
                listed[chan as usize] = true;
            }
            if !c.eat(b')') {
                return c.fail("syntax", start, "coordinates are named X, Y, Z and W");
            }
            let normalised = listed.map(|l| l == (name == "NORM"));
            let w = &mut i.word1;
            [w.coord_type_x, w.coord_type_y, w.coord_type_z, w.coord_type_w] = normalised;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn parse_vtx(c: &mut Cursor<'_>, names: &Names, op: VtxOp) -> Parsed<VtxFetch> {
    c.peek();
    let start = c.place();
    let mut word1 = if op == VtxOp::Semantic {
        if !c.eat_text("SEM") || !c.eat(b'[') {
            return c.fail("destination", start, "a semantic fetch writes SEM[n]");
        }
        let id = c.integer("a semantic", 255)?;
        c.expect(b']', "behind the semantic")?;
        let word = VtxWord1Sem::decode(0).unwrap_or_else(|_| unreachable!("every field of VTX_WORD1_SEM allows 0"));
        VtxWord1::Sem(VtxWord1Sem { semantic_id: narrow(id), use_const_fields: true, ..word })
    } else {
        let (dst_gpr, dst_rel) = if c.peek() == b'_' { (0, false) } else { parse_register(c, names)? };
        let word = VtxWord1Gpr::decode(0).unwrap_or_else(|_| unreachable!("every field of VTX_WORD1_GPR allows 0"));
        VtxWord1::Gpr(VtxWord1Gpr { dst_gpr, dst_rel, use_const_fields: true, ..word })
    };
    let swizzle = if c.peek() == b'_' {
        while c.eat_adjacent(b'_') {}
        [Sel::Mask; 4]
    } else {
        parse_swizzle(c)?
    };
    match &mut word1 {
        VtxWord1::Gpr(w) => [w.dst_sel_x, w.dst_sel_y, w.dst_sel_z, w.dst_sel_w] = swizzle,
        VtxWord1::Sem(w) => [w.dst_sel_x, w.dst_sel_y, w.dst_sel_z, w.dst_sel_w] = swizzle,
    }
    c.expect(b',', "behind the destination")?;
    let (src_gpr, src_rel) = parse_register(c, names)?;
    let src_sel_x = parse_element(c)?;
    c.expect(b',', "behind the source")?;
    let buffer_id = parse_id(c, names, 'b', SymbolKind::Buffer, 255)?;
    Ok(VtxFetch {
        word0: VtxWord0 {
            op,
            fetch_type: FetchType::VertexData,
            fetch_whole_quad: false,
            buffer_id,
            src_gpr,
            src_rel,
            src_sel_x,
            mega_fetch_count: 15,
        },
        word1,
        word2: VtxWord2 {
            offset: 0,
            endian_swap: EndianSwap::None,
            const_buf_no_stride: false,
            mega_fetch: true,
            alt_const: false,
        },
    })
}

fn parse_element(c: &mut Cursor<'_>) -> Parsed<Chan> {
    let start = c.place();
    let chan = if c.eat_adjacent(b'.') { chan_from_byte(c.next_byte()) } else { None };
    let Some(chan) = chan else {
        return c.fail("operand", start, "the source needs one element: .x, .y, .z or .w");
    };
    c.eat_adjacent(c.next_byte());
    Ok(chan)
}

fn vtx_modifier(c: &mut Cursor<'_>, i: &mut VtxFetch, name: &str) -> Parsed<bool> {
    match name {
        "FETCH_TYPE" => i.word0.fetch_type = named(c, FetchType::ALL, FetchType::name)?,
        "FORMAT" => {
            let format = Format::parse(c)?;
            set_format(&mut i.word1, format, false);
        }
        "MEGA" | "MINI" => {
            i.word2.mega_fetch = name == "MEGA";
            c.peek();
            let start = c.place();
            let bytes = parenthesised(c, "the number of bytes", 64)?;
            if bytes == 0 {
                return c.fail("range", start, "a fetch is of 1 to 64 bytes, not 0");
            }
            i.word0.mega_fetch_count = narrow(bytes - 1);
        }
        "OFFSET" => i.word2.offset = u16::try_from(parenthesised(c, "the offset", 0xffff)?).unwrap_or(u16::MAX),
        "WHOLE_QUAD" | "WHOLE_QUAD_MODE" => i.word0.fetch_whole_quad = true,
        "ENDIAN_SWAP" => i.word2.endian_swap = named(c, EndianSwap::ALL, EndianSwap::name)?,
        "CONST_BUF_NO_STRIDE" if c.next_byte() != b'(' => i.word2.const_buf_no_stride = true,
        "ALT_CONST" if c.next_byte() != b'(' => i.word2.alt_const = true,
        _ => return Ok(false),
    }
    Ok(true)
}

fn parse_mem_rd(c: &mut Cursor<'_>, names: &Names, mem_op: MemOp) -> Parsed<MemRd> {
    let (dst_gpr, dst_rel) = parse_register(c, names)?;
    let dst = parse_swizzle(c)?;
    c.expect(b',', "behind the destination")?;
    c.peek();
    let start = c.place();
    if c.word() != Some("READ") {
        return c.fail("operand", start, "READ(base) or READ(base + R5.x) is expected here");
    }
    c.expect(b'(', "behind READ")?;
    let scale = base_scale(mem_op);
    c.peek();
    let at = c.place();
    let bytes = c.integer("the base in bytes", ((1 << 13) - 1) * scale)?;
    if bytes % scale != 0 {
        return c.fail(
            "memory-read",
            at,
            format!("the base of {} is a multiple of {scale} bytes, not {bytes}", mem_op.name()),
        );
    }
    let indexed = c.eat(b'+');
    let (src_gpr, src_rel, src_sel_x) = if indexed {
        let (gpr, relative) = parse_register(c, names)?;
        (gpr, relative, parse_element(c)?)
    } else {
        (0, false, Chan::X)
    };
    c.expect(b')', "behind the base")?;
    let word1 = MemRdWord1::decode(0).unwrap_or_else(|_| unreachable!("every field of MEM_RD_WORD1 allows 0"));
    Ok(MemRd {
        word0: MemRdWord0 {
            op: VtxOp::Mem,
            elem_size: 0,
            fetch_whole_quad: false,
            mem_op,
            uncached: false,
            indexed,
            mem_req_size: 0,
            src_gpr,
            src_rel,
            src_sel_x,
            burst_cnt: 0,
        },
        word1: MemRdWord1 {
            dst_gpr,
            dst_rel,
            dst_sel_x: dst[0],
            dst_sel_y: dst[1],
            dst_sel_z: dst[2],
            dst_sel_w: dst[3],
            ..word1
        },
        word2: MemRdWord2 {
            array_base: u16::try_from(bytes / scale).unwrap_or(u16::MAX),
            endian_swap: EndianSwap::None,
            mega_fetch: true,
            array_size: 0,
        },
    })
}

fn mem_rd_modifier(c: &mut Cursor<'_>, i: &mut MemRd, name: &str) -> Parsed<bool> {
    match name {
        "BURSTCNT" => i.word0.burst_cnt = narrow(parenthesised(c, "the burst count", 15)?),
        "FORMAT" => {
            let f = Format::parse(c)?;
            let w = &mut i.word1;
            (w.data_format, w.num_format_all, w.format_comp_all, w.srf_mode_all) = (f.data, f.num, f.comp, f.srf);
        }
        "UNCACHED" if c.next_byte() != b'(' => i.word0.uncached = true,
        "MINI" => i.word2.mega_fetch = false,
        "WHOLE_QUAD" | "WHOLE_QUAD_MODE" => i.word0.fetch_whole_quad = true,
        "ENDIAN_SWAP" => i.word2.endian_swap = named(c, EndianSwap::ALL, EndianSwap::name)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn parse_dsw(c: &mut Cursor<'_>, names: &Names) -> Parsed<MemDsw> {
    c.peek();
    let start = c.place();
    if c.word() != Some("LDS") {
        return c.fail("destination", start, "a data share write goes to LDS[index]");
    }
    c.expect(b'[', "behind LDS")?;
    let index = c.integer("the index in dwords", 255)?;
    c.expect(b']', "behind the index")?;
    c.expect(b',', "behind the destination")?;
    let (src_gpr, src_rel_mode) = parse_register_mode(c, names)?;
    let src = parse_swizzle(c)?;
    Ok(MemDsw {
        word0: MemDswWord0 {
            op: VtxOp::Mem,
            mem_op: MemOp::LocalDsWrite,
            src_gpr,
            src_rel_mode,
            src_sel_x: src[0],
            src_sel_y: src[1],
            src_sel_z: src[2],
            src_sel_w: src[3],
        },
        word1: MemDswWord1 {
            dst_index: narrow(index & 0x3f),
            dst_index_ext: narrow(index >> 6),
            dst_stride: 0,
            dst_stride_ext: 0,
            simd_wave_rel: false,
        },
        word2: MemDswWord2 { burst_cnt: 0 },
    })
}

fn dsw_modifier(c: &mut Cursor<'_>, i: &mut MemDsw, name: &str) -> Parsed<bool> {
    match name {
        "STRIDE" => {
            let stride = parenthesised(c, "the stride in dwords", 511)?;
            (i.word1.dst_stride, i.word1.dst_stride_ext) = (narrow(stride & 0x7f), narrow(stride >> 7));
        }
        "WAVE_REL" => i.word1.simd_wave_rel = true,
        "BURSTCNT" => i.word2.burst_cnt = narrow(parenthesised(c, "the burst count", 15)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn parse_dsr(c: &mut Cursor<'_>, names: &Names) -> Parsed<MemDsr> {
    let (dst_gpr, dst_rel_mode) = parse_register_mode(c, names)?;
    let at = c.place();
    let dst = parse_swizzle(c)?;
    let own = [Sel::X, Sel::Y, Sel::Z, Sel::W];
    if dst.iter().zip(own).any(|(&sel, own)| sel != own && sel != Sel::Mask) {
        return c.fail("destination", at, "a data share read has a mask of elements, such as .xy__, and no swizzle");
    }
    let written = dst.map(|sel| sel != Sel::Mask);
    c.expect(b',', "behind the destination")?;
    let (src_gpr, src_rel_mode) = parse_register_mode(c, names)?;
    let at = c.place();
    let [src_sel_x, src_sel_y, rest @ ..] = parse_swizzle(c)?;
    if rest != [Sel::Mask; 2] {
        return c.fail(
            "operand",
            at,
            "the source of a data share read has two elements: index and address, such as R2.xy",
        );
    }
    Ok(MemDsr {
        word0: MemDsrWord0 {
            op: VtxOp::Mem,
            mem_op: MemOp::LocalDsRead,
            src_gpr,
            src_rel_mode,
            src_sel_x,
            src_sel_y,
            rd_offset: 0,
        },
        word1: MemDsrWord1 {
            dst_gpr,
            dst_rel_mode,
            dst_wr_x: written[0],
            dst_wr_y: written[1],
            dst_wr_z: written[2],
            dst_wr_w: written[3],
            broadcast: false,
            waterfall: false,
            mux_cntl: MuxCntl::None,
        },
        word2: MemDsrWord2 { burst_cnt: 0 },
    })
}

fn dsr_modifier(c: &mut Cursor<'_>, i: &mut MemDsr, name: &str) -> Parsed<bool> {
    match name {
        "OFFSET" => i.word0.rd_offset = narrow(parenthesised(c, "the offset", 63)?),
        "BROADCAST" if c.next_byte() != b'(' => i.word1.broadcast = true,
        "WATERFALL" if c.next_byte() != b'(' => i.word1.waterfall = true,
        "MUX" => i.word1.mux_cntl = named(c, MuxCntl::ALL, MuxCntl::name)?,
        "BURSTCNT" => i.word2.burst_cnt = narrow(parenthesised(c, "the burst count", 15)?),
        _ => return Ok(false),
    }
    Ok(true)
}
