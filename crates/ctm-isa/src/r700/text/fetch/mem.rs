//! Memory reads.

use super::parts::{
    Format, named, narrow, pad_name, parenthesised, parse_element, parse_register, parse_swizzle, print_endian,
    print_register, print_swizzle, rel,
};
use crate::r700::formats::{MemRdWord0, MemRdWord1, MemRdWord2};
use crate::r700::inst::{Fetch, MemRd};
use crate::r700::ops::{Chan, EndianSwap, MemOp, VtxOp};
use crate::r700::text::cursor::{Cursor, Parsed};
use crate::r700::text::names::Names;
use crate::table::Field;
use std::fmt::Write as _;

/// The base, in the lowest bits of its word.
const ARRAY_BASE: Field = MemRdWord2::FORMAT.known_field("ARRAY_BASE");

/// Scale of the base of a memory array, in bytes (R700 §10.5, `ARRAY_BASE`).
pub(super) const fn base_scale(op: MemOp) -> u32 {
    match op {
        MemOp::RdScratch | MemOp::RdReduc => 16,
        MemOp::RdScatter | MemOp::LocalDsWrite | MemOp::LocalDsRead => 4,
    }
}

pub(super) fn print_mem_rd(out: &mut String, i: &MemRd) -> [u32; 3] {
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

pub(super) fn parse_mem_rd(c: &mut Cursor<'_>, names: &Names, mem_op: MemOp) -> Parsed<MemRd> {
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
    let bytes = c.integer("the base in bytes", ARRAY_BASE.mask() * scale)?;
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

pub(super) fn mem_rd_modifier(c: &mut Cursor<'_>, i: &mut MemRd, name: &str) -> Parsed<bool> {
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
