//! Programs that the checker accepts do not fault: programs of random flow control without errors keep within the stacks, the
//! branch counters and the program, whatever their data.
//!
//! Truth: derived; the checker follows paths, the interpreter runs the machine of CTM §3.5, and neither knows the other.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, Engine, FaultKind, GroupSize, Interp};
use ctm_isa::diag::Severity;
use ctm_isa::x1k::check::check;
use ctm_isa::x1k::formats::{CmnInst, FcAddr, FcInst};
use ctm_isa::x1k::inst::{FcInstruction, Inst};
use ctm_isa::x1k::ops::{AOp, BOp, CompareOp, FcOp, InstType, PredSel};
use ctm_isa::x1k::{Program, Words, inst::AluInst};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32) % limit
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }

    /// An ALU instruction that sets the ALU result and a predicate from the index pair, so that lanes differ.
    fn producer(&mut self) -> Words {
        let mut alu = AluInst::idle(InstType::Alu);
        alu.rgb_addr.addr0 = 0;
        alu.cmn.rgb_omask = 7;
        alu.rgb.alu_wmask = true;
        alu.rgb.target = self.below(4) as u8;
        alu.cmn.alu_result_op = self.of(CompareOp::ALL);
        Inst::Alu(alu).encode()
    }

    fn flow(&mut self, size: u32) -> Words {
        let cmn = CmnInst { kind: InstType::Fc, alu_wait: true, tex_sem_wait: true, ..CmnInst::decode(2).unwrap() };
        let cmn = CmnInst { rgb_pred_sel: self.of(&[PredSel::None, PredSel::Rrrr, PredSel::Gggg]), ..cmn };
        let b_op = [BOp::None, BOp::None, BOp::Incr, BOp::Decr];
        let inst = FcInst {
            op: if self.below(2) == 0 { FcOp::Jump } else { self.of(FcOp::ALL) },
            b_else: self.below(6) == 0,
            jump_any: self.below(2) == 0,
            a_op: self.of(&[AOp::None, AOp::None, AOp::None, AOp::None, AOp::Push, AOp::Pop]),
            jump_func: self.of(&[0x00, 0xff, 0x0f, 0xf0, 0x33, 0xcc, 0x55, 0xaa]),
            b_pop_cnt: self.below(3) as u8,
            b_op0: self.of(&b_op),
            b_op1: self.of(&b_op),
            ignore_uncovered: self.below(2) == 0,
        };
        let addr = FcAddr {
            bool_addr: self.below(2) as u8,
            int_addr: self.below(3) as u8,
            jump_addr: self.below(size) as u16,
            jump_global: true,
        };
        Inst::Fc(FcInstruction { cmn, inst, addr }).encode()
    }
}

#[test]
fn accepted_programs_keep_within_the_machine() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut constants = Constants::default();
    constants.bool[1] = true;
    constants.int[0] = [3, 0, 1, 0];
    constants.int[1] = [1, 0, 1, 0];
    let (mut accepted, mut with_stacks, mut ended) = (0, 0, 0);
    while accepted < 2000 {
        let size = 3 + random.below(7);
        let mut words: Vec<Words> =
            (1..size).map(|_| if random.below(3) == 0 { random.producer() } else { random.flow(size) }).collect();
        words.push([0x0000_0005, 0, 0, 0, 0, 0]);
        let mut program = Program::from_words(words);
        program.full_flow_control = true;
        // A LOOP that skips to its own end pops an entry that it did not push; that is a warning, because compilers write it.
        let errors: Vec<_> = check(&program)
            .into_iter()
            .filter(|f| f.rule == "loop-target" || f.severity == Severity::Error && f.rule != "alu-result-missing")
            .collect();
        if !errors.is_empty() {
            continue;
        }
        accepted += 1;
        with_stacks += u32::from(program.usage().needs_full_flow_control);
        let planes = [Plane {
            temp: 0,
            origin: [-1.0, 0.0, 1.0, 0.0],
            di: [1.0, 1.0, -1.0, 0.0],
            dj: [0.0, -1.0, 0.0, 0.0],
            bits: false,
        }];
        let launch = Launch {
            program: &program,
            constants: &constants,
            planes: &planes,
            rows: &[],
            domain: Domain { i0: 0, j0: 0, i1: 4, j1: 2 },
            group: GroupSize::new(random.of(&[4, 16])).unwrap(),
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: Budget { instructions_per_group: Some(2000), ..Budget::default() },
            threads: 1,
            checks: false,
            counters: true,
        };
        match Interp.run_x1k(&launch, &mut Arrays::default()).map_err(|fault| fault.kind) {
            Ok(_) => ended += 1,
            // Loops without an end are no fault of the stacks.
            Err(FaultKind::InstructionBudget { .. }) => {}
            Err(kind) => {
                let listing: Vec<String> = program
                    .words
                    .iter()
                    .map(|w| match Inst::decode(w) {
                        Ok(Inst::Fc(fc)) => format!("{:?} {:?} {:?}", fc.cmn.rgb_pred_sel, fc.inst, fc.addr),
                        _ => "ALU".into(),
                    })
                    .collect();
                panic!("{kind:?} in a program without errors:\n{}", listing.join("\n"))
            }
        }
    }
    // The programs were not all trivial.
    assert!(with_stacks > 300 && ended > 1000, "{with_stacks} with loops or calls, {ended} ended");
}
