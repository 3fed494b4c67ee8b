//! A stream with registers for tiles of one shape: its text, its rules, and its code.

use super::emit::Emit;
use super::types::{Chosen, Kernel, KernelOptions, Location};
use crate::codegen::target::SCRATCH;
use crate::codegen::x86::masked::Ins;
use crate::codegen::x86::masked::text::allocated;
use crate::codegen::x86::{executable, lir::Vector};
use ctm_ir::verify::{VerifyError, text};
use ctm_x86::Asm;

/// The largest frame.
const FRAME_LIMIT: i32 = 1 << 19;

/// A program with registers.
pub struct Allocated<'a>(Emit<'a>);

impl Chosen {
    /// Allocates registers for these options; `None`: the frame would be too large.
    pub fn allocate(&self, options: KernelOptions) -> Option<Allocated<'_>> {
        let instances = self.instances(options.tile);
        // Results without a register may need all scratch registers.
        let least = self.target.tile_registers - SCRATCH;
        let (registers, count) = [(self.register_count(), 0), (least, u64::MAX)]
            .into_iter()
            .find_map(|(count, most)| Some((self.registers(&instances, count, most)?, count)))?;
        let mut emit = Emit::new(self, options);
        emit.collect_slots();
        emit.lay_out(&registers, count);
        (emit.layout.size <= FRAME_LIMIT).then_some(Allocated(emit))
    }
}

impl Allocated<'_> {
    /// The text: instructions with the location of each instance of a vector, for the units of a tile in order.
    pub fn text(&self) -> String {
        let (of, KernelOptions { tile, past_caches }) = (self.0.of, self.0.options);
        let stores = if past_caches { "past_caches" } else { "cached" };
        let head = format!(
            "allocated {} stream tile={}x{} stores={stores} frame_bytes={}",
            of.target.name, tile.rows, tile.vectors, self.0.layout.size
        );
        let location = |location: &Location| match location {
            Location::Register(register) => format!("r{register}"),
            Location::Row(offset) => format!("row{offset}"),
            Location::Load(load) => format!("load{load}"),
            Location::Constant(number, dword) => format!("constant{number}.{dword}"),
            Location::Nowhere => "none".to_owned(),
        };
        let instances = |vector: usize| {
            let names: Vec<String> = self.0.locations.get(vector)?.iter().map(location).collect();
            Some(names.join("+"))
        };
        let mut text = allocated(&head, &of.selected, &of.prepared.code, instances);
        for (number, load) in of.loads.iter().enumerate() {
            text.push_str(&format!("; load {number}: channel {} of fetch {}\n", load.channel, load.number));
        }
        text
    }

    /// Every operand has a location for each unit that reads it.
    ///
    /// # Errors
    /// The first one without.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let has_place = |vector: Vector| {
            let found = self.0.locations.get(vector.index());
            found.is_some_and(|found| !found.is_empty() && !found.contains(&Location::Nowhere))
        };
        for (block, lines) in self.0.of.lines.iter().enumerate() {
            for (line, lir) in lines.iter().flatten().enumerate() {
                let mut lost = None;
                lir.each_read(|vector| lost = lost.or((!has_place(vector)).then_some(vector)));
                if let Some(vector) = lost {
                    let message = format!("`{}` has no location", text(&vector));
                    return Err(VerifyError { block, line, operation: text(&Ins::Lir(*lir)), message });
                }
            }
        }
        Ok(())
    }

    /// Emits machine code.
    pub fn emit(&mut self) -> Vec<u8> {
        if !self.0.of.target.has_encoder() {
            #[cfg(feature = "cranelift")]
            return crate::codegen::cranelift::emit_tiles(&self.0);
            #[cfg(not(feature = "cranelift"))]
            return Vec::new();
        }
        self.0.everything();
        std::mem::replace(&mut self.0.asm, Asm::new(self.0.of.target.isa)).finish()
    }

    /// The kernel of this code; `None`: there is none, or memory cannot be made executable.
    pub fn kernel(self, bytes: &[u8]) -> Option<Kernel> {
        if bytes.is_empty() {
            return None;
        }
        let Emit { of, options, slots, layout, transposed, .. } = self.0;
        Some(Kernel {
            target: of.target,
            text: executable(bytes)?,
            columns: of.columns() * u32::from(options.tile.vectors),
            options,
            constants: of.constants(),
            geometry: of.geometry,
            fetches: of.loads.iter().map(|load| load.fetch).collect(),
            slots,
            layout,
            packed: of.prepared.packed,
            transposed,
            copies: of.copies(),
        })
    }
}
