//! Reads and writes of the local data share.

use super::parts::{
    named, narrow, pad_name, parenthesised, parse_register_mode, parse_swizzle, print_register, print_swizzle,
};
use crate::r700::formats::{MemDsrWord0, MemDsrWord1, MemDsrWord2, MemDswWord0, MemDswWord1, MemDswWord2};
use crate::r700::inst::{Fetch, MemDsr, MemDsw};
use crate::r700::ops::{MemOp, MuxCntl, Sel, VtxOp};
use crate::r700::text::cursor::{Cursor, Parsed};
use crate::r700::text::names::Names;
use crate::table::Field;
use std::fmt::Write as _;

const INDEX: Field = MemDswWord1::FORMAT.known_field("DST_INDEX");
const INDEX_EXT: Field = MemDswWord1::FORMAT.known_field("DST_INDEX_EXT");
const STRIDE: Field = MemDswWord1::FORMAT.known_field("DST_STRIDE");
const STRIDE_EXT: Field = MemDswWord1::FORMAT.known_field("DST_STRIDE_EXT");

pub(super) fn print_dsw(out: &mut String, i: &MemDsw) -> [u32; 3] {
    let (w0, w1) = (&i.word0, &i.word1);
    pad_name(out, w0.mem_op.name());
    let index = u32::from(w1.dst_index) | u32::from(w1.dst_index_ext) << INDEX.width();
    let stride = u32::from(w1.dst_stride) | u32::from(w1.dst_stride_ext) << STRIDE.width();
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

pub(super) fn parse_dsw(c: &mut Cursor<'_>, names: &Names) -> Parsed<MemDsw> {
    c.peek();
    let start = c.place();
    if c.word() != Some("LDS") {
        return c.fail("destination", start, "a data share write goes to LDS[index]");
    }
    c.expect(b'[', "behind LDS")?;
    let index = c.integer("the index in dwords", (1 << (INDEX.width() + INDEX_EXT.width())) - 1)?;
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
            dst_index: narrow(index & INDEX.mask()),
            dst_index_ext: narrow(index >> INDEX.width()),
            dst_stride: 0,
            dst_stride_ext: 0,
            simd_wave_rel: false,
        },
        word2: MemDswWord2 { burst_cnt: 0 },
    })
}

pub(super) fn dsw_modifier(c: &mut Cursor<'_>, i: &mut MemDsw, name: &str) -> Parsed<bool> {
    match name {
        "STRIDE" => {
            let stride = parenthesised(c, "the stride in dwords", (1 << (STRIDE.width() + STRIDE_EXT.width())) - 1)?;
            (i.word1.dst_stride, i.word1.dst_stride_ext) =
                (narrow(stride & (STRIDE.mask() >> STRIDE.lsb)), narrow(stride >> STRIDE.width()));
        }
        "WAVE_REL" => i.word1.simd_wave_rel = true,
        "BURSTCNT" => i.word2.burst_cnt = narrow(parenthesised(c, "the burst count", 15)?),
        _ => return Ok(false),
    }
    Ok(true)
}

pub(super) fn print_dsr(out: &mut String, i: &MemDsr) -> [u32; 3] {
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

pub(super) fn parse_dsr(c: &mut Cursor<'_>, names: &Names) -> Parsed<MemDsr> {
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

pub(super) fn dsr_modifier(c: &mut Cursor<'_>, i: &mut MemDsr, name: &str) -> Parsed<bool> {
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
