//! Vertex fetches.

use super::parts::{
    Format, named, narrow, pad_name, parenthesised, parse_element, parse_id, parse_register, parse_swizzle,
    print_endian, print_register, print_swizzle, rel,
};
use crate::r700::formats::{VtxWord0, VtxWord1Gpr, VtxWord1Sem, VtxWord2};
use crate::r700::inst::{Fetch, VtxFetch, VtxWord1};
use crate::r700::ops::{EndianSwap, FetchType, Sel, VtxOp};
use crate::r700::program::SymbolKind;
use crate::r700::text::cursor::{Cursor, Parsed};
use crate::r700::text::names::Names;
use std::fmt::Write as _;

pub(super) fn print_vtx(out: &mut String, i: &VtxFetch) -> [u32; 3] {
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

pub(super) fn set_format(word: &mut VtxWord1, format: Format, use_const: bool) {
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

pub(super) fn parse_vtx(c: &mut Cursor<'_>, names: &Names, op: VtxOp) -> Parsed<VtxFetch> {
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

pub(super) fn vtx_modifier(c: &mut Cursor<'_>, i: &mut VtxFetch, name: &str) -> Parsed<bool> {
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
