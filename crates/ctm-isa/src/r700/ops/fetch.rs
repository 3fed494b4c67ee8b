//! Fetch opcodes and the values of fetch fields.

ops! {
    /// Operation of a texture fetch.
    pub enum TexOp cite "R700 §10.4" {
        /// A vertex fetch in VTX format.
        VtxFetch "VTX_FETCH" 0;
        /// A semantic vertex fetch in VTX format.
        VtxSemantic "VTX_SEMANTIC" 1;
        /// A memory read or data share operation in MEM format.
        Mem "MEM" 2;
        /// Reads a texel at integer coordinates.
        Ld "LD" 3;
        /// Width, height, depth and number of mipmap levels.
        GetTextureResinfo "GET_TEXTURE_RESINFO" 4;
        /// Width, height, depth and number of samples.
        GetNumberOfSamples "GET_NUMBER_OF_SAMPLES" 5 cite "r700-encoding §10 E15";
        /// The level of detail: x clamped, y not clamped.
        GetCompTexLod "GET_COMP_TEX_LOD" 6;
        /// Slopes along the horizontal.
        GetGradientsH "GET_GRADIENTS_H" 7;
        /// Slopes along the vertical.
        GetGradientsV "GET_GRADIENTS_V" 8;
        /// Weights of a linear fetch: x horizontal, y vertical, z volume, w mipmap.
        GetLerp "GET_LERP" 9;
        /// Computes gradients from the coordinates and stores them.
        KeepGradients "KEEP_GRADIENTS" 10;
        /// Sets the horizontal gradients.
        SetGradientsH "SET_GRADIENTS_H" 11;
        /// Sets the vertical gradients.
        SetGradientsV "SET_GRADIENTS_V" 12;
        /// Sets the index into an array of cube maps.
        SetCubemapIndex "SET_CUBEMAP_INDEX" 14;
        /// Reads one channel of four neighbouring texels.
        Fetch4 "FETCH4" 15;
        /// Samples: computed level of detail.
        Sample "SAMPLE" 16;
        /// Samples: level of detail in W.
        SampleL "SAMPLE_L" 17;
        /// Samples: bias LOD_BIAS.
        SampleLb "SAMPLE_LB" 18;
        /// Samples: level of detail zero.
        SampleLz "SAMPLE_LZ" 19;
        /// Samples: gradients set before.
        SampleG "SAMPLE_G" 20;
        /// Samples: gradients set before, level of detail in W.
        SampleGL "SAMPLE_G_L" 21;
        /// Samples: gradients set before and bias.
        SampleGLb "SAMPLE_G_LB" 22;
        /// Samples: gradients set before, level of detail zero.
        SampleGLz "SAMPLE_G_LZ" 23;
        /// Samples with depth comparison: computed level of detail.
        SampleC "SAMPLE_C" 24;
        /// Samples with depth comparison: level of detail in W.
        SampleCL "SAMPLE_C_L" 25;
        /// Samples with depth comparison: bias LOD_BIAS.
        SampleCLb "SAMPLE_C_LB" 26;
        /// Samples with depth comparison: level of detail zero.
        SampleCLz "SAMPLE_C_LZ" 27;
        /// Samples with depth comparison: gradients set before.
        SampleCG "SAMPLE_C_G" 28;
        /// Samples with depth comparison: gradients set before, level of detail in W.
        SampleCGL "SAMPLE_C_G_L" 29;
        /// Samples with depth comparison: gradients set before and bias.
        SampleCGLb "SAMPLE_C_G_LB" 30;
        /// Samples with depth comparison: gradients set before, level of detail zero.
        SampleCGLz "SAMPLE_C_G_LZ" 31;
    }
}

impl TexOp {
    /// How AMD's listings spell it.
    #[must_use]
    pub const fn listing(self) -> &'static str {
        match self {
            Self::GetTextureResinfo => "GET_TEXTURE_INFO",
            Self::GetNumberOfSamples => "GET_SAMPLE_INFO",
            _ => self.name(),
        }
    }
}

ops! {
    /// Operation of a fetch in VTX format.
    pub enum VtxOp cite "R700 §10.3" {
        /// Reads a buffer at an index.
        Fetch "FETCH" 0;
        /// Reads a buffer at an index into the register that the semantic table names.
        Semantic "SEMANTIC" 1;
        /// Memory read or data share operation: see `MEM_OP`.
        Mem "MEM" 2;
    }
}

ops! {
    /// Which memory a MEM fetch reads or writes.
    pub enum MemOp cite "R700 §10.5" {
        /// Reads the scratch buffer.
        RdScratch "RD_SCRATCH" 0;
        /// Reads the reduction buffer.
        RdReduc "RD_REDUC" 1;
        /// Reads the scatter buffer.
        RdScatter "RD_SCATTER" 2;
        /// Writes the local data share.
        LocalDsWrite "LOCAL_DS_WRITE" 4;
        /// Reads the local data share.
        LocalDsRead "LOCAL_DS_READ" 5;
    }
}

ops! {
    /// Source of one element of a swizzle.
    pub enum Sel cite "R700 §10.4" {
        /// Element x.
        X "x" 0;
        /// Element y.
        Y "y" 1;
        /// Element z.
        Z "z" 2;
        /// Element w.
        W "w" 3;
        /// The value 0.
        Zero "0" 4;
        /// The value 1.0.
        One "1" 5;
        /// Nothing: not written.
        Mask "_" 7;
    }
}

ops! {
    /// Which index offset a vertex fetch adds.
    pub enum FetchType cite "R700 §10.3" {
        /// The vertex offset.
        VertexData "VERTEX_DATA" 0;
        /// The instance offset.
        InstanceData "INSTANCE_DATA" 1;
        /// None.
        NoIndexOffset "NO_INDEX_OFFSET" 2;
    }
}

ops! {
    /// Format of data in memory.
    pub enum DataFormat cite "R700 §10.3" {
        /// No format.
        FmtInvalid "FMT_INVALID" 0;
        /// One element of 8 bits.
        Fmt8 "FMT_8" 1;
        /// 2 elements of 4, 4 bits.
        Fmt4_4 "FMT_4_4" 2;
        /// 3 elements of 3, 3, 2 bits.
        Fmt3_3_2 "FMT_3_3_2" 3;
        /// No format.
        FmtReserved4 "FMT_RESERVED_4" 4;
        /// One element of 16 bits.
        Fmt16 "FMT_16" 5;
        /// One element of 16 bits, floating point.
        Fmt16Float "FMT_16_FLOAT" 6;
        /// 2 elements of 8, 8 bits.
        Fmt8_8 "FMT_8_8" 7;
        /// 3 elements of 5, 6, 5 bits.
        Fmt5_6_5 "FMT_5_6_5" 8;
        /// 3 elements of 6, 5, 5 bits.
        Fmt6_5_5 "FMT_6_5_5" 9;
        /// 4 elements of 1, 5, 5, 5 bits.
        Fmt1_5_5_5 "FMT_1_5_5_5" 10;
        /// 4 elements of 4, 4, 4, 4 bits.
        Fmt4_4_4_4 "FMT_4_4_4_4" 11;
        /// 4 elements of 5, 5, 5, 1 bits.
        Fmt5_5_5_1 "FMT_5_5_5_1" 12;
        /// One element of 32 bits.
        Fmt32 "FMT_32" 13;
        /// One element of 32 bits, floating point.
        Fmt32Float "FMT_32_FLOAT" 14;
        /// 2 elements of 16, 16 bits.
        Fmt16_16 "FMT_16_16" 15;
        /// 2 elements of 16, 16 bits, floating point.
        Fmt16_16Float "FMT_16_16_FLOAT" 16;
        /// 2 elements of 8, 24 bits.
        Fmt8_24 "FMT_8_24" 17;
        /// 2 elements of 8, 24 bits, floating point.
        Fmt8_24Float "FMT_8_24_FLOAT" 18;
        /// 2 elements of 24, 8 bits.
        Fmt24_8 "FMT_24_8" 19;
        /// 2 elements of 24, 8 bits, floating point.
        Fmt24_8Float "FMT_24_8_FLOAT" 20;
        /// 3 elements of 10, 11, 11 bits.
        Fmt10_11_11 "FMT_10_11_11" 21;
        /// 3 elements of 10, 11, 11 bits, floating point.
        Fmt10_11_11Float "FMT_10_11_11_FLOAT" 22;
        /// 3 elements of 11, 11, 10 bits.
        Fmt11_11_10 "FMT_11_11_10" 23;
        /// 3 elements of 11, 11, 10 bits, floating point.
        Fmt11_11_10Float "FMT_11_11_10_FLOAT" 24;
        /// 4 elements of 2, 10, 10, 10 bits.
        Fmt2_10_10_10 "FMT_2_10_10_10" 25;
        /// 4 elements of 8, 8, 8, 8 bits.
        Fmt8_8_8_8 "FMT_8_8_8_8" 26;
        /// 4 elements of 10, 10, 10, 2 bits.
        Fmt10_10_10_2 "FMT_10_10_10_2" 27;
        /// See the manual.
        FmtX24_8_32Float "FMT_X24_8_32_FLOAT" 28;
        /// 2 elements of 32, 32 bits.
        Fmt32_32 "FMT_32_32" 29;
        /// 2 elements of 32, 32 bits, floating point.
        Fmt32_32Float "FMT_32_32_FLOAT" 30;
        /// 4 elements of 16, 16, 16, 16 bits.
        Fmt16_16_16_16 "FMT_16_16_16_16" 31;
        /// 4 elements of 16, 16, 16, 16 bits, floating point.
        Fmt16_16_16_16Float "FMT_16_16_16_16_FLOAT" 32;
        /// No format.
        FmtReserved33 "FMT_RESERVED_33" 33;
        /// 4 elements of 32, 32, 32, 32 bits.
        Fmt32_32_32_32 "FMT_32_32_32_32" 34;
        /// 4 elements of 32, 32, 32, 32 bits, floating point.
        Fmt32_32_32_32Float "FMT_32_32_32_32_FLOAT" 35;
        /// No format.
        FmtReserved36 "FMT_RESERVED_36" 36;
        /// One element of 1 bits.
        Fmt1 "FMT_1" 37;
        /// See the manual.
        Fmt1Reversed "FMT_1_REVERSED" 38;
        /// See the manual.
        FmtGbGr "FMT_GB_GR" 39;
        /// See the manual.
        FmtBgRg "FMT_BG_RG" 40;
        /// See the manual.
        Fmt32As8 "FMT_32_AS_8" 41;
        /// See the manual.
        Fmt32As8_8 "FMT_32_AS_8_8" 42;
        /// See the manual.
        Fmt5_9_9_9Sharedexp "FMT_5_9_9_9_SHAREDEXP" 43;
        /// 3 elements of 8, 8, 8 bits.
        Fmt8_8_8 "FMT_8_8_8" 44;
        /// 3 elements of 16, 16, 16 bits.
        Fmt16_16_16 "FMT_16_16_16" 45;
        /// 3 elements of 16, 16, 16 bits, floating point.
        Fmt16_16_16Float "FMT_16_16_16_FLOAT" 46;
        /// 3 elements of 32, 32, 32 bits.
        Fmt32_32_32 "FMT_32_32_32" 47;
        /// 3 elements of 32, 32, 32 bits, floating point.
        Fmt32_32_32Float "FMT_32_32_32_FLOAT" 48;
        /// Compressed blocks (textures only).
        FmtBc1 "FMT_BC1" 49;
        /// Compressed blocks (textures only).
        FmtBc2 "FMT_BC2" 50;
        /// Compressed blocks (textures only).
        FmtBc3 "FMT_BC3" 51;
        /// Compressed blocks (textures only).
        FmtBc4 "FMT_BC4" 52;
        /// Compressed blocks (textures only).
        FmtBc5 "FMT_BC5" 53;
        /// Compressed blocks (textures only).
        FmtApc0 "FMT_APC0" 54;
        /// Compressed blocks (textures only).
        FmtApc1 "FMT_APC1" 55;
        /// Compressed blocks (textures only).
        FmtApc2 "FMT_APC2" 56;
        /// Compressed blocks (textures only).
        FmtApc3 "FMT_APC3" 57;
        /// Compressed blocks (textures only).
        FmtApc4 "FMT_APC4" 58;
        /// Compressed blocks (textures only).
        FmtApc5 "FMT_APC5" 59;
        /// Compressed blocks (textures only).
        FmtApc6 "FMT_APC6" 60;
        /// Compressed blocks (textures only).
        FmtApc7 "FMT_APC7" 61;
        /// Compressed blocks (textures only).
        FmtCtx1 "FMT_CTX1" 62;
        /// No format.
        FmtReserved63 "FMT_RESERVED_63" 63;
    }
}

ops! {
    /// How the numbers of a format are returned.
    pub enum NumFormat cite "R700 §10.3" {
        /// Fractions: 0..1, or -1..1 when signed.
        Norm "NORM" 0;
        /// Integers.
        Int "INT" 1;
        /// Integers as floats.
        Scaled "SCALED" 2;
    }
}

ops! {
    /// Whether the numbers of a format are signed.
    pub enum FormatComp cite "R700 §10.3" {
        /// Unsigned.
        Unsigned "UNSIGNED" 0;
        /// Signed.
        Signed "SIGNED" 1;
    }
}

ops! {
    /// How signed fractions become floats.
    pub enum SrfMode cite "R700 §10.3" {
        /// Zero is exact; -1 has two encodings.
        ZeroClampMinusOne "ZERO_CLAMP_MINUS_ONE" 0;
        /// No encoding of zero; one of -1.
        NoZero "NO_ZERO" 1;
    }
}

ops! {
    /// Byte order of a fetch.
    pub enum EndianSwap cite "R700 §10.3" {
        /// As in memory.
        None "NONE" 0;
        /// Swaps the bytes of 16-bit words.
        Swap8In16 "8IN16" 1;
        /// Swaps the bytes of 32-bit words.
        Swap8In32 "8IN32" 2;
    }
}

ops! {
    /// How the register of a data share operation is addressed.
    pub enum RelMode cite "R700 §10.6" {
        /// As it is.
        None "NONE" 0;
        /// Plus the loop index.
        Loop "LOOP" 1;
        /// Not relative to the thread.
        Global "GLOBAL" 2;
    }
}

ops! {
    /// Read multiplexer of a data share read.
    pub enum MuxCntl cite "R700 §10.6" {
        /// Normal quadword select.
        None "NONE" 0;
        /// Permutation for FFTs.
        FftPermute "FFT_PERMUTE" 1;
        /// Dword select.
        WordSelect "WORD_SELECT" 2;
    }
}
