//! From a capture of the client on an R580 to the X1K program of the draw.
//!
//! Mesa's r300 driver loads a pixel program into the chip's slots through a port of two registers: one sets the slot, the other takes word after word. The program
//! is the slots' contents at the last draw.

use crate::pair::Error;
use crate::types::by_number;
use ctm_isa::x1k::INSTRUCTION_SLOTS;
use ctm_isa::x1k::inst::Words;
use ctm_isa::x1k::program::{Literal, Preload, Program, Symbol, SymbolKind};
use ctm_radeon::capture::{Event, ReadError, Reader};
use ctm_radeon::packets::Packets;
use ctm_radeon::packets::r500::R580;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Registers of an R500, by their offsets in bytes. Fields are those of `docs/image.md`; those of textures are named here.
mod register {
    /// Where the port writes: INDEX 8:0; TYPE 16 is 0 for instructions and 1 for constants.
    pub const GA_US_VECTOR_INDEX: u32 = 0x4250;
    /// The port: six words an instruction, four a constant; INDEX goes on by itself.
    pub const GA_US_VECTOR_DATA: u32 = 0x4254;
    /// INST_COUNT 3:0, less one.
    pub const RS_INST_COUNT: u32 = 0x4304;
    /// TEX_CN 4: a texture coordinate is written, to TEX_ADDR 11:5. COL_CN 17:16: a colour is written, to COL_ADDR 24:18.
    pub const RS_INST_0: u32 = 0x4320;
    /// TXWIDTH 10:0, less one.
    pub const TX_FORMAT0_0: u32 = 0x4480;
    pub const US_CONFIG: u32 = 0x4600;
    pub const US_FC_CTRL: u32 = 0x4624;
    pub const US_CODE_ADDR: u32 = 0x4630;
    pub const US_CODE_OFFSET: u32 = 0x4638;
    pub const US_FC_INT_CONST_0: u32 = 0x4c00;
}

/// Texture units.
const UNITS: u32 = 16;
/// The client's target is 16 pixels wide and high. A further input of programs with the position in clip space.
const OF_TARGET: [(OfTarget, [f32; 4]); 2] =
    [(OfTarget::Half, OfTarget::Half.value(16.0, 16.0)), (OfTarget::Flip, OfTarget::Flip.value(16.0, 16.0))];

/// A pixel program for the X1K.
#[derive(Clone, Debug)]
pub struct Pixel {
    /// The program: samplers and uniforms have their names, other constants their values.
    pub program: Program,
    /// The start values of the temporaries of [`Program::preloads`], in that order.
    pub inputs: Vec<Input>,
    /// Constants that depend on the size of the target.
    pub of_target: Vec<(u8, OfTarget)>,
    /// Its inexpressible parts.
    pub remarks: Vec<String>,
}

/// The start value of a temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A varying, counted as the linker orders them.
    Varying(u8),
    /// The position in clip space: -1 to 1 over the target.
    Position,
}

/// A constant that depends on the size of the target. With these a program makes a position of the window of one of clip space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfTarget {
    /// Half the columns, half the rows, 0.5, 1.
    Half,
    /// 1, 0, -1, the rows: the sign of y for row 0 at the bottom or the top.
    Flip,
}

impl OfTarget {
    /// The name of constant `index` in the program.
    fn name(self, index: u8) -> String {
        let what = match self {
            Self::Half => "half",
            Self::Flip => "flip",
        };
        format!("target_{what}_{index}")
    }

    /// Its value for a target of this size.
    #[must_use]
    pub const fn value(self, columns: f32, rows: f32) -> [f32; 4] {
        match self {
            Self::Half => [columns / 2.0, rows / 2.0, 0.5, 1.0],
            Self::Flip => [1.0, 0.0, -1.0, rows],
        }
    }
}

/// The chip's state as far as a pixel program is concerned.
#[derive(Clone)]
struct ChipState {
    registers: BTreeMap<u32, u32>,
    slots: Vec<Words>,
    constants: BTreeMap<u8, [u32; 4]>,
    /// The next word of the port.
    word: usize,
}

impl ChipState {
    fn new() -> Self {
        Self { registers: BTreeMap::new(), slots: vec![[0; 6]; INSTRUCTION_SLOTS], constants: BTreeMap::new(), word: 0 }
    }

    fn at(&self, register: u32) -> u32 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    fn set(&mut self, register: u32, value: u32) {
        self.registers.insert(register, value);
        match register {
            register::GA_US_VECTOR_INDEX => self.word = 0,
            register::GA_US_VECTOR_DATA => self.load(value),
            _ => {}
        }
    }

    /// A word through the port. Words past the end are dropped.
    fn load(&mut self, value: u32) {
        let index = self.at(register::GA_US_VECTOR_INDEX);
        let (first, of_constants) = ((index & 0x1ff) as usize, index >> 16 & 1 == 1);
        let (item, word) = if of_constants { (self.word / 4, self.word % 4) } else { (self.word / 6, self.word % 6) };
        self.word += 1;
        if !of_constants {
            self.slots.get_mut(first + item).into_iter().for_each(|words| words[word] = value);
        } else if let Ok(index) = u8::try_from(first + item) {
            self.constants.entry(index).or_default()[word] = value;
        }
    }

    /// Runs a stream; `drawn` is called at each draw.
    fn run(&mut self, words: &[u32], mut drawn: impl FnMut(&Self)) -> Result<(), Error> {
        for packet in Packets::of(&R580, words) {
            let packet = packet.map_err(|_| Error::Stream)?;
            packet.direct_registers().for_each(|(offset, value)| self.set(offset, value));
            if packet.draws() {
                drawn(self);
            }
        }
        Ok(())
    }

    /// The program: slots from the beginning of its part of the chip's to its last instruction.
    fn program(&self) -> Result<Program, Error> {
        let (address, offset) = (self.at(register::US_CODE_ADDR), self.at(register::US_CODE_OFFSET) & 0x1ff);
        let (first, last) = (address & 0x1ff, address >> 16 & 0x1ff);
        let begin = offset as usize;
        let words = self.slots.get(begin..=begin + last as usize).ok_or(Error::Program("pixel"))?.to_vec();
        let config = self.at(register::US_CONFIG);
        Ok(Program {
            first: first as u16,
            last: last as u16,
            full_flow_control: self.at(register::US_FC_CTRL) >> 31 == 1,
            uncached: config & 1 == 1,
            zero_times_anything: config >> 1 & 1 == 1,
            preloads: Vec::new(),
            ..Program::from_words(words)
        })
    }

    /// The temporaries that the rasteriser fills, in its order.
    fn loaded(&self) -> Vec<u8> {
        let count = (self.at(register::RS_INST_COUNT) & 15) + 1;
        let mut temps = Vec::new();
        for n in 0..count {
            let inst = self.at(register::RS_INST_0 + 4 * n);
            // Old colours come before texture coordinates.
            if inst >> 16 & 3 != 0 {
                temps.push((inst >> 18 & 127) as u8);
            }
            if inst >> 4 & 1 == 1 {
                temps.push((inst >> 5 & 127) as u8);
            }
        }
        temps
    }
}

/// The pixel program of the last draw in a capture. `open` opens the capture, `told` is the result of [`reflect`](crate::reflect).
///
/// # Errors
/// A capture that is damaged, is of another chip, or has no draw.
pub fn pixel<R: std::io::Read>(open: impl Fn() -> std::io::Result<R>, told: &Value) -> Result<Pixel, Error> {
    let from = open().map_err(|e| Error::Capture(ReadError::Io(e)))?;
    let mut reader = Reader::new(from)?;
    let (mut state, mut last) = (ChipState::new(), None);
    while let Some(event) = reader.next()? {
        if let Event::Submission(submission) = event {
            state.run(&submission.words, |at| last = Some(at.clone()))?;
        }
    }
    let state = last.ok_or(Error::NoDraw)?;
    let mut program = state.program()?;
    let usage = program.usage();
    let mut remarks = Vec::new();

    let reads_position = told["position"].as_bool().unwrap_or(false);
    let temps = state.loaded();
    let mut inputs = Vec::new();
    for (index, &temp) in (0..).zip(&temps) {
        program.preloads.push(Preload::Interpolant { index, temp });
        let is_position = reads_position && usize::from(index) + 1 == temps.len();
        inputs.push(if is_position { Input::Position } else { Input::Varying(index) });
    }

    let names = ValueNames::of(told);
    for &unit in &usage.inputs {
        let columns = (state.at(register::TX_FORMAT0_0 + 4 * (u32::from(unit) % UNITS)) & 0x7ff) + 1;
        match names.samplers.get(&columns) {
            Some(name) => program.symbols.push(Symbol { name: name.clone(), kind: SymbolKind::Input, index: unit }),
            None => remarks.push(format!("the program reads texture {unit}, which no sampler is")),
        }
    }
    let mut of_target = Vec::new();
    for (&index, bits) in state.constants.iter().filter(|(index, _)| usage.float_constants.contains(*index)) {
        let values = bits.map(f32::from_bits);
        let of_its_size = OF_TARGET.into_iter().find(|(_, known)| reads_position && *known == values);
        let name = bits.iter().find_map(|word| names.uniforms.get(word));
        match (of_its_size, name) {
            // Its value is not the program's, or it would override a job's value.
            (Some((of, _)), _) => {
                of_target.push((index, of));
                program.symbols.push(Symbol { name: of.name(index), kind: SymbolKind::Float, index });
            }
            (None, Some(name)) => {
                program.symbols.push(Symbol { name: name.clone(), kind: SymbolKind::Float, index });
            }
            (None, None) => program.literals.push(Literal::Float { index, bits: *bits }),
        }
    }
    for &index in &usage.int_constants {
        let word = state.at(register::US_FC_INT_CONST_0 + 4 * u32::from(index));
        program.literals.push(Literal::Int { index, value: word.to_le_bytes() });
    }
    let named: BTreeSet<&str> = program.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    for name in names.unseen.iter().filter(|name| !named.contains(name.as_str())) {
        remarks.push(format!("uniform `{name}` is a boolean, whose place cannot be seen"));
    }
    Ok(Pixel { program, inputs, of_target, remarks })
}

/// Names by the values that the client gave.
#[derive(Default)]
struct ValueNames {
    /// Samplers by the columns of their textures.
    samplers: BTreeMap<u32, String>,
    /// Uniforms by each of their components.
    uniforms: BTreeMap<u32, String>,
    /// Uniforms without a distinct value.
    unseen: Vec<String>,
}

impl ValueNames {
    fn of(told: &Value) -> Self {
        let mut names = Self::default();
        let number = |value: &Value| u32::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
        let list = |name: &str| told[name].as_array().map(Vec::as_slice).unwrap_or_default();
        for sampler in list("samplers") {
            let name = sampler["name"].as_str().unwrap_or_default().to_owned();
            names.samplers.insert(number(&sampler["columns"]), name);
        }
        for uniform in list("uniforms") {
            let name = uniform["name"].as_str().unwrap_or_default();
            let Some(of) = by_number(number(&uniform["type"])) else { continue };
            if of.is_boolean() {
                names.unseen.push(name.to_owned());
                continue;
            }
            let (pattern, count) = (number(&uniform["pattern"]), number(&uniform["size"]).max(1));
            // A constant register holds a column of one element.
            let registers = of.columns as u32 * count;
            for register in 0..registers {
                let full = if registers == 1 { name.to_owned() } else { format!("{name}[{register}]") };
                let first = pattern + register * of.rows as u32;
                names.uniforms.extend((0..of.rows as u32).map(|row| (first + row, full.clone())));
            }
        }
        names
    }
}
