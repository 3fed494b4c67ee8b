//! State shared by the threads of a launch: the local data share, SIMD-global registers; bursts, and constants and resources of the other
//! program type.

use super::{GPRS, Maker, alu};
use crate::r700::formats::{MemDsrWord0, MemDsrWord1, MemDsrWord2, MemDswWord0, MemDswWord1, MemDswWord2};
use crate::r700::inst::{Fetch, MemDsr, MemDsw};
use crate::r700::ops::{CfAluOp, CfOp, MemOp, MuxCntl, RelMode, Sel, VtxOp};
use crate::r700::program::Stage;

impl Maker {
    /// Writes and reads of the local data share, or a vertex event.
    pub(super) fn sharing_item(&mut self) -> usize {
        if self.shape.stage == Stage::Geometry && self.random.one_in(2) {
            let op = self.random.of(&[CfOp::EmitVertex, CfOp::EmitCutVertex, CfOp::CutVertex]);
            self.plain(op, |_| {});
            return 1;
        }
        let source = self.random.below(u32::from(GPRS)) as u8;
        self.small_index(source);
        let count = 1 + self.random.below(3);
        let fetches: Vec<Fetch> = (0..count)
            .map(|_| if self.random.one_in(2) { self.share_write() } else { self.share_read(source) })
            .collect();
        1 + self.clause_item(CfOp::Tex, &fetches)
    }

    /// Makes x and y of a register small, mostly; gives how many elements a burst has beyond the first one.
    pub(super) fn small_index(&mut self, gpr: u8) -> u8 {
        if !self.random.one_in(16) {
            let from = self.random.below(u32::from(GPRS)) as u8;
            let most = self.random.of(&[[255, 15], [63, 0], [31, 255], [1023, 7], [7, 3]]);
            self.fixed_clause(CfAluOp::Alu, alu::low_bits(gpr, from, most));
        }
        if self.random.one_in(3) { self.random.below(4) as u8 } else { 0 }
    }

    /// Whether an instruction uses the other program's constants and resources.
    pub(super) fn alternate(&mut self) -> bool {
        self.shape.sharing && self.random.one_in(8)
    }

    /// How many elements a burst of reads has beyond the first one.
    pub(super) fn read_burst(&mut self) -> u8 {
        if self.shape.sharing && self.random.one_in(8) { self.random.below(4) as u8 } else { 0 }
    }

    fn mode(&mut self) -> RelMode {
        let modes = [RelMode::None, RelMode::None, RelMode::Global, RelMode::Loop];
        let mode = self.random.of(&modes);
        if mode == RelMode::Loop && !self.relative() { RelMode::None } else { mode }
    }

    fn share_write(&mut self) -> Fetch {
        let mut sel = || self.random.of(&[Sel::X, Sel::Y, Sel::Z, Sel::W, Sel::One, Sel::Mask]);
        let [src_sel_x, src_sel_y, src_sel_z, src_sel_w] = [sel(), sel(), sel(), sel()];
        Fetch::MemDsw(MemDsw {
            word0: MemDswWord0 {
                op: VtxOp::Mem,
                mem_op: MemOp::LocalDsWrite,
                src_gpr: self.gpr(),
                src_rel_mode: self.mode(),
                src_sel_x,
                src_sel_y,
                src_sel_z,
                src_sel_w,
            },
            word1: MemDswWord1 {
                dst_index: 4 * self.random.below(4) as u8,
                dst_index_ext: 0,
                dst_stride: self.random.of(&[0, 1, 4, 8, 127]),
                dst_stride_ext: self.random.of(&[0, 0, 0, 1]),
                simd_wave_rel: self.random.one_in(2),
            },
            word2: MemDswWord2 { burst_cnt: self.burst() },
        })
    }

    fn share_read(&mut self, source: u8) -> Fetch {
        let mut sel = || self.random.of(&[Sel::X, Sel::Y, Sel::X, Sel::Y, Sel::Zero, Sel::One]);
        let [src_sel_x, src_sel_y] = [sel(), sel()];
        let mut writes = || !self.random.one_in(4);
        let [dst_wr_x, dst_wr_y, dst_wr_z, dst_wr_w] = [writes(), writes(), writes(), writes()];
        let indexed_writes = self.indexed_writes;
        let mode = self.mode();
        let burst_cnt = self.burst();
        Fetch::MemDsr(MemDsr {
            word0: MemDsrWord0 {
                op: VtxOp::Mem,
                mem_op: MemOp::LocalDsRead,
                src_gpr: source,
                src_rel_mode: self.random.of(&[RelMode::None, RelMode::None, RelMode::None, RelMode::Global]),
                src_sel_x,
                src_sel_y,
                rd_offset: 4 * self.random.below(4) as u8,
            },
            word1: MemDsrWord1 {
                dst_gpr: self.random.below(u32::from(GPRS - burst_cnt)) as u8,
                dst_rel_mode: if mode == RelMode::Loop && !indexed_writes { RelMode::None } else { mode },
                dst_wr_x,
                dst_wr_y,
                dst_wr_z,
                dst_wr_w,
                broadcast: self.random.one_in(6),
                waterfall: self.random.one_in(3),
                mux_cntl: self.random.of(&[MuxCntl::None, MuxCntl::None, MuxCntl::WordSelect]),
            },
            word2: MemDsrWord2 { burst_cnt },
        })
    }

    fn burst(&mut self) -> u8 {
        if self.random.one_in(4) { self.random.below(3) as u8 } else { 0 }
    }
}
