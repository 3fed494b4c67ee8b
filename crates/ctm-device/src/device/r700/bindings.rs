//! Bound resources, as registers describe them.

use super::input_size;
use super::registers::{BoundTexture, texel_format};
use crate::device::launch::array;
use crate::device::registers::CommandRegisters;
use crate::mc::ByteOrder;
use crate::memory::GpuAddr;
use ctm_exec::fault::MemoryFault;
use ctm_exec::r700::{Buffer, Elements, Space, Texture};
use ctm_exec::x1k::Form;

/// A buffer, as registers describe it.
pub(super) fn buffer(registers: &CommandRegisters, id: u8) -> Option<Buffer> {
    let place = registers.r700.own.buffers.get(&id)?;
    Some(Buffer { size_bytes: place.bytes.into(), stride_bytes: place.stride_bytes, format: place.format })
}

/// A texture, as registers describe it.
pub(super) fn texture(registers: &CommandRegisters, id: u8) -> Option<Texture> {
    match registers.r700.own.textures.get(&id)? {
        BoundTexture::Texture(texture) => texture.texture(),
        BoundTexture::Input(surface) => {
            let (width, height) = input_size(surface, registers, id);
            let texel_bytes = surface.format.element_bytes();
            Some(Texture { width, height, texel_bytes, format: texel_format(surface.format), ..Texture::default() })
        }
    }
}

/// Something that is not bound, or has no such element.
pub(super) fn missing(what: String, reason: &str) -> MemoryFault {
    MemoryFault { what, address: None, reason: reason.to_owned() }
}

/// The name of a memory in messages.
pub(super) fn space_name(space: Space) -> String {
    format!("{} memory", space.name())
}

/// Where level 0 of a texture lies, as an array of single-precision channels, and how many bytes it has; `None` when it is something else.
pub(super) fn floats(registers: &CommandRegisters, order: ByteOrder, id: u8) -> Option<(GpuAddr, Elements<()>, usize)> {
    let (base, (elements, bytes)) = match registers.r700.own.textures.get(&id)? {
        BoundTexture::Input(surface) => {
            (surface.base, array(surface, order).filter(|(of, _)| of.form == Form::Floats)?)
        }
        BoundTexture::Texture(texture) => (texture.base, texture.elements()?),
    };
    Some((base, elements, bytes))
}
