//! The reference interpreter as an engine that stores outputs by itself where memory lends them, as fast engines do.

use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Cells, Direct, Exports, Space, Target, VertexEvent};
use ctm_exec::x1k::{Elements, Input, Outputs, Written};
use ctm_exec::{Control, Engine, Fault, Interp, Outcome, Position, forward_r700_reads, r700, x1k};
use ctm_isa::x1k::INPUTS;

pub struct Stores;

impl Engine for Stores {
    fn name(&self) -> &'static str {
        "stores"
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        let inputs = std::array::from_fn(|index| memory.input(index as u8));
        if let Some(arrays) = memory.direct() {
            return Interp.run_x1k_under(control, launch, &mut Arrays { inputs, arrays });
        }
        Interp.run_x1k_under(control, launch, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        let all: Vec<_> = Target::all().collect();
        if let Some(Direct { targets, reads, .. }) = memory.direct(&[], &all) {
            let targets =
                all.iter().zip(targets).filter_map(|(&target, array)| Some((target, bytes(array?)))).collect();
            return Interp.run_r700_under(control, launch, &mut Targets { targets, reads });
        }
        Interp.run_r700_under(control, launch, memory)
    }
}

fn refused() -> MemoryFault {
    MemoryFault { what: "memory".into(), address: None, reason: "this test writes only what memory lends".into() }
}

/// The arrays that an X1K launch is lent.
struct Arrays<'a> {
    inputs: [Option<Input>; INPUTS],
    arrays: x1k::Direct<'a>,
}

impl x1k::Memory for Arrays<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.inputs[usize::from(index)]
    }

    fn read(&self, index: u8, x: u32, y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let of = self.input(index).zip(self.arrays.inputs[usize::from(index)].as_ref());
        of.map(|(input, array)| array.read(x, y, [input.width, input.height])).ok_or_else(refused)
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let mut all = Written::default();
        for ((array, values), &written) in self.arrays.outputs.iter_mut().zip(&outputs.values).zip(&outputs.written) {
            add(&mut all, array.as_mut().map(|array| array.write(at.i, at.j, values, written)));
        }
        Ok(all)
    }

    fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<Written, MemoryFault> {
        Err(refused())
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// The mapped targets of an R700 launch, and its reads.
struct Targets<'a> {
    targets: Vec<(Target, Elements<&'a mut [u8]>)>,
    reads: Box<dyn r700::Memory + 'a>,
}

impl r700::Memory for Targets<'_> {
    forward_r700_reads!(reads);

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.reads.load(space, dword)
    }

    fn store(&mut self, _space: Space, _dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        Err(refused())
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        Err(refused())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        let mut all = Written::default();
        for (target, array) in &mut self.targets {
            add(&mut all, exports.get(*target).map(|(values, written)| array.write(at.i, at.j, &values, written)));
        }
        Ok(all)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

fn add(all: &mut Written, one: Option<Written>) {
    let Written { elements, bytes } = one.unwrap_or_default();
    all.elements += elements;
    all.bytes += bytes;
}

/// A target that `Verify` lends.
fn bytes(array: Elements<Cells<'_>>) -> Elements<&mut [u8]> {
    let shape = array.with(());
    let Cells::Bytes(bytes) = array.bytes else { panic!("copies are lent as bytes") };
    shape.with(bytes)
}
