//! A memory of plain arrays: for tests, examples, and hosts that need no device.

use super::{Direct, Input, Memory, Outputs, Sampler, Target};
use crate::arrays::{Elements, Form, Picture, Written};
use crate::domain::Position;
use crate::fault::MemoryFault;
use crate::rows::LaneRows;
use ctm_isa::x1k::{INPUTS, OUTPUTS};

/// Inputs and outputs as pictures in host memory.
///
/// Every processor of the domain runs and every output passes. Outputs that are not bound are dropped; a bound output must hold the
/// domain. Uncached writes go to channel 0 of output 0.
///
/// ```
/// use ctm_exec::arrays::Picture;
/// use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
/// use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp};
/// use ctm_isa::x1k::Program;
///
/// // o0 = r0, by MAX with the output modifier disabled; r0 is the index pair.
/// let words = [0x0007_8105, 0x0802_0000, 0x0802_0000, 0x1c44_0220, 0x1c60_c003, 0x0000_0005];
/// let program = Program::from_words(vec![words]);
/// let launch = Launch {
///     program: &program,
///     constants: &Constants::default(),
///     planes: &[Plane::position(0)],
///     rows: &[],
///     domain: Domain { i0: 0, j0: 0, i1: 7, j1: 7 },
///     group: GroupSize::X1K,
///     draw: ctm_exec::x1k::DrawParts::default(),
///     budget: Budget::default(),
///     threads: 0,
///     checks: false,
///     counters: true,
/// };
/// let mut memory = Arrays::default();
/// memory.outputs[0] = Some(Picture::filled(8, 8, [0.0; 4]));
/// Interp.run_x1k(&launch, &mut memory)?;
/// let out = memory.outputs[0].as_ref().and_then(|o| o.get(5, 2)).unwrap_or_default();
/// assert_eq!(out.map(f32::from_bits), [5.0, 2.0, 0.0, 0.0]);
/// # Ok::<(), ctm_exec::Fault>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    /// Inputs with their samplers.
    pub inputs: [Option<(Picture, Sampler)>; INPUTS],
    /// The input through which output 0 is read, in place of a picture of its own.
    pub feedback: Option<u8>,
    /// Outputs.
    pub outputs: [Option<Picture>; OUTPUTS],
    /// Conditional values in the order in which they came.
    pub conditional_values: Vec<(Position, u32)>,
    /// Rows that take outputs and conditional values, instead of the above; they begin again with each launch only if the caller says so.
    pub lanes: Option<LaneRows<Target>>,
}

impl Memory for Arrays {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, index: u8) -> Option<Input> {
        let (picture, sampler) = self.source(index)?;
        Some(Input { width: picture.width, height: picture.height, element_bytes: 16, sampler })
    }

    fn read(&self, index: u8, x: u32, y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let picture = self.source(index).map(|(picture, _)| picture);
        picture.and_then(|picture| picture.get(x, y)).ok_or_else(|| outside(&format!("input {index}"), x, y, picture))
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        if let Some(rows) = &mut self.lanes {
            return Ok(outputs.store(at, rows));
        }
        let mut written = Written::default();
        self.conditional_values.extend(outputs.conditional_value.map(|value| (at, value)));
        for (target, picture) in self.outputs.iter_mut().enumerate() {
            let Some(picture) = picture else { continue };
            if outputs.written[target] == 0 {
                continue;
            }
            let Some(index) = picture.index(at.i, at.j) else {
                return Err(outside(&format!("output {target}"), at.i, at.j, Some(picture)));
            };
            for channel in (0..4).filter(|c| outputs.written[target] >> c & 1 == 1) {
                picture.elements[index][channel] = outputs.values[target][channel];
                written.bytes += 4;
            }
            written.elements += 1;
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        let picture = self.outputs[0].as_mut();
        match picture {
            Some(picture) => match picture.index(x, y) {
                Some(index) => {
                    picture.elements[index][0] = bits;
                    Ok(Written { elements: 1, bytes: 4 })
                }
                None => Err(outside("output 0", x, y, Some(picture))),
            },
            None => Err(outside("output 0", x, y, None)),
        }
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.feedback.is_some()
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        std::array::from_fn(|index| {
            // Only on such hosts has a number in memory the layout of the interface.
            let (picture, _) = self.source(u8::try_from(index).ok()?).filter(|_| cfg!(target_endian = "little"))?;
            Some(elements(bytemuck::cast_slice(&picture.elements), picture.width, picture.height))
        })
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        // Only on such hosts has a number in memory the layout of the interface.
        if self.feedback.is_some() || self.lanes.is_some() || cfg!(target_endian = "big") {
            return None;
        }
        let mut direct = Direct::default();
        for (to, from) in direct.inputs.iter_mut().zip(&self.inputs) {
            *to = from
                .as_ref()
                .map(|(picture, _)| elements(bytemuck::cast_slice(&picture.elements), picture.width, picture.height));
        }
        for (to, from) in direct.outputs.iter_mut().zip(&mut self.outputs) {
            *to = from.as_mut().map(|picture| {
                elements(bytemuck::cast_slice_mut(&mut picture.elements), picture.width, picture.height)
            });
        }
        Some(direct)
    }

    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        self.lanes.as_mut()
    }
}

fn elements<B>(bytes: B, width: u32, height: u32) -> Elements<B> {
    Elements { bytes, pitch: width, width, height, form: Form::Floats, channels: 4, mask: 0xf, tiles: None }
}

impl Arrays {
    /// The picture that an input shows.
    fn source(&self, index: u8) -> Option<(&Picture, Sampler)> {
        if self.feedback == Some(index) {
            return self.outputs[0].as_ref().map(|picture| (picture, Sampler::default()));
        }
        self.inputs.get(usize::from(index))?.as_ref().map(|(picture, sampler)| (picture, *sampler))
    }
}

fn outside(what: &str, x: u32, y: u32, picture: Option<&Picture>) -> MemoryFault {
    let reason = match picture {
        Some(p) => format!("element ({x}, {y}) lies outside its {} x {} elements", p.width, p.height),
        None => "nothing is bound there".into(),
    };
    MemoryFault { what: what.into(), address: None, reason }
}
