//! Texture fetches.

use super::parts::{
    pad_name, parse_fixed, parse_id, parse_register, parse_swizzle, print_register, print_swizzle, rel,
};
use crate::r700::formats::{TexWord0, TexWord1, TexWord2};
use crate::r700::inst::{Fetch, TexFetch, lod_bias, texel_offset};
use crate::r700::ops::{Sel, TexOp};
use crate::r700::program::SymbolKind;
use crate::r700::text::cursor::{Cursor, Parsed};
use crate::r700::text::names::Names;
use crate::r700::text::operand::chan_from_byte;
use crate::table::Field;
use std::fmt::Write as _;

const LOD_BIAS: Field = TexWord1::FORMAT.known_field("LOD_BIAS");
/// The three offsets have one width.
const OFFSET: Field = TexWord2::FORMAT.known_field("OFFSET_X");

pub(super) fn print_tex(out: &mut String, i: &TexFetch) -> [u32; 3] {
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

pub(super) fn parse_tex(c: &mut Cursor<'_>, names: &Names, op: TexOp) -> Parsed<TexFetch> {
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

pub(super) fn tex_modifier(c: &mut Cursor<'_>, i: &mut TexFetch, name: &str) -> Parsed<bool> {
    match name {
        "LOD" => i.word1.lod_bias = parse_fixed(c, LOD_BIAS, 4)?,
        "XOFFSET" => i.word2.offset_x = parse_fixed(c, OFFSET, 1)?,
        "YOFFSET" => i.word2.offset_y = parse_fixed(c, OFFSET, 1)?,
        "ZOFFSET" => i.word2.offset_z = parse_fixed(c, OFFSET, 1)?,
        "WHOLE_QUAD" | "WHOLE_QUAD_MODE" => i.word0.fetch_whole_quad = true,
        "BC_FRAC_MODE" if c.next_byte() != b'(' => i.word0.bc_frac_mode = true,
        "ALT_CONST" if c.next_byte() != b'(' => i.word0.alt_const = true,
        "DENORM" | "UNNORM" | "NORM" => {
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
