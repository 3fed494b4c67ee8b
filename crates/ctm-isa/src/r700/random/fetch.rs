//! Random fetch clauses.

use super::{GPRS, Maker, RESOURCES, plain};
use crate::r700::FETCH_CLAUSE_INSTRUCTIONS;
use crate::r700::formats::{
    MemRdWord0, MemRdWord1, MemRdWord2, TexWord0, TexWord1, TexWord2, VtxWord0, VtxWord1Gpr, VtxWord2,
};
use crate::r700::inst::{Cf, Fetch, MemRd, TexFetch, VtxFetch, VtxWord1};
use crate::r700::ops::{
    CfOp, Chan, DataFormat, EndianSwap, FetchType, FormatComp, MemOp, NumFormat, Sel, SrfMode, TexOp, VtxOp,
};

/// Formats of data in memory that fetches ask for.
const FORMATS: &[DataFormat] = &[
    DataFormat::Fmt32Float,
    DataFormat::Fmt32_32Float,
    DataFormat::Fmt32_32_32_32Float,
    DataFormat::Fmt32,
    DataFormat::Fmt32_32_32_32,
    DataFormat::Fmt8_8_8_8,
    DataFormat::Fmt16_16,
    DataFormat::Fmt16_16Float,
];

impl Maker {
    pub(super) fn clause_item(&mut self, op: CfOp, fetches: &[Fetch]) -> usize {
        let mut cf = plain(op);
        cf.word1.valid_pixel_mode = self.valid();
        let count = u8::try_from(fetches.len() - 1).unwrap_or(0);
        (cf.word1.count, cf.word1.count_3) = (count & 7, count > 7);
        let words = |fetch: &Fetch| {
            let [w0, w1, w2] = fetch.encode();
            [w0, w1, w2, 0]
        };
        let body = fetches.iter().flat_map(words).collect();
        self.push(Cf::Plain(cf), body);
        1
    }

    /// A clause of texture fetches, or one of vertex fetches.
    pub(super) fn fetch_item(&mut self) -> usize {
        let most = if self.random.one_in(6) { FETCH_CLAUSE_INSTRUCTIONS as u32 - 2 } else { 3 };
        let count = 1 + self.random.below(most);
        let textures = self.random.one_in(2);
        let mut fetches = Vec::new();
        for _ in 0..count {
            if textures && !self.random.one_in(8) {
                self.texture(&mut fetches);
            } else {
                fetches.push(self.vertex());
            }
        }
        fetches.truncate(FETCH_CLAUSE_INSTRUCTIONS);
        let op = if textures { CfOp::Tex } else { self.random.of(&[CfOp::Vtx, CfOp::VtxTc]) };
        self.clause_item(op, &fetches)
    }

    /// A clause of reads of the program's own writes.
    pub(super) fn memory_read_item(&mut self) -> usize {
        let count = 1 + self.random.below(3);
        let fetches: Vec<Fetch> = (0..count).map(|_| self.memory_read()).collect();
        self.clause_item(CfOp::Vtx, &fetches)
    }

    pub(super) fn gpr(&mut self) -> u8 {
        self.random.below(u32::from(GPRS)) as u8
    }

    fn resource(&mut self) -> u8 {
        self.random.below(u32::from(RESOURCES)) as u8
    }

    /// Whether a register is indexed with aL.
    pub(super) fn relative(&mut self) -> bool {
        self.loop_index && self.shape.relative && self.random.one_in(6)
    }

    /// Whether a written register is.
    pub(super) fn relative_write(&mut self) -> bool {
        self.indexed_writes && self.relative()
    }

    fn written(&mut self) -> Sel {
        self.random.of(&[
            Sel::X,
            Sel::Y,
            Sel::Z,
            Sel::W,
            Sel::X,
            Sel::Y,
            Sel::Z,
            Sel::W,
            Sel::Zero,
            Sel::One,
            Sel::Mask,
        ])
    }

    fn texture(&mut self, fetches: &mut Vec<Fetch>) {
        const OPS: &[TexOp] = &[
            TexOp::Ld,
            TexOp::GetTextureResinfo,
            TexOp::GetCompTexLod,
            TexOp::GetGradientsH,
            TexOp::GetGradientsV,
            TexOp::Sample,
            TexOp::Sample,
            TexOp::SampleL,
            TexOp::SampleLb,
            TexOp::SampleLz,
            TexOp::SampleG,
            TexOp::SampleC,
            TexOp::SampleCLz,
        ];
        /// Besides, in programs as compilers write them.
        const MORE: &[TexOp] = &[
            TexOp::SampleLb,
            TexOp::SampleLb,
            TexOp::SampleG,
            TexOp::SampleGL,
            TexOp::SampleGLb,
            TexOp::SampleGLz,
            TexOp::SampleCL,
            TexOp::SampleCLb,
            TexOp::SampleCG,
            TexOp::SampleCGL,
            TexOp::SampleCGLb,
            TexOp::Fetch4,
        ];
        let more = self.shape.compiled && self.random.one_in(3);
        let op = self.random.of(if more { MORE } else { OPS });
        if op.name().contains("_G") && op.name().starts_with("SAMPLE") {
            for set in [TexOp::SetGradientsH, TexOp::SetGradientsV] {
                let mut fetch = self.texture_fetch(set);
                (fetch.word1.dst_sel_x, fetch.word1.dst_sel_y) = (Sel::Mask, Sel::Mask);
                (fetch.word1.dst_sel_z, fetch.word1.dst_sel_w) = (Sel::Mask, Sel::Mask);
                fetches.push(Fetch::Tex(fetch));
            }
        }
        let fetch = self.texture_fetch(op);
        fetches.push(Fetch::Tex(fetch));
    }

    fn texture_fetch(&mut self, op: TexOp) -> TexFetch {
        let normalised = self.random.one_in(2);
        let offset = |maker: &mut Self| if maker.random.one_in(6) { maker.random.below(32) as u8 & !1 } else { 0 };
        let mut read = || self.random.of(&[Sel::X, Sel::Y, Sel::Z, Sel::W, Sel::Zero, Sel::One]);
        let [src_sel_x, src_sel_y, src_sel_z, src_sel_w] = [read(), read(), read(), read()];
        let normalised = normalised || self.shape.compiled && op != TexOp::Ld && !self.random.one_in(4);
        TexFetch {
            word0: TexWord0 {
                op,
                bc_frac_mode: false,
                fetch_whole_quad: self.random.one_in(8),
                resource_id: self.resource(),
                src_gpr: self.gpr(),
                src_rel: self.relative(),
                alt_const: self.alternate(),
            },
            word1: TexWord1 {
                dst_gpr: self.gpr(),
                dst_rel: self.relative_write(),
                dst_sel_x: self.written(),
                dst_sel_y: self.written(),
                dst_sel_z: self.written(),
                dst_sel_w: self.written(),
                lod_bias: if op == TexOp::SampleLb || self.shape.compiled && self.random.one_in(8) {
                    self.random.below(128) as u8
                } else {
                    0
                },
                coord_type_x: normalised,
                coord_type_y: normalised,
                coord_type_z: normalised,
                coord_type_w: normalised,
            },
            word2: TexWord2 {
                offset_x: offset(self),
                offset_y: offset(self),
                offset_z: 0,
                sampler_id: self.resource(),
                src_sel_x,
                src_sel_y,
                src_sel_z,
                src_sel_w,
            },
        }
    }

    fn vertex(&mut self) -> Fetch {
        Fetch::Vtx(VtxFetch {
            word0: VtxWord0 {
                op: VtxOp::Fetch,
                fetch_type: self.random.of(FetchType::ALL),
                fetch_whole_quad: false,
                buffer_id: self.resource(),
                src_gpr: self.gpr(),
                src_rel: self.relative(),
                src_sel_x: self.random.of(Chan::ALL),
                mega_fetch_count: 15,
            },
            word1: VtxWord1::Gpr(VtxWord1Gpr {
                dst_gpr: self.gpr(),
                dst_rel: self.relative_write(),
                dst_sel_x: self.written(),
                dst_sel_y: self.written(),
                dst_sel_z: self.written(),
                dst_sel_w: self.written(),
                use_const_fields: self.random.one_in(4),
                data_format: self.random.of(FORMATS),
                num_format_all: self.random.of(NumFormat::ALL),
                format_comp_all: self.random.of(FormatComp::ALL),
                srf_mode_all: self.random.of(SrfMode::ALL),
            }),
            word2: VtxWord2 {
                offset: self.random.below(16) as u16 * 4,
                endian_swap: EndianSwap::None,
                const_buf_no_stride: false,
                mega_fetch: true,
                alt_const: self.alternate(),
            },
        })
    }

    fn memory_read(&mut self) -> Fetch {
        let op = self.random.of(&[MemOp::RdScratch, MemOp::RdScatter]);
        let burst_cnt = self.read_burst();
        Fetch::MemRd(MemRd {
            word0: MemRdWord0 {
                op: VtxOp::Mem,
                elem_size: 3,
                fetch_whole_quad: false,
                mem_op: op,
                uncached: true,
                indexed: op == MemOp::RdScatter || self.random.one_in(2),
                mem_req_size: 0,
                src_gpr: self.gpr(),
                src_rel: self.shape.sharing && self.relative(),
                src_sel_x: self.random.of(Chan::ALL),
                burst_cnt,
            },
            word1: MemRdWord1 {
                dst_gpr: self.random.below(u32::from(GPRS - burst_cnt)) as u8,
                dst_rel: self.shape.sharing && self.relative_write(),
                dst_sel_x: self.written(),
                dst_sel_y: self.written(),
                dst_sel_z: self.written(),
                dst_sel_w: self.written(),
                data_format: DataFormat::Fmt32_32_32_32Float,
                num_format_all: NumFormat::Norm,
                format_comp_all: FormatComp::Signed,
                srf_mode_all: SrfMode::NoZero,
            },
            word2: MemRdWord2 {
                array_base: self.random.below(16) as u16,
                endian_swap: EndianSwap::None,
                mega_fetch: true,
                array_size: 63,
            },
        })
    }
}
