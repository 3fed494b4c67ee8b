//! Launches over memory that maps its outputs: groups write these as soon as they end, in any order.

use crate::launch::wavefronts::bindings::{Binding, Texels, holds};
use crate::launch::wavefronts::outputs as lent;
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Cells, Target};
use ctm_exec::x1k::{Elements, Input, Memory, Outputs, Written};
use ctm_ir::masked::Fetch;
use ctm_isa::x1k::INPUTS;
use std::sync::atomic::AtomicU32;

/// The arrays of inputs that memory maps.
pub type Arrays<'a> = &'a [Option<Elements<&'a [u8]>>; INPUTS];

/// A memory of arrays that another one maps.
#[derive(Clone, Copy)]
pub struct Views<'a> {
    descriptors: [Option<Input>; INPUTS],
    elements: Arrays<'a>,
    /// The destination of processors' exports, if there is one.
    pub outputs: Option<&'a lent::Outputs<'a>>,
    /// The textures of a draw.
    textures: Option<&'a dyn ctm_exec::r700::Memory>,
}

/// Plain memory: any bits are a value, and there is no padding.
pub trait Memories {}
impl Memories for u8 {}
impl Memories for [u32; 4] {}

/// Memory as dwords that threads may store to side by side; `None` when it is not aligned.
fn cells<T: Memories>(memory: &mut [T]) -> Option<&[AtomicU32]> {
    #[allow(unsafe_code, reason = "memory becomes cells")]
    // SAFETY: a dword may hold any bits, and so may the bytes there; an atomic dword has the layout of a dword; the
    // borrow is exclusive and stays so.
    let (before, cells, _) = unsafe { memory.align_to_mut::<AtomicU32>() };
    before.is_empty().then_some(&*cells)
}

/// The same for mapped elements.
pub fn cells_of(elements: Cells<'_>) -> Option<&[AtomicU32]> {
    match elements {
        // They are little-endian.
        Cells::Bytes(_) if cfg!(target_endian = "big") => None,
        Cells::Bytes(bytes) => cells(bytes),
        Cells::Dwords(elements) => cells(elements),
    }
}

impl<'a> Views<'a> {
    /// Inputs that memory maps; `inputs`: those that are fetched. `None` where one of these is not mapped.
    pub fn lent(
        descriptors: [Option<Input>; INPUTS],
        elements: Arrays<'a>,
        textures: Option<&'a dyn ctm_exec::r700::Memory>,
        inputs: u16,
    ) -> Option<Self> {
        let is_held = |input: usize| Some(holds(elements[input].as_ref()?, &descriptors[input]?));
        let are_held = (0..INPUTS).filter(|input| inputs >> input & 1 == 1).all(|input| is_held(input) == Some(true));
        are_held.then_some(Self { descriptors, elements, outputs: None, textures })
    }
}

/// The direct access of a fetch to an input among these mapped arrays, or to a texture of a draw, if code has it.
pub fn binding<'a>(fetch: &Fetch, memory: &'a dyn Memory, elements: Arrays<'a>) -> Option<Binding<'a>> {
    if let Fetch::Texture(inst) = fetch {
        return Binding::of_texture(true, memory.textures()?, inst);
    }
    let Fetch::Input { input, uncached: false, .. } = *fetch else { return None };
    let (descriptor, elements) = (memory.input(input)?, elements[usize::from(input & 15)].as_ref()?);
    Texels::of_input(&descriptor, elements).map(Binding::Texels)
}

impl Memory for Views<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.descriptors[usize::from(index & 15)]
    }

    fn read(&self, index: u8, x: u32, y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let of = usize::from(index & 15);
        let read = |input: Input| Some(self.elements[of].as_ref()?.read(x, y, [input.width, input.height]));
        Ok(self.descriptors[of].and_then(read).unwrap_or_default())
    }

    fn textures(&self) -> Option<&dyn ctm_exec::r700::Memory> {
        self.textures
    }

    fn commit(&mut self, at: Position, sent: &Outputs) -> Result<Written, MemoryFault> {
        let written = |target| match target {
            Target::Pixel(n) => sent.values.get(usize::from(n)).copied().zip(sent.written.get(usize::from(n)).copied()),
            Target::Depth | Target::Position(_) | Target::Parameter(_) => None,
        };
        Ok(self.outputs.map(|lent| lent.send(at, sent.conditional_value, &written)).unwrap_or_default())
    }

    fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}
