//! The programs that streams load into an R500, without a device that draws.

use super::super::registers::Registers;
use super::inputs::POINTS_TO_ZERO;
use super::units::{FIRST_CONSTANT, UnitState, reset};
use crate::Error;
use crate::packets::Packets;
use crate::packets::r500::R580;
use crate::registers::spi::r500 as rs;
use crate::registers::texture::r500 as tx;
use ctm_exec::x1k::Constants;
use ctm_isa::{pvs, x1k};

/// The programs of an R500, as ports and registers have them.
///
/// [`LoadedPrograms::run`] takes streams; the programs of a draw are those at its packet.
#[derive(Clone, Debug)]
pub struct LoadedPrograms {
    registers: Registers,
    state: UnitState,
}

impl Default for LoadedPrograms {
    fn default() -> Self {
        Self { registers: reset(), state: UnitState::default() }
    }
}

impl LoadedPrograms {
    /// Takes a stream's registers; calls `drawn` at each draw.
    ///
    /// # Errors
    /// A header that is none.
    pub fn run(&mut self, words: &[u32], mut drawn: impl FnMut(&Self)) -> Result<(), Error> {
        for packet in Packets::of(&R580, words) {
            let packet =
                packet.map_err(|(at, _)| Error::new("bad-packet", format!("dword {at} is no header of a packet")))?;
            for (offset, value) in packet.direct_registers() {
                self.registers.set(offset, value);
                self.state.port(&self.registers, offset, value);
            }
            if packet.draws() {
                drawn(self);
            }
        }
        Ok(())
    }

    /// The pixel program, from its first instruction's place in memory on.
    ///
    /// # Errors
    /// It ends after the last instruction of the memory.
    pub fn pixel(&self) -> Result<x1k::Program, Error> {
        self.state.program(&self.registers)
    }

    /// The constants of pixel programs.
    #[must_use]
    pub fn pixel_constants(&self) -> Constants {
        self.state.constants(&self.registers)
    }

    /// The registers that the interpolator fills, in its order, each with the output vector of the vertex program that it comes from.
    #[must_use]
    pub fn interpolated(&self) -> Vec<(u8, u8)> {
        use rs::VAP_OUT_VTX_FMT_0 as Format;
        use rs::{RS_INST_0 as Inst, RS_IP_0 as Ip};
        let r = &self.registers;
        let is_there = |bits: crate::table::Bits| u8::from(r.flag(bits));
        // Output vectors are numbered by presence: position, point size, four colours, texture sets.
        let before = 1 + is_there(Format::VTX_PT_SIZE_PRESENT);
        let colours = [
            Format::VTX_COLOR_0_PRESENT,
            Format::VTX_COLOR_1_PRESENT,
            Format::VTX_COLOR_2_PRESENT,
            Format::VTX_COLOR_3_PRESENT,
        ];
        let colour = |n: u32| before + colours.iter().take(n as usize).map(|&bits| is_there(bits)).sum::<u8>();
        let counts = r.word(rs::VAP_OUT_VTX_FMT_1::REGISTER, 0);
        // The set that holds a component, counted through all sets.
        let set = |component: u32| {
            let mut end = 0;
            let sets =
                rs::VAP_OUT_VTX_FMT_1::FIELDS.iter().map(|field| field.extract(counts)).filter(|&count| count > 0);
            let passed = sets.take_while(|count| {
                end += count;
                end <= component
            });
            colour(4) + passed.count() as u8
        };
        let mut all = Vec::new();
        for n in 0..=r.get(rs::RS_INST_COUNT::INST_COUNT) {
            // Colours come before texture coordinates.
            if r.nth(Inst::COL_CN, n) != 0 {
                all.push((r.nth(Inst::COL_ADDR, n) as u8, colour(r.nth(Ip::COL_PTR, r.nth(Inst::COL_ID, n)))));
            }
            if r.nth(Inst::TEX_CN, n) == 1 {
                let ip = r.nth(Inst::TEX_ID, n);
                let pointers = [Ip::TEX_PTR_S, Ip::TEX_PTR_T, Ip::TEX_PTR_R, Ip::TEX_PTR_Q].map(|bits| r.nth(bits, ip));
                let component = pointers.into_iter().find(|&pointer| pointer < POINTS_TO_ZERO).unwrap_or(0);
                all.push((r.nth(Inst::TEX_ADDR, n) as u8, set(component)));
            }
        }
        all
    }

    /// Columns of the texture of a unit.
    #[must_use]
    pub fn columns(&self, unit: u8) -> u32 {
        self.registers.nth(tx::TX_FORMAT0_0::TXWIDTH, unit.into()) + 1
    }

    /// The vertex program.
    #[must_use]
    pub fn vertex(&self) -> pvs::VertexProgram {
        self.state.vertex_program(&self.registers)
    }

    /// A constant of the vertex program, by its address there.
    #[must_use]
    pub fn vertex_constant(&self, address: u8) -> [u32; 4] {
        let program = self.vertex();
        let place = FIRST_CONSTANT + usize::from(program.const_base) + usize::from(address);
        let is_there = address <= program.const_max;
        self.state.pvs.as_chunks::<4>().0.get(place).copied().filter(|_| is_there).unwrap_or_default()
    }
}
