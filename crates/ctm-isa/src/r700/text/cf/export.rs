//! Exports and memory writes.

use super::print_flags;
use crate::r700::formats::{CfExportBuf, CfExportSwiz, CfExportWord0};
use crate::r700::inst::{CfExport, CfMem};
use crate::r700::ops::{ExportOp, ExportType, MemWriteType, Sel};
use crate::r700::text::cursor::{Cursor, Parsed};
use crate::r700::text::fetch::{parse_register, parse_swizzle, print_swizzle};
use crate::r700::text::names::Names;
use crate::table::Field;
use std::fmt::Write as _;

/// The base, in the lowest bits of its word.
const ARRAY_BASE: Field = CfExportWord0::FORMAT.known_field("ARRAY_BASE");

fn export_word0(kind: u8) -> CfExportWord0 {
    CfExportWord0 { array_base: 0, kind, rw_gpr: 0, rw_rel: false, index_gpr: 0, elem_size: 0 }
}

/// Scale of the base of a memory array, in bytes (R700 §10.1, `ARRAY_BASE`).
const fn base_scale(op: ExportOp) -> u32 {
    match op {
        ExportOp::MemScratch | ExportOp::MemReduction => 16,
        _ => 4,
    }
}

fn print_register(out: &mut String, gpr: u8, relative: bool) {
    let _ = if relative { write!(out, "R[AL+{gpr}]") } else { write!(out, "R{gpr}") };
}

pub(super) fn print_export(out: &mut String, i: &CfExport) -> [u32; 2] {
    let (w0, w) = (&i.word0, &i.word1);
    let mut said = CfExportWord0 { array_base: w0.array_base, ..export_word0(w0.kind) };
    let index = match i.kind {
        ExportType::Pixel | ExportType::Param => w0.array_base,
        // Positions are numbered from 60 on (R700 table 3.3).
        ExportType::Pos if (60..=63).contains(&w0.array_base) => w0.array_base - 60,
        ExportType::Pos => {
            said.array_base = 60;
            0
        }
    };
    let _ = write!(out, "{}: {}{index}, ", w.op.listing(), i.kind.name());
    print_register(out, w0.rw_gpr, w0.rw_rel);
    print_swizzle(out, i.swizzle());
    if w0.elem_size != 0 {
        let _ = write!(out, " ELEM_SIZE({})", w0.elem_size);
    }
    if w.burst_count != 0 {
        let _ = write!(out, " BURSTCNT({})", w.burst_count);
    }
    print_flags(out, w.whole_quad_mode, w.valid_pixel_mode, w.barrier);
    (said.rw_gpr, said.rw_rel, said.elem_size) = (w0.rw_gpr, w0.rw_rel, w0.elem_size);
    [said.encode(), w.encode()]
}

pub(super) fn parse_export(c: &mut Cursor<'_>, names: &Names, op: ExportOp) -> Parsed<CfExport> {
    c.peek();
    let start = c.place();
    let word = c.word().unwrap_or_default();
    let (letters, digits) = word.split_at(word.find(|ch: char| ch.is_ascii_digit()).unwrap_or(word.len()));
    let index: Option<u16> = digits.parse().ok();
    let target = match (letters, index) {
        ("PIX", Some(n)) if u32::from(n) <= ARRAY_BASE.mask() => Some((ExportType::Pixel, n)),
        ("PIXZ", None) => Some((ExportType::Pixel, 61)),
        ("POS", Some(n)) if n <= 3 => Some((ExportType::Pos, 60 + n)),
        ("PARAM", Some(n)) if u32::from(n) <= ARRAY_BASE.mask() => Some((ExportType::Param, n)),
        _ => None,
    };
    let Some((kind, array_base)) = target else {
        let found = if word.is_empty() { c.found() } else { format!("`{word}`") };
        return c.fail(
            "export-target",
            start,
            format!(
                "an export goes to PIX0 to PIX7, PIX61 (computed Z), POS0 to POS3 or PARAM0 to PARAM31, not to {found}"
            ),
        );
    };
    c.expect(b',', "behind the target")?;
    let (rw_gpr, rw_rel) = parse_register(c, names)?;
    let [sel_x, sel_y, sel_z, sel_w] = parse_swizzle(c)?;
    #[allow(clippy::cast_possible_truncation, reason = "two bits")]
    let kind_code = kind.code() as u8;
    Ok(CfExport {
        word0: CfExportWord0 { array_base, rw_gpr, rw_rel, ..export_word0(kind_code) },
        word1: CfExportSwiz {
            sel_x,
            sel_y,
            sel_z,
            sel_w,
            burst_count: 0,
            end_of_program: false,
            valid_pixel_mode: false,
            op,
            whole_quad_mode: false,
            barrier: true,
        },
        kind,
    })
}

pub(super) fn print_mem(out: &mut String, i: &CfMem) -> [u32; 2] {
    let (w0, w) = (&i.word0, &i.word1);
    let acknowledged = matches!(i.kind, MemWriteType::WriteAck | MemWriteType::WriteIndAck);
    let _ = write!(
        out,
        "{}: {}({}",
        w.op.name(),
        if acknowledged { "WRITE_ACK" } else { "WRITE" },
        u32::from(w0.array_base) * base_scale(w.op)
    );
    let mut said = *w0;
    if i.kind.is_indexed() {
        let _ = write!(out, " + R{}", w0.index_gpr);
    } else {
        said.index_gpr = 0;
    }
    out.push_str("), ");
    print_register(out, w0.rw_gpr, w0.rw_rel);
    out.push('.');
    for (bit, name) in ["x", "y", "z", "w"].iter().enumerate() {
        out.push_str(if w.comp_mask >> bit & 1 != 0 { name } else { "_" });
    }
    let _ = write!(out, " ARRAY_SIZE({})", w.array_size);
    if w0.elem_size != 0 {
        let _ = write!(out, " ELEM_SIZE({})", w0.elem_size);
    }
    if w.burst_count != 0 {
        let _ = write!(out, " BURSTCNT({})", w.burst_count);
    }
    print_flags(out, w.whole_quad_mode, w.valid_pixel_mode, w.barrier);
    [said.encode(), w.encode()]
}

pub(super) fn parse_mem(c: &mut Cursor<'_>, names: &Names, op: ExportOp) -> Parsed<CfMem> {
    c.peek();
    let start = c.place();
    let (acknowledged, mut indexed) = match c.word() {
        Some("WRITE") => (false, false),
        Some("WRITE_IND") => (false, true),
        Some("WRITE_ACK") => (true, false),
        Some("WRITE_IND_ACK") => (true, true),
        Some("READ" | "READ_IND") => {
            return c.fail(
                "memory-write",
                start,
                "on the R700 memory is read by RD_SCRATCH, RD_REDUC and RD_SCATTER in a fetch clause; this form is R600",
            );
        }
        _ => {
            let found = c.found();
            return c.fail(
                "memory-write",
                start,
                format!("WRITE(base), WRITE(base + R5) or WRITE_ACK(…) is expected here, not {found}"),
            );
        }
    };
    c.expect(b'(', "behind WRITE")?;
    let scale = base_scale(op);
    c.peek();
    let at = c.place();
    let bytes = c.integer("the base in bytes", ARRAY_BASE.mask() * scale)?;
    if bytes % scale != 0 {
        return c.fail(
            "memory-write",
            at,
            format!("the base of {} is a multiple of {scale} bytes, not {bytes}", op.name()),
        );
    }
    let mut index_gpr = 0;
    if c.eat(b'+') {
        indexed = true;
        let at = c.place();
        let (gpr, relative) = parse_register(c, names)?;
        if relative {
            return c.fail("memory-write", at, "the index register cannot be relative");
        }
        index_gpr = gpr;
    }
    c.expect(b')', "behind the base")?;
    c.expect(b',', "behind the target")?;
    let (rw_gpr, rw_rel) = parse_register(c, names)?;
    let at = c.place();
    let swizzle = parse_swizzle(c)?;
    let mut comp_mask = 0;
    for (i, (sel, own)) in swizzle.into_iter().zip([Sel::X, Sel::Y, Sel::Z, Sel::W]).enumerate() {
        match sel {
            Sel::Mask => {}
            sel if sel == own => comp_mask |= 1 << i,
            _ => {
                return c.fail(
                    "memory-write",
                    at,
                    "a memory write has a mask of elements, such as .xy__, and no swizzle",
                );
            }
        }
    }
    let kind = match (indexed, acknowledged) {
        (false, false) => MemWriteType::Write,
        (true, false) => MemWriteType::WriteInd,
        (false, true) => MemWriteType::WriteAck,
        (true, true) => MemWriteType::WriteIndAck,
    };
    #[allow(clippy::cast_possible_truncation, reason = "two bits, and a base of 13 bits")]
    let (kind_code, array_base) = (kind.code() as u8, (bytes / scale) as u16);
    Ok(CfMem {
        word0: CfExportWord0 { array_base, rw_gpr, rw_rel, index_gpr, ..export_word0(kind_code) },
        word1: CfExportBuf {
            array_size: 0,
            comp_mask,
            burst_count: 0,
            end_of_program: false,
            valid_pixel_mode: false,
            op,
            whole_quad_mode: false,
            barrier: true,
        },
        kind,
    })
}
