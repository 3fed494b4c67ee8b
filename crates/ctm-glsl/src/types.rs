//! OpenGL's types by number (tables), and their names in containers.

use ctm_image::r700::gfd::header::VariableType;

/// The component type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComponentType {
    Float,
    Int,
    Uint,
    Bool,
}

/// A type of uniforms and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    /// OpenGL's number.
    pub number: u32,
    pub of: ComponentType,
    pub columns: usize,
    pub rows: usize,
    pub container: VariableType,
}

impl Type {
    /// Whether its values are true and false, whatever numbers they were set to.
    pub const fn is_boolean(&self) -> bool {
        matches!(self.of, ComponentType::Bool)
    }
}

const fn row(number: u32, of: ComponentType, columns: usize, rows: usize, container: VariableType) -> Type {
    Type { number, of, columns, rows, container }
}

use ComponentType::{Bool, Float, Int, Uint};
use VariableType as V;

/// Types of numbers.
#[rustfmt::skip]
pub(crate) const TYPES: &[Type] = &[
    row(0x1404, Int,   1, 1, V::Int),
    row(0x1405, Uint,  1, 1, V::Uint),
    row(0x1406, Float, 1, 1, V::Float),
    row(0x8b50, Float, 1, 2, V::Float2),
    row(0x8b51, Float, 1, 3, V::Float3),
    row(0x8b52, Float, 1, 4, V::Float4),
    row(0x8b53, Int,   1, 2, V::Int2),
    row(0x8b54, Int,   1, 3, V::Int3),
    row(0x8b55, Int,   1, 4, V::Int4),
    row(0x8b56, Bool,  1, 1, V::Bool),
    row(0x8b57, Bool,  1, 2, V::Bool2),
    row(0x8b58, Bool,  1, 3, V::Bool3),
    row(0x8b59, Bool,  1, 4, V::Bool4),
    row(0x8b5a, Float, 2, 2, V::Float2x2),
    row(0x8b5b, Float, 3, 3, V::Float3x3),
    row(0x8b5c, Float, 4, 4, V::Float4x4),
    row(0x8b65, Float, 2, 3, V::Float2x3),
    row(0x8b66, Float, 2, 4, V::Float2x4),
    row(0x8b67, Float, 3, 2, V::Float3x2),
    row(0x8b68, Float, 3, 4, V::Float3x4),
    row(0x8b69, Float, 4, 2, V::Float4x2),
    row(0x8b6a, Float, 4, 3, V::Float4x3),
    row(0x8dc6, Uint,  1, 2, V::Uint2),
    row(0x8dc7, Uint,  1, 3, V::Uint3),
    row(0x8dc8, Uint,  1, 4, V::Uint4),
];

/// The type of a number.
pub(crate) fn by_number(number: u32) -> Option<&'static Type> {
    TYPES.iter().find(|t| t.number == number)
}

/// A type of samplers: the texture that is bound to it, and its name in containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampler {
    pub number: u32,
    /// OpenGL's number of the texture's target.
    pub target: u32,
    /// Whether it compares with a depth.
    pub shadow: bool,
    /// GX2's number of the type: 0 1D, 1 2D, 3 3D, 4 cube. Others have none that is known.
    pub container: Option<u32>,
}

const fn sampler(number: u32, target: u32, shadow: bool, container: Option<u32>) -> Sampler {
    Sampler { number, target, shadow, container }
}

/// Texture targets.
pub(crate) const TEXTURE_1D: u32 = 0x0de0;
pub(crate) const TEXTURE_2D: u32 = 0x0de1;
pub(crate) const TEXTURE_3D: u32 = 0x806f;
pub(crate) const TEXTURE_RECTANGLE: u32 = 0x84f5;
pub(crate) const TEXTURE_CUBE: u32 = 0x8513;
pub(crate) const TEXTURE_1D_ARRAY: u32 = 0x8c18;
pub(crate) const TEXTURE_2D_ARRAY: u32 = 0x8c1a;

/// Types of samplers that give floats.
#[rustfmt::skip]
pub(crate) const SAMPLERS: &[Sampler] = &[
    sampler(0x8b5d, TEXTURE_1D,        false, Some(0)),
    sampler(0x8b5e, TEXTURE_2D,        false, Some(1)),
    sampler(0x8b5f, TEXTURE_3D,        false, Some(3)),
    sampler(0x8b60, TEXTURE_CUBE,      false, Some(4)),
    sampler(0x8b61, TEXTURE_1D,        true,  None),
    sampler(0x8b62, TEXTURE_2D,        true,  None),
    sampler(0x8b63, TEXTURE_RECTANGLE, false, None),
    sampler(0x8b64, TEXTURE_RECTANGLE, true,  None),
    sampler(0x8dc0, TEXTURE_1D_ARRAY,  false, None),
    sampler(0x8dc1, TEXTURE_2D_ARRAY,  false, None),
    sampler(0x8dc3, TEXTURE_1D_ARRAY,  true,  None),
    sampler(0x8dc4, TEXTURE_2D_ARRAY,  true,  None),
    sampler(0x8dc5, TEXTURE_CUBE,      true,  None),
];

/// The type of samplers of a number.
pub(crate) fn sampler_by_number(number: u32) -> Option<&'static Sampler> {
    SAMPLERS.iter().find(|t| t.number == number)
}
