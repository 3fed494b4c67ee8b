//! The memory of an X1K launch: the caller's arrays in place.

use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Direct, Elements, Input, Memory, Outputs, Sampler, Written};
use ctm_isa::x1k::{INPUTS, OUTPUTS};

/// An input's elements, and how coordinates become them.
type Sampled<'a> = (Elements<&'a [u8]>, Sampler);

/// The memory of a run: every processor runs, every output passes.
pub(super) struct LaunchArrays<'a> {
    pub inputs: [Option<Sampled<'a>>; INPUTS],
    pub outputs: [Option<Elements<&'a mut [u8]>>; OUTPUTS],
}

fn refused(what: String, reason: String) -> MemoryFault {
    MemoryFault { what, address: None, reason }
}

impl LaunchArrays<'_> {
    /// Stores channels of an element of an output.
    fn store(&mut self, slot: usize, x: u32, y: u32, bits: [u32; 4], mask: u8) -> Result<Written, MemoryFault> {
        let Some(output) = &mut self.outputs[slot] else { return Ok(Written::default()) };
        if x >= output.width || y >= output.height {
            let reason = format!("element ({x}, {y}) lies outside its {} x {} elements", output.width, output.height);
            return Err(refused(format!("output {slot}"), reason));
        }
        let (channels, mask) = (usize::from(output.channels), mask & output.mask);
        let first = (y as usize * output.pitch as usize + x as usize) * channels * 4;
        let mut bytes = 0;
        for c in (0..channels).filter(|c| mask >> c & 1 == 1) {
            output.bytes[first + 4 * c..first + 4 * c + 4].copy_from_slice(&bits[c].to_ne_bytes());
            bytes += 4;
        }
        Ok(Written { elements: u64::from(bytes > 0), bytes })
    }
}

impl Memory for LaunchArrays<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, index: u8) -> Option<Input> {
        let (elements, sampler) = self.inputs.get(usize::from(index))?.as_ref()?;
        let element_bytes = elements.form.element_bytes(elements.channels);
        Some(Input { width: elements.width, height: elements.height, element_bytes, sampler: *sampler })
    }

    fn read(&self, index: u8, x: u32, y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let what = || format!("input {index}");
        let Some(Some((elements, _))) = self.inputs.get(usize::from(index)) else {
            return Err(refused(what(), "it is not given".to_owned()));
        };
        let (width, height) = (elements.width, elements.height);
        if x >= width || y >= height {
            return Err(refused(what(), format!("element ({x}, {y}) lies outside its {width} x {height} elements")));
        }
        Ok(elements.read(x, y, [width, height]))
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let mut written = Written::default();
        for slot in (0..OUTPUTS).filter(|&slot| outputs.written[slot] != 0) {
            let stored = self.store(slot, at.i, at.j, outputs.values[slot], outputs.written[slot])?;
            written.elements += stored.elements;
            written.bytes += stored.bytes;
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.store(0, x, y, [bits, 0, 0, 0], 1)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let mut direct = Direct::default();
        for (to, from) in direct.inputs.iter_mut().zip(&self.inputs) {
            *to = from.as_ref().map(|(elements, _)| elements.clone());
        }
        for (to, from) in direct.outputs.iter_mut().zip(&mut self.outputs) {
            *to = from.as_mut().map(|elements| {
                let like = elements.with(());
                like.with(&mut *elements.bytes)
            });
        }
        Some(direct)
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        std::array::from_fn(|n| {
            self.inputs[n].as_ref().filter(|_| cfg!(target_endian = "little")).map(|(elements, _)| elements.clone())
        })
    }
}
