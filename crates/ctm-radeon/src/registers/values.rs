//! Lists of named values that several fields have.

use crate::table::value;
use ctm_isa::ops;
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

/// Comparisons of the R500's depth unit, in its order.
pub(crate) const Z_COMPARES: &[Value] = &[
    value(0, "NEVER"),
    value(1, "LESS"),
    value(2, "LEQUAL"),
    value(3, "EQUAL"),
    value(4, "GEQUAL"),
    value(5, "GREATER"),
    value(6, "NOTEQUAL"),
    value(7, "ALWAYS"),
];

/// Factors of the R500's blending.
pub(crate) const R500_FACTORS: &[Value] = &[
    value(0, "NONE"),
    value(1, "D3D_ZERO"),
    value(2, "D3D_ONE"),
    value(3, "D3D_SRC_COLOR"),
    value(4, "D3D_ONE_MINUS_SRC_COLOR"),
    value(5, "D3D_SRC_ALPHA"),
    value(6, "D3D_ONE_MINUS_SRC_ALPHA"),
    value(7, "D3D_DST_ALPHA"),
    value(8, "D3D_ONE_MINUS_DST_ALPHA"),
    value(9, "D3D_DST_COLOR"),
    value(10, "D3D_ONE_MINUS_DST_COLOR"),
    value(11, "D3D_SRC_ALPHA_SATURATE"),
    value(12, "D3D_BOTH_SRC_ALPHA"),
    value(13, "D3D_BOTH_ONE_MINUS_SRC_ALPHA"),
    value(32, "ZERO"),
    value(33, "ONE"),
    value(34, "SRC_COLOR"),
    value(35, "ONE_MINUS_SRC_COLOR"),
    value(36, "DST_COLOR"),
    value(37, "ONE_MINUS_DST_COLOR"),
    value(38, "SRC_ALPHA"),
    value(39, "ONE_MINUS_SRC_ALPHA"),
    value(40, "DST_ALPHA"),
    value(41, "ONE_MINUS_DST_ALPHA"),
    value(42, "SRC_ALPHA_SATURATE"),
    value(43, "CONST_COLOR"),
    value(44, "ONE_MINUS_CONST_COLOR"),
    value(45, "CONST_ALPHA"),
    value(46, "ONE_MINUS_CONST_ALPHA"),
];

/// How the R500 combines source and destination.
pub(crate) const R500_COMBINES: &[Value] = &[
    value(0, "ADD_CLAMP"),
    value(1, "ADD"),
    value(2, "SRC_MINUS_DST_CLAMP"),
    value(3, "SRC_MINUS_DST"),
    value(4, "MIN"),
    value(5, "MAX"),
    value(6, "DST_MINUS_SRC_CLAMP"),
    value(7, "DST_MINUS_SRC"),
];

/// Logic operations.
pub(crate) const LOGIC_OPS: &[Value] = &[
    value(0, "CLEAR"),
    value(1, "NOR"),
    value(2, "AND_INVERTED"),
    value(3, "COPY_INVERTED"),
    value(4, "AND_REVERSE"),
    value(5, "INVERT"),
    value(6, "XOR"),
    value(7, "NAND"),
    value(8, "AND"),
    value(9, "EQUIV"),
    value(10, "NOOP"),
    value(11, "OR_INVERTED"),
    value(12, "COPY"),
    value(13, "OR_REVERSE"),
    value(14, "OR"),
    value(15, "SET"),
];

/// Kinds of primitives of the R500.
pub(crate) const R500_PRIMITIVES: &[Value] = R500Primitive::VALUES;

/// Where the R500's vertices come from.
pub(crate) const WALKS: &[Value] = Walk::VALUES;

/// Types of an element of a vertex.
pub(crate) const STREAM_TYPES: &[Value] = &[
    value(0, "FLOAT_1"),
    value(1, "FLOAT_2"),
    value(2, "FLOAT_3"),
    value(3, "FLOAT_4"),
    value(4, "BYTE"),
    value(5, "D3DCOLOR"),
    value(6, "SHORT_2"),
    value(7, "SHORT_4"),
    value(8, "VECTOR_3_TTT"),
    value(9, "VECTOR_3_EET"),
    value(10, "FLOAT_8"),
    value(11, "FLT16_2"),
    value(12, "FLT16_4"),
];

/// Sources of a component of an element of a vertex.
pub(crate) const STREAM_SELECTS: &[Value] =
    &[value(0, "X"), value(1, "Y"), value(2, "Z"), value(3, "W"), value(4, "ZERO"), value(5, "ONE")];

/// How signed fractions are made of integers.
pub(crate) const SIGN_NORMALS: &[Value] =
    &[value(0, "SGN_NORM_ZERO"), value(1, "CLAMP_MINUS_ONE"), value(2, "NO_ZERO")];

/// Actions of flow control slots.
pub(crate) const FLOW_OPS: &[Value] = &[value(0, "NONE"), value(1, "JUMP"), value(2, "LOOP"), value(3, "JSR")];

/// Components of a vertex that have no number of their own.
pub(crate) const RS_POINTERS: &[Value] = &[value(62, "K0"), value(63, "K1")];

/// Components of an interpolated colour.
pub(crate) const COLOUR_SELECTS: &[Value] = &[
    value(0, "RGBA"),
    value(1, "RGB0"),
    value(2, "RGB1"),
    value(4, "000A"),
    value(5, "0000"),
    value(6, "0001"),
    value(8, "111A"),
    value(9, "1110"),
    value(10, "1111"),
];

/// Sources of texture coordinates.
pub(crate) const STUFFED: &[Value] = &[value(0, "REPLICATE"), value(1, "ST"), value(2, "STR")];

/// Shading.
pub(crate) const SHADINGS: &[Value] = &[value(0, "SOLID"), value(1, "FLAT"), value(2, "GOURAUD")];

/// Filters of the R500 within a level.
pub(crate) const R500_FILTERS: &[Value] =
    &[value(0, "FILTER4"), value(1, "POINT"), value(2, "LINEAR"), value(3, "ANISO")];

/// Formats of the R500's textures; those of the second list have TX_FORMAT2.TXFORMAT_MSB and other names.
pub(crate) const R500_TEXTURE_FORMATS: &[Value] = &[
    value(0, "X8"),
    value(1, "X16"),
    value(2, "Y4X4"),
    value(3, "Y8X8"),
    value(4, "Y16X16"),
    value(5, "Z3Y3X2"),
    value(6, "Z5Y6X5"),
    value(7, "Z6Y5X5"),
    value(8, "Z11Y11X10"),
    value(9, "Z10Y11X11"),
    value(10, "W4Z4Y4X4"),
    value(11, "W1Z5Y5X5"),
    value(12, "W8Z8Y8X8"),
    value(13, "W2Z10Y10X10"),
    value(14, "W16Z16Y16X16"),
    value(15, "DXT1"),
    value(16, "DXT3"),
    value(17, "DXT5"),
    value(18, "CXV8U8"),
    value(19, "AVYU444"),
    value(20, "VYUY422"),
    value(21, "YVYU422"),
    value(22, "16_MPEG"),
    value(23, "16_16_MPEG"),
    value(24, "16F"),
    value(25, "16F_16F"),
    value(26, "16F_16F_16F_16F"),
    value(27, "32F"),
    value(28, "32F_32F"),
    value(29, "32F_32F_32F_32F"),
    value(30, "W24_FP"),
    value(31, "ATI2N"),
];

/// Sources of a texel's component: of the texel's word from the right, or constants.
pub(crate) const TEXEL_SELECTS: &[Value] =
    &[value(0, "X"), value(1, "Y"), value(2, "Z"), value(3, "W"), value(4, "ZERO"), value(5, "ONE")];

/// Byte orders.
pub(crate) const ENDIANS: &[Value] =
    &[value(0, "NONE"), value(1, "16_BIT"), value(2, "32_BIT"), value(3, "HALF_DWORD")];

/// Tiles of 32 bytes.
pub(crate) const MICRO_TILES: &[Value] = &[value(0, "LINEAR"), value(1, "TILED"), value(2, "SQUARE")];

/// Formats of colour outputs.
pub(crate) const OUTPUT_FORMATS: &[Value] = &[
    value(0, "C4_8"),
    value(1, "C4_10"),
    value(2, "C4_10_GAMMA"),
    value(3, "C_16"),
    value(4, "C2_16"),
    value(5, "C4_16"),
    value(6, "C_16_MPEG"),
    value(7, "C2_16_MPEG"),
    value(8, "C2_4"),
    value(9, "C_3_3_2"),
    value(10, "C_6_5_6"),
    value(11, "C_11_11_10"),
    value(12, "C_10_11_11"),
    value(13, "C_2_10_10_10"),
    value(15, "UNUSED"),
    value(16, "C_16_FP"),
    value(17, "C2_16_FP"),
    value(18, "C4_16_FP"),
    value(19, "C_32_FP"),
    value(20, "C2_32_FP"),
    value(21, "C4_32_FP"),
];

/// Channels of a colour output.
pub(crate) const OUTPUT_SELECTS: &[Value] = &[value(0, "ALPHA"), value(1, "RED"), value(2, "GREEN"), value(3, "BLUE")];

/// Formats of the R500's colour targets.
pub(crate) const R500_COLOUR_FORMATS: &[Value] = &[
    value(0, "ARGB10101010"),
    value(1, "UV1010"),
    value(2, "CI8"),
    value(3, "ARGB1555"),
    value(4, "RGB565"),
    value(5, "ARGB2101010"),
    value(6, "ARGB8888"),
    value(7, "ARGB32323232"),
    value(9, "I8"),
    value(10, "ARGB16161616"),
    value(11, "VYUY"),
    value(12, "YVYU"),
    value(13, "UV88"),
    value(14, "I10"),
    value(15, "ARGB4444"),
];

ops! {
    /// The primitives of a draw of an R500.
    pub enum R500Primitive cite "R5xx Acceleration" {
        /// Nothing is drawn.
        None "NONE" 0;
        /// A point a vertex.
        Points "POINTS" 1;
        /// A line for two vertices.
        Lines "LINES" 2;
        /// A line from each vertex to the next.
        LineStrip "LINE_STRIP" 3;
        /// A triangle for three vertices.
        Triangles "TRIANGLES" 4;
        /// Triangles with the first vertex in common.
        TriangleFan "TRIANGLE_FAN" 5;
        /// A triangle for each vertex and the two before it.
        TriangleStrip "TRIANGLE_STRIP" 6;
        /// Triangles with words of flags.
        TrianglesWithFlags "TRIANGLES_WITH_WFLAGS" 7;
        /// A line strip that is closed.
        LineLoop "LINE_LOOP" 12;
        /// A quad for four vertices.
        Quads "QUADS" 13;
        /// A quad for each two vertices and the two before them.
        QuadStrip "QUAD_STRIP" 14;
        /// One polygon.
        Polygon "POLYGON" 15;
    }
}

ops! {
    /// Where the vertices of a draw of an R500 come from.
    pub enum Walk cite "R5xx Acceleration" {
        /// Registers.
        State "STATE" 0;
        /// Memory, by indices.
        Indices "INDICES" 1;
        /// Memory, one after the other.
        VertexList "VERTEX_LIST" 2;
        /// The packet.
        Embedded "VERTEX_EMBEDDED" 3;
    }
}
