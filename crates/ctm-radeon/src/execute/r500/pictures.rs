//! The contents of targets as pictures, and targets in words.

use super::super::memory::GpuMemory;
use super::super::outline::TargetPicture;
use super::super::registers::Registers;
use super::targets::{Colour, TARGETS, TargetSurface, colour, depth, outside};
use crate::Error;
use crate::table::{little_endian, little_endian_128};
use ctm_draw::format::Colours;

/// The contents of the targets that registers name.
pub(in crate::execute) fn pictures(registers: &Registers, memory: &dyn GpuMemory) -> Result<Vec<TargetPicture>, Error> {
    let mut pictures = Vec::new();
    for n in 0..TARGETS {
        let Some(Colour { surface, format, .. }) = colour(registers, n)? else { continue };
        let colours = Colours::new(format).map_err(|error| Error::new("unsupported-target", error.to_string()))?;
        let bytes = memory.bytes(surface.address, surface.bytes()).ok_or_else(|| outside(&surface))?;
        let pixels =
            samples(&surface, bytes, colours.bytes()).map(|of| colours.unpack(little_endian_128(of))).collect();
        let (size, layout) = (surface.size, surface.layout);
        pictures.push(TargetPicture { name: format!("colour{n}"), size, pixels, integers: false, layout });
    }
    if let Some((surface, format)) = depth(registers)? {
        let bytes = memory.bytes(surface.address, surface.bytes()).ok_or_else(|| outside(&surface))?;
        let all: Vec<(u32, u8)> =
            samples(&surface, bytes, format.bytes()).map(|of| format.unpack(little_endian(of))).collect();
        let (size, layout) = (surface.size, surface.layout);
        let number = |depth: u32| (format.number(depth) as f32).to_bits();
        let pixels = all.iter().map(|of| [number(of.0), 0, 0, 0]).collect();
        pictures.push(TargetPicture { name: "depth".into(), size, pixels, integers: false, layout });
        if format.has_stencil() {
            let pixels = all.iter().map(|of| [of.1.into(), 0, 0, 0]).collect();
            pictures.push(TargetPicture { name: "stencil".into(), size, pixels, integers: true, layout });
        }
    }
    Ok(pictures)
}

/// The samples of a surface that draws may reach, row by row.
fn samples<'a>(surface: &TargetSurface, bytes: &'a [u8], size: usize) -> impl Iterator<Item = &'a [u8]> {
    let (layout, [width, height]) = (surface.layout, surface.size);
    (0..height).flat_map(move |y| {
        (0..width).map(move |x| {
            let at = layout.offset(x + surface.first[0], y + surface.first[1], 0, 0) as usize;
            bytes.get(at..at + size).unwrap_or_default()
        })
    })
}

/// The targets in words.
pub(super) fn targets_told(registers: &Registers) -> Vec<String> {
    let mut told = Vec::new();
    let of = |surface: &TargetSurface| {
        format!("{} x {} at {:#x}", surface.layout.pitch, surface.layout.height, surface.address)
    };
    for n in 0..TARGETS {
        if let Ok(Some(Colour { surface, format, .. })) = colour(registers, n) {
            told.push(format!("colour{n} {} {}", format.data.name(), of(&surface)));
        }
    }
    if let Ok(Some((surface, format))) = depth(registers) {
        told.push(format!("depth {format:?} {}", of(&surface)));
    }
    told
}
