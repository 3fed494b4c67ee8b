//! Fetch resources and samplers.

use crate::table::{Bits, Register, halves, insert, join};

/// The kind of resource that seven words are.
#[must_use]
pub const fn kind_of(words: &[u32; 7]) -> u32 {
    kind_of_last(words[6])
}

/// The kind of a resource by its last word.
pub(crate) const fn kind_of_last(word: u32) -> u32 {
    SQ_TEX_RESOURCE_WORD6_0::TYPE.field.extract(word)
}

/// A texture.
pub const VALID_TEXTURE: u32 = 2;
/// A buffer.
pub const VALID_BUFFER: u32 = 3;

/// A field of the words of a texture or buffer resource.
pub(crate) fn field(words: &[u32; 7], bits: Bits) -> u32 {
    word_at(words, bits, SQ_TEX_RESOURCE_WORD0_0::REGISTER)
}

/// A field of the words of a sampler.
pub(crate) fn sampler_field(words: &[u32; 3], bits: Bits) -> u32 {
    word_at(words, bits, SQ_TEX_SAMPLER_WORD0_0::REGISTER)
}

fn word_at(words: &[u32], bits: Bits, first: &Register) -> u32 {
    let word = (bits.register.offset - first.offset) as usize / 4;
    bits.field.extract(words.get(word).copied().unwrap_or(0))
}

/// The address of a buffer resource.
pub(crate) fn buffer_address(words: &[u32; 7]) -> u64 {
    join(words[0], field(words, SQ_VTX_CONSTANT_WORD2_0::BASE_ADDRESS_HI))
}

/// Gives a buffer resource an address.
pub(crate) fn set_buffer_address(words: &mut [u32; 7], address: u64) {
    let [low, high] = halves(address);
    words[0] = low;
    words[2] = insert(SQ_VTX_CONSTANT_WORD2_0::BASE_ADDRESS_HI.field, words[2], high);
}

registers! {
    SQ_TEX_RESOURCE_WORD0_0 = 0x38000, 496 every 28, number, "kind, tiling, pitch and width" {
        DIM 2:0 [0 "1D", 1 "2D", 2 "3D", 3 "CUBEMAP", 4 "1D_ARRAY", 5 "2D_ARRAY", 6 "2D_MSAA", 7 "2D_ARRAY_MSAA"] "";
        TILE_MODE 6:3 ARRAY_MODES "array mode";
        TILE_TYPE 7:7 [] "0 displayable micro tiles, 1 depth (Morton) order";
        PITCH 18:8 [] "pitch in texels / 8 - 1 (of the base level; blocks * block width for compressed formats)";
        TEX_WIDTH 31:19 [] "width - 1";
    }
    SQ_VTX_CONSTANT_WORD0_0 = 0x38000, 496 every 28, address, "address of the buffer, bits 31:0" {}
    SQ_TEX_RESOURCE_WORD1_0 = 0x38004, 496 every 28, number, "height, depth and format" {
        TEX_HEIGHT 12:0 [] "height - 1 (1D arrays: 0)";
        TEX_DEPTH 25:13 [] "3D: depth - 1; arrays: layers - 1; cube arrays: cubes - 1; else 0";
        DATA_FORMAT 31:26 FORMATS "";
    }
    SQ_VTX_CONSTANT_WORD1_0 = 0x38004, 496 every 28, number, "bytes of the buffer - 1" {}
    SQ_TEX_RESOURCE_WORD2_0 = 0x38008, 496 every 28, address, "address / 256 of level 0" {}
    SQ_VTX_CONSTANT_WORD2_0 = 0x38008, 496 every 28, number, "upper address bits, stride, format" {
        BASE_ADDRESS_HI 7:0 [] "address bits 39:32";
        STRIDE 18:8 [] "";
        CLAMP_X 19:19 [] "out of range: 0 zero, 1 NaN";
        DATA_FORMAT 25:20 FORMATS "";
        NUM_FORMAT_ALL 27:26 [0 "NORM", 1 "INT", 2 "SCALED"] "";
        FORMAT_COMP_ALL 28:28 [0 "UNSIGNED", 1 "SIGNED"] "";
        SRF_MODE_ALL 29:29 [] "";
        ENDIAN_SWAP 31:30 [0 "NONE", 1 "8IN16", 2 "8IN32", 3 "8IN64"] "";
    }
    SQ_TEX_RESOURCE_WORD3_0 = 0x3800c, 496 every 28, address, "address / 256 of level 1" {}
    SQ_VTX_CONSTANT_WORD3_0 = 0x3800c, 496 every 28, number, "size of requests" {
        MEM_REQUEST_SIZE 1:0 [] "";
    }
    SQ_VTX_CONSTANT_WORD4_0 = 0x38010, 496 every 28, number, "nothing" {}
    SQ_TEX_RESOURCE_WORD4_0 = 0x38010, 496 every 28, number, "numbers, gamma, order of elements" {
        FORMAT_COMP_X 1:0 [0 "UNSIGNED", 1 "SIGNED", 2 "UNSIGNED_BIASED"] "";
        FORMAT_COMP_Y 3:2 [0 "UNSIGNED", 1 "SIGNED", 2 "UNSIGNED_BIASED"] "";
        FORMAT_COMP_Z 5:4 [0 "UNSIGNED", 1 "SIGNED", 2 "UNSIGNED_BIASED"] "";
        FORMAT_COMP_W 7:6 [0 "UNSIGNED", 1 "SIGNED", 2 "UNSIGNED_BIASED"] "";
        NUM_FORMAT_ALL 9:8 [0 "NORM", 1 "INT", 2 "SCALED"] "";
        SRF_MODE_ALL 10:10 [] "signed normalised: 0 = c / (2^(n-1) - 1), not below -1; 1 = no exact zero, (2c + 1) / (2^n - 1)";
        FORCE_DEGAMMA 11:11 [] "sRGB decode of X, Y, Z";
        ENDIAN_SWAP 13:12 [0 "NONE", 1 "8IN16", 2 "8IN32", 3 "8IN64"] "";
        REQUEST_SIZE 15:14 [] "";
        DST_SEL_X 18:16 SELECTS "what R gets: 0..3 = field X..W, 4 zero, 5 one";
        DST_SEL_Y 21:19 SELECTS "G";
        DST_SEL_Z 24:22 SELECTS "B";
        DST_SEL_W 27:25 SELECTS "A";
        BASE_LEVEL 31:28 [] "";
    }
    SQ_VTX_CONSTANT_WORD5_0 = 0x38014, 496 every 28, number, "nothing" {}
    SQ_TEX_RESOURCE_WORD5_0 = 0x38014, 496 every 28, number, "levels and layers" {
        LAST_LEVEL 3:0 [] "last level of the view; multisample: log2(samples)";
        BASE_ARRAY 16:4 [] "first layer";
        LAST_ARRAY 29:17 [] "last layer";
    }
    SQ_TEX_RESOURCE_WORD6_0 = 0x38018, 496 every 28, number, "anisotropy and kind of resource" {
        MPEG_CLAMP 1:0 [] "0 off, 1 9 bits, 2 10 bits";
        MAX_ANISO 4:2 [] "log2 of the largest ratio";
        PERF_MODULATION 7:5 [] "";
        INTERLACED 8:8 [] "";
        TYPE 31:30 [0 "INVALID_TEXTURE", 1 "INVALID_BUFFER", 2 "VALID_TEXTURE", 3 "VALID_BUFFER"] "";
    }
    SQ_VTX_CONSTANT_WORD6_0 = 0x38018, 496 every 28, number, "kind of resource" {
        TYPE 31:30 [0 "INVALID_TEXTURE", 1 "INVALID_BUFFER", 2 "VALID_TEXTURE", 3 "VALID_BUFFER"] "";
    }
    SQ_TEX_SAMPLER_WORD0_0 = 0x3c000, 54 every 12, number, "wrapping, filters, border, comparison" {
        CLAMP_X 2:0 [0 "WRAP", 1 "MIRROR", 2 "CLAMP_LAST_TEXEL", 3 "MIRROR_ONCE_LAST_TEXEL", 4 "CLAMP_HALF_BORDER", 5 "MIRROR_ONCE_HALF_BORDER", 6 "CLAMP_BORDER", 7 "MIRROR_ONCE_BORDER"] "";
        CLAMP_Y 5:3 WRAPS "";
        CLAMP_Z 8:6 WRAPS "";
        XY_MAG_FILTER 11:9 FILTERS "";
        XY_MIN_FILTER 14:12 FILTERS "";
        Z_FILTER 16:15 [] "";
        MIP_FILTER 18:17 [0 "NONE", 1 "POINT", 2 "LINEAR"] "";
        MAX_ANISO_RATIO 21:19 [] "log2 of the largest ratio: 0 1, 1 2, 2 4, 3 8, 4 16";
        BORDER_COLOR_TYPE 23:22 [0 "TRANSPARENT_BLACK", 1 "OPAQUE_BLACK", 2 "OPAQUE_WHITE", 3 "REGISTER"] "";
        POINT_SAMPLING_CLAMP 24:24 [] "";
        TEX_ARRAY_OVERRIDE 25:25 [] "array layers are not filtered (nearest layer)";
        DEPTH_COMPARE_FUNCTION 28:26 COMPARES "reference f texel gives 1 else 0, for SAMPLE_C*";
        CHROMA_KEY 30:29 [0 "DISABLED", 1 "KILL", 2 "BLEND"] "";
        LOD_USES_MINOR_AXIS 31:31 [] "level from the shorter axis";
    }
    SQ_TEX_SAMPLER_WORD1_0 = 0x3c004, 54 every 12, number, "levels of detail" {
        MIN_LOD 9:0 [] "in 1/64";
        MAX_LOD 19:10 [] "in 1/64";
        LOD_BIAS 31:20 [] "signed, in 1/64";
    }
    SQ_TEX_SAMPLER_WORD2_0 = 0x3c008, 54 every 12, number, "second bias, gathering" {
        LOD_BIAS_SEC 11:0 [] "signed, in 1/64";
        MC_COORD_TRUNCATE 12:12 [] "truncate instead of round coordinates in point sampling";
        FORCE_DEGAMMA 13:13 [] "sRGB decode by the sampler";
        HIGH_PRECISION_FILTER 14:14 [] "";
        PERF_MIP 17:15 [] "";
        PERF_Z 19:18 [] "";
        FETCH_4 26:26 [] "gather four texels (one channel)";
        SAMPLE_IS_PCF 27:27 [] "filter the compare results";
        TYPE 31:31 [] "1 in every stream that is known";
    }
}
