//! Lists of named values that several fields have.

use crate::table::value;
use ctm_isa::r700::ops::{DataFormat, Sel};
use ctm_isa::table::{FieldValue, Value};

/// Comparisons of the new value, or the reference, with the stored one.
pub(crate) const COMPARES: &[Value] = &[
    value(0, "NEVER"),
    value(1, "LESS"),
    value(2, "EQUAL"),
    value(3, "LEQUAL"),
    value(4, "GREATER"),
    value(5, "NOTEQUAL"),
    value(6, "GEQUAL"),
    value(7, "ALWAYS"),
];

/// Operations on a stencil value.
pub(crate) const STENCIL_OPS: &[Value] = &[
    value(0, "KEEP"),
    value(1, "ZERO"),
    value(2, "REPLACE"),
    value(3, "INCR_CLAMP"),
    value(4, "DECR_CLAMP"),
    value(5, "INVERT"),
    value(6, "INCR_WRAP"),
    value(7, "DECR_WRAP"),
];

/// Factors of blending.
pub(crate) const FACTORS: &[Value] = &[
    value(0, "ZERO"),
    value(1, "ONE"),
    value(2, "SRC_COLOR"),
    value(3, "ONE_MINUS_SRC_COLOR"),
    value(4, "SRC_ALPHA"),
    value(5, "ONE_MINUS_SRC_ALPHA"),
    value(6, "DST_ALPHA"),
    value(7, "ONE_MINUS_DST_ALPHA"),
    value(8, "DST_COLOR"),
    value(9, "ONE_MINUS_DST_COLOR"),
    value(10, "SRC_ALPHA_SATURATE"),
    value(11, "BOTH_SRC_ALPHA"),
    value(12, "BOTH_INV_SRC_ALPHA"),
    value(13, "CONST_COLOR"),
    value(14, "ONE_MINUS_CONST_COLOR"),
    value(15, "SRC1_COLOR"),
    value(16, "INV_SRC1_COLOR"),
    value(17, "SRC1_ALPHA"),
    value(18, "INV_SRC1_ALPHA"),
    value(19, "CONST_ALPHA"),
    value(20, "ONE_MINUS_CONST_ALPHA"),
];

/// How source and destination are combined.
pub(crate) const COMBINES: &[Value] =
    &[value(0, "DST_PLUS_SRC"), value(1, "SRC_MINUS_DST"), value(2, "MIN"), value(3, "MAX"), value(4, "DST_MINUS_SRC")];

/// Kinds of primitives.
pub(crate) const PRIMITIVES: &[Value] = &[
    value(0, "NONE"),
    value(1, "POINTLIST"),
    value(2, "LINELIST"),
    value(3, "LINESTRIP"),
    value(4, "TRILIST"),
    value(5, "TRIFAN"),
    value(6, "TRISTRIP"),
    value(10, "LINELIST_ADJ"),
    value(11, "LINESTRIP_ADJ"),
    value(12, "TRILIST_ADJ"),
    value(13, "TRISTRIP_ADJ"),
    value(16, "TRI_WITH_WFLAGS"),
    value(17, "RECTLIST"),
    value(18, "LINELOOP"),
    value(19, "QUADLIST"),
    value(20, "QUADSTRIP"),
    value(21, "POLYGON"),
    value(22, "2D_COPY_RECT_LIST_V0"),
    value(23, "2D_COPY_RECT_LIST_V1"),
    value(24, "2D_COPY_RECT_LIST_V2"),
    value(25, "2D_COPY_RECT_LIST_V3"),
    value(26, "2D_FILL_RECT_LIST"),
    value(27, "2D_LINE_STRIP"),
    value(28, "2D_TRI_STRIP"),
];

/// How the elements of a surface are arranged.
pub(crate) const ARRAY_MODES: &[Value] = &[
    value(0, "LINEAR_GENERAL"),
    value(1, "LINEAR_ALIGNED"),
    value(2, "1D_TILED_THIN1"),
    value(3, "1D_TILED_THICK"),
    value(4, "2D_TILED_THIN1"),
    value(5, "2D_TILED_THIN2"),
    value(6, "2D_TILED_THIN4"),
    value(7, "2D_TILED_THICK"),
    value(8, "2B_TILED_THIN1"),
    value(9, "2B_TILED_THIN2"),
    value(10, "2B_TILED_THIN4"),
    value(11, "2B_TILED_THICK"),
    value(12, "3D_TILED_THIN1"),
    value(13, "3D_TILED_THICK"),
    value(14, "3B_TILED_THIN1"),
    value(15, "3B_TILED_THICK"),
];

/// Texels outside a texture.
pub(crate) const WRAPS: &[Value] = &[
    value(0, "WRAP"),
    value(1, "MIRROR"),
    value(2, "CLAMP_LAST_TEXEL"),
    value(3, "MIRROR_ONCE_LAST_TEXEL"),
    value(4, "CLAMP_HALF_BORDER"),
    value(5, "MIRROR_ONCE_HALF_BORDER"),
    value(6, "CLAMP_BORDER"),
    value(7, "MIRROR_ONCE_BORDER"),
];

/// Filters within a level.
pub(crate) const FILTERS: &[Value] = &[
    value(0, "POINT"),
    value(1, "BILINEAR"),
    value(2, "BICUBIC"),
    value(4, "ANISO_POINT"),
    value(5, "ANISO_BILINEAR"),
];

/// Formats of textures, buffers and targets: one numbering.
pub(crate) const FORMATS: &[Value] = DataFormat::VALUES;

/// Sources of a texture's element.
pub(crate) const SELECTS: &[Value] = Sel::VALUES;
