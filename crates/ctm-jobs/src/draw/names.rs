//! Names of a draw's states in job files of `ctm draw`.

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{NumberType, Swap};
use ctm_draw::state::{Combine, Factor, LogicOp, StencilOp, Topology};

/// Topologies by their names in job files and in Python.
///
/// ```
/// use ctm::ctm_draw::state::Topology;
/// use ctm::draw::TOPOLOGIES;
///
/// let strip = TOPOLOGIES.iter().find(|(name, _)| *name == "triangle_strip").unwrap();
/// assert_eq!(strip.1, Topology::TriangleStrip);
/// ```
#[rustfmt::skip]
pub const TOPOLOGIES: [(&str, Topology); 11] = [
    ("points", Topology::Points), ("lines", Topology::Lines), ("line_strip", Topology::LineStrip), ("line_loop", Topology::LineLoop),
    ("triangles", Topology::Triangles), ("triangle_strip", Topology::TriangleStrip), ("triangle_fan", Topology::TriangleFan),
    ("quads", Topology::Quads), ("quad_strip", Topology::QuadStrip), ("polygon", Topology::Polygon), ("rectangles", Topology::Rectangles),
];

#[rustfmt::skip]
pub(super) const STENCIL_OPS: [(&str, StencilOp); 8] = [
    ("keep", StencilOp::Keep), ("zero", StencilOp::Zero), ("replace", StencilOp::Replace), ("increment", StencilOp::IncrementClamp),
    ("decrement", StencilOp::DecrementClamp), ("invert", StencilOp::Invert), ("increment_wrap", StencilOp::IncrementWrap),
    ("decrement_wrap", StencilOp::DecrementWrap),
];

#[rustfmt::skip]
pub(super) const FACTORS: [(&str, Factor); 19] = [
    ("zero", Factor::Zero), ("one", Factor::One),
    ("source_colour", Factor::SourceColour), ("one_minus_source_colour", Factor::OneMinusSourceColour),
    ("source_alpha", Factor::SourceAlpha), ("one_minus_source_alpha", Factor::OneMinusSourceAlpha),
    ("destination_alpha", Factor::DestinationAlpha), ("one_minus_destination_alpha", Factor::OneMinusDestinationAlpha),
    ("destination_colour", Factor::DestinationColour), ("one_minus_destination_colour", Factor::OneMinusDestinationColour),
    ("source_alpha_saturate", Factor::SourceAlphaSaturate),
    ("constant_colour", Factor::ConstantColour), ("one_minus_constant_colour", Factor::OneMinusConstantColour),
    ("constant_alpha", Factor::ConstantAlpha), ("one_minus_constant_alpha", Factor::OneMinusConstantAlpha),
    ("source1_colour", Factor::Source1Colour), ("one_minus_source1_colour", Factor::OneMinusSource1Colour),
    ("source1_alpha", Factor::Source1Alpha), ("one_minus_source1_alpha", Factor::OneMinusSource1Alpha),
];

pub(super) const COMBINES: [(&str, Combine); 5] = [
    ("add", Combine::Add),
    ("subtract", Combine::Subtract),
    ("reverse_subtract", Combine::ReverseSubtract),
    ("min", Combine::Min),
    ("max", Combine::Max),
];

/// OpenGL's names (GL table 4.3), s the source and d the destination.
#[rustfmt::skip]
pub(super) const LOGIC: [(&str, LogicOp); 16] = [
    ("clear", LogicOp(0)), ("nor", LogicOp(1)), ("and_inverted", LogicOp(2)), ("copy_inverted", LogicOp(3)),
    ("and_reverse", LogicOp(4)), ("invert", LogicOp(5)), ("xor", LogicOp(6)), ("nand", LogicOp(7)),
    ("and", LogicOp(8)), ("equiv", LogicOp(9)), ("noop", LogicOp(10)), ("or_inverted", LogicOp(11)),
    ("copy", LogicOp::COPY), ("or_reverse", LogicOp(13)), ("or", LogicOp(14)), ("set", LogicOp(15)),
];

#[rustfmt::skip]
pub(super) const NUMBERS: [(&str, NumberType); 8] = [
    ("unorm", NumberType::Unorm), ("snorm", NumberType::Snorm), ("uscaled", NumberType::Uscaled), ("sscaled", NumberType::Sscaled),
    ("uint", NumberType::Uint), ("sint", NumberType::Sint), ("srgb", NumberType::Srgb), ("float", NumberType::Float),
];

pub(super) const SWAPS: [(&str, Swap); 4] =
    [("std", Swap::Std), ("alt", Swap::Alt), ("std_rev", Swap::StdRev), ("alt_rev", Swap::AltRev)];

#[rustfmt::skip]
pub(super) const DEPTHS: [(&str, DepthFormat); 7] = [
    ("d16", DepthFormat::D16), ("x8d24", DepthFormat::X8D24), ("s8d24", DepthFormat::S8D24),
    ("x8d24_float", DepthFormat::X8D24Float), ("s8d24_float", DepthFormat::S8D24Float),
    ("d32_float", DepthFormat::D32Float), ("x24s8d32_float", DepthFormat::X24S8D32Float),
];
