//! Programs from text over arrays of any number of channels, for tests of whole launches.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "every test file uses its part, and a test stops at what it did not expect"
)]

use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{
    Constants, Direct, Elements, Form, Input, Launch, Memory, Outputs, Plane, Sampler, Target, Written,
};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp, LaneRows, Outcome, Position};
use ctm_isa::x1k::program::{Literal, SymbolKind};
use ctm_isa::x1k::{INPUTS, Program};
use std::ops::{Deref, DerefMut};

/// An array of 1, 2 or 4 channels, with gaps between its rows, aligned to 64 bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct PaddedArray<W = Vec<u32>> {
    pub width: u32,
    pub height: u32,
    pub pitch: u32,
    pub channels: u8,
    /// The element format.
    pub form: Form,
    /// Channels that may be written.
    pub mask: u8,
    words: W,
    skip: usize,
}

impl PaddedArray {
    /// The bits of channel c of element (x, y) are `value(x, y, c)`.
    pub fn new(width: u32, height: u32, channels: u8, value: impl Fn(u32, u32, u8) -> u32) -> Self {
        Self::with_pitch(width.next_multiple_of(32 / u32::from(channels)) + 16, [width, height], channels, value)
    }

    /// The same, with this pitch in elements.
    pub fn with_pitch(
        pitch: u32,
        [width, height]: [u32; 2],
        channels: u8,
        value: impl Fn(u32, u32, u8) -> u32,
    ) -> Self {
        let words = vec![0; pitch as usize * height as usize * usize::from(channels) + 16];
        let skip = (0..16).find(|&s| (words[s..].as_ptr() as usize).is_multiple_of(64)).unwrap_or(0);
        let mut array = Self { width, height, pitch, channels, form: Form::Floats, mask: 0xf, words, skip };
        for y in 0..height {
            for x in 0..width {
                for c in 0..channels {
                    let at = array.at(x, y) + usize::from(c);
                    array.words[at] = value(x, y, c);
                }
            }
        }
        array
    }

    /// The same words as elements of another form, one channel wide: as many as rows of this number of words hold.
    pub fn read_as(self, form: Form) -> Self {
        assert_eq!(self.channels, 1);
        let in_word = 4 / form.element_bytes(1);
        let channels = if matches!(form, Form::Bytes { .. }) { 4 } else { 1 };
        Self { width: self.width * in_word, pitch: self.pitch * in_word, form, channels, ..self }
    }

    /// The same array in other memory: all of it, from element (0, 0) to the last one.
    pub fn in_memory<W>(&self, of: impl FnOnce(&[u32]) -> W) -> PaddedArray<W> {
        let end = self.skip + self.elements(()).bytes_needed() as usize / 4;
        let words = of(&self.words[self.skip..end]);
        let Self { width, height, pitch, channels, form, mask, .. } = *self;
        PaddedArray { width, height, pitch, channels, form, mask, words, skip: 0 }
    }
}

impl<W: Deref<Target = [u32]>> PaddedArray<W> {
    fn at(&self, x: u32, y: u32) -> usize {
        self.skip + (y as usize * self.pitch as usize + x as usize) * usize::from(self.channels)
    }

    /// Bits of r, g, b, a.
    pub fn get(&self, x: u32, y: u32) -> [u32; 4] {
        let words = &self.words[self.skip..];
        let part = |x: u32, y: u32| {
            let bits = 8 * self.form.element_bytes(self.channels);
            let first = u64::from(bits) * (u64::from(y) * u64::from(self.pitch) + u64::from(x));
            words[first as usize / 32] >> (first % 32)
        };
        let share = |n: u32, most: u32| ((n & most) as f32 / most as f32).to_bits();
        match self.form {
            Form::Floats => {
                let mut texel = [0, 0, 0, 1f32.to_bits()];
                let at = self.at(x, y);
                texel
                    .iter_mut()
                    .zip(&self.words[at..at + usize::from(self.channels)])
                    .for_each(|(to, from)| *to = *from);
                texel
            }
            Form::Square => {
                let (right, below) = ((x + 1).min(self.width - 1), (y + 1).min(self.height - 1));
                [part(right, y), part(x, below), part(right, below), part(x, y)]
            }
            Form::Bytes { swapped } => {
                let order = if swapped { [2, 1, 0, 3] } else { [0, 1, 2, 3] };
                order.map(|byte| share(part(x, y) >> (8 * byte), 255))
            }
            Form::Words => [share(part(x, y), 65535), 0, 0, 1f32.to_bits()],
        }
    }

    fn elements<B>(&self, bytes: B) -> Elements<B> {
        let Self { width, height, pitch, channels, form, mask, .. } = *self;
        Elements { bytes, pitch, width, height, form, channels, mask, tiles: None }
    }
}

/// Inputs and outputs.
#[derive(Clone, Debug, Default)]
pub struct Surfaces<W = Vec<u32>> {
    pub inputs: Vec<PaddedArray<W>>,
    pub outputs: Vec<PaddedArray<W>>,
    pub samplers: [Sampler; 4],
    /// Whether engines may see the arrays.
    pub direct: bool,
    /// Whether engines may see the inputs.
    pub lends: bool,
    /// The input through which output 0 is read, in place of an array of its own.
    pub feedback: Option<u8>,
    /// Whether some processors are not to run.
    pub refuses: bool,
    /// Rows that take the outputs, in place of the arrays.
    pub rows: Option<LaneRows<Target>>,
    /// Conditional values in the order in which they came.
    pub conditional_values: Vec<(Position, u32)>,
}

impl Surfaces {
    /// Two outputs with gaps between their rows, which engines may write themselves.
    pub fn two_outputs() -> Self {
        let output = |_| PaddedArray::with_pitch(70, [64, 8], 4, |x, y, _| x ^ y);
        Self { outputs: (0..2).map(output).collect(), direct: true, ..Self::default() }
    }

    /// The same surfaces in other memory.
    pub fn in_memory<W>(&self, mut of: impl FnMut(&[u32]) -> W) -> Surfaces<W> {
        Surfaces {
            inputs: self.inputs.iter().map(|array| array.in_memory(&mut of)).collect(),
            outputs: self.outputs.iter().map(|array| array.in_memory(&mut of)).collect(),
            samplers: self.samplers,
            direct: self.direct,
            lends: self.lends,
            feedback: self.feedback,
            refuses: self.refuses,
            rows: self.rows.clone(),
            conditional_values: self.conditional_values.clone(),
        }
    }
}

impl<W: Deref<Target = [u32]>> Surfaces<W> {
    /// The contents of an input, and its sampler.
    fn source(&self, index: u8) -> Option<(&PaddedArray<W>, Sampler)> {
        if self.feedback == Some(index) {
            return self.outputs.first().map(|array| (array, Sampler::default()));
        }
        let array = self.inputs.get(usize::from(index))?;
        Some((array, self.samplers[usize::from(index)]))
    }

    /// The first place where outputs or conditional values differ.
    pub fn first_difference<V: Deref<Target = [u32]>>(&self, expected: &Surfaces<V>) -> Option<String> {
        for (target, (f, e)) in self.outputs.iter().zip(&expected.outputs).enumerate() {
            let all = || (0..e.height).flat_map(|y| (0..e.width).map(move |x| (x, y)));
            if let Some((x, y)) = all().find(|&(x, y)| f.get(x, y) != e.get(x, y)) {
                let (f, e) = (f.get(x, y), e.get(x, y));
                return Some(format!("output {target} ({x}, {y}): {f:08x?} instead of {e:08x?}"));
            }
        }
        if self.rows != expected.rows {
            return Some("rows of outputs, or survivors, differ".into());
        }
        (self.conditional_values != expected.conditional_values).then(|| "conditional values differ".into())
    }
}

impl<W: DerefMut<Target = [u32]> + Sync> Memory for Surfaces<W> {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        Ok(!self.refuses || !(5 * at.i + 3 * at.j).is_multiple_of(7))
    }

    fn input(&self, index: u8) -> Option<Input> {
        let (array, sampler) = self.source(index)?;
        Some(Input {
            width: array.width,
            height: array.height,
            element_bytes: array.form.element_bytes(array.channels),
            sampler,
        })
    }

    fn read(&self, index: u8, x: u32, y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        match self.source(index) {
            Some((array, _)) if x < array.width && y < array.height => Ok(array.get(x, y)),
            _ => Err(outside("input", index.into(), x, y)),
        }
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        if let Some(rows) = &mut self.rows {
            return Ok(outputs.store(at, rows));
        }
        let mut written = Written::default();
        self.conditional_values.extend(outputs.conditional_value.map(|value| (at, value)));
        for (target, array) in self.outputs.iter_mut().enumerate() {
            let mask = outputs.written[target] & array.mask & ((1 << array.channels) - 1) as u8;
            if mask == 0 {
                continue;
            }
            if at.i >= array.width || at.j >= array.height {
                return Err(outside("output", target, at.i, at.j));
            }
            let shape = array.elements(());
            let mut elements = shape.with(bytes_of_mut(&mut array.words[array.skip..]));
            let stored = elements.write(at.i, at.j, &outputs.values[target], mask);
            written.elements += stored.elements;
            written.bytes += stored.bytes;
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        match self.outputs.first_mut() {
            Some(array) if x < array.width && y < array.height => {
                let place = array.at(x, y);
                array.words[place] = bits;
                Ok(Written { elements: 1, bytes: 4 })
            }
            _ => Err(outside("output", 0, x, y)),
        }
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.feedback.is_some()
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        std::array::from_fn(|index| {
            let (array, _) = self.source(index as u8).filter(|_| self.lends)?;
            Some(array.elements(bytes_of(&array.words[array.skip..])))
        })
    }

    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        self.rows.as_mut().filter(|_| !self.refuses)
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        if !self.direct || self.feedback.is_some() || self.refuses || self.rows.is_some() {
            return None;
        }
        let mut direct = Direct::default();
        for (to, array) in direct.inputs.iter_mut().zip(&self.inputs) {
            *to = Some(array.elements(bytes_of(&array.words[array.skip..])));
        }
        for (to, array) in direct.outputs.iter_mut().zip(&mut self.outputs) {
            let shape = array.elements(());
            *to = Some(shape.with(bytes_of_mut(&mut array.words[array.skip..])));
        }
        Some(direct)
    }
}

fn outside(what: &str, index: usize, x: u32, y: u32) -> MemoryFault {
    MemoryFault { what: format!("{what} {index}"), address: None, reason: format!("no element ({x}, {y})") }
}

fn bytes_of(words: &[u32]) -> &[u8] {
    bytemuck::cast_slice(words)
}

fn bytes_of_mut(words: &mut [u32]) -> &mut [u8] {
    bytemuck::cast_slice_mut(words)
}

/// A program with its constants.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: Program,
    pub constants: Constants,
    pub planes: Vec<Plane>,
    pub domain: Domain,
    pub group: GroupSize,
    pub threads: usize,
    /// Whether everything is counted.
    pub counters: bool,
    pub budget: Budget,
}

impl Case {
    /// From text; literals are in their places.
    pub fn new(text: &str, [i0, j0, i1, j1]: [u32; 4]) -> Self {
        let assembly = ctm_isa::x1k::text::assemble(text);
        let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
        let mut constants = Constants::default();
        for literal in &program.literals {
            match *literal {
                Literal::Float { index, bits } => constants.float[usize::from(index)] = bits,
                Literal::Int { index, value } => constants.int[usize::from(index)] = value,
                Literal::Bool { index, value } => constants.bool[usize::from(index)] = value,
            }
        }
        let domain = Domain { i0, j0, i1, j1 };
        Self {
            program,
            constants,
            planes: vec![Plane::position(0)],
            domain,
            group: GroupSize::X1K,
            threads: 0,
            counters: true,
            budget: Budget::default(),
        }
    }

    /// From an example's file.
    pub fn example(file: &str, domain: [u32; 4]) -> Self {
        let path = crate::root().join(file);
        Self::new(&std::fs::read_to_string(path).unwrap(), domain)
    }

    pub fn float(mut self, name: &str, value: [f32; 4]) -> Self {
        let index = self.program.symbol(SymbolKind::Float, name).unwrap();
        self.constants.float[usize::from(index)] = value.map(f32::to_bits);
        self
    }

    pub fn int(mut self, name: &str, value: [u8; 3]) -> Self {
        let index = self.program.symbol(SymbolKind::Int, name).unwrap();
        self.constants.int[usize::from(index)] = [value[0], value[1], value[2], 0];
        self
    }

    /// The first engine that differs from the reference interpreter on these surfaces, and where they differ if they do.
    pub fn differing<'e, E: Engine>(&self, engines: &'e [E], memory: &Surfaces) -> Option<(&'e E, String)> {
        let mut expected = memory.clone();
        let outcome = self.run(&Interp, &mut expected);
        engines.iter().find_map(|engine| {
            let mut found = memory.clone();
            let same = self.run(engine, &mut found) == outcome;
            let difference = found.first_difference(&expected);
            (!same || difference.is_some()).then(|| (engine, format!("{difference:?}")))
        })
    }

    pub fn run(&self, engine: &dyn Engine, memory: &mut Surfaces) -> Result<Outcome, Fault> {
        let launch = Launch {
            program: &self.program,
            constants: &self.constants,
            planes: &self.planes,
            rows: &[],
            domain: self.domain,
            group: self.group,
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: self.budget,
            threads: self.threads,
            checks: false,
            counters: self.counters,
        };
        engine.run_x1k(&launch, memory)
    }
}

/// Numbers of a fixed sequence, between -1 and 1, as bits.
pub fn noise(x: u32, y: u32, c: u8) -> u32 {
    let mut n = (x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b) ^ u32::from(c).wrapping_mul(0xc2b2_ae35))
        .wrapping_add(1);
    for shift in [16, 13, 16] {
        n = (n ^ n >> shift).wrapping_mul(0x7feb_352d);
    }
    ((n >> 8) as f32 / 8_388_608.0 - 1.0).to_bits()
}
