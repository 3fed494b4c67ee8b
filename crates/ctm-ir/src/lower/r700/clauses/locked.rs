//! Locked constants (R700 §4.6.4): their places in the table of uniform values.

use super::{Build, Lower, Result, Stop, loop_index};
use crate::lower::r700::Steps;
use crate::masked::{Locked, M, Op, RegisterFile, Value};
use ctm_exec::float::NAN;
use ctm_isa::r700::inst::Kcache;
use ctm_isa::r700::ops::{KcacheMode, Op2};
use ctm_isa::r700::{CONSTANT_FILE, KCACHE_LINE};

/// The most constants of the table of uniform values, whose dwords have 16-bit numbers.
const MOST_CONSTANTS: i32 = 16_000;

/// The constants that one set of a clause locks.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// The first constant's number in the table.
    first: u16,
    /// The number of the table's constants that it may reach.
    reach: u16,
    /// The number of its constants.
    count: u16,
    /// With LOCK_LOOP_INDEX: the number of constants from the first to its start, and the mask of lanes where that line
    /// is before line 0, if it can be.
    moved: Option<(Value, Option<Value>)>,
}

impl Window {
    /// A constant that is named without an index.
    pub(super) fn constant(&self, b: &mut Build, index: u8, element: u8) -> Value {
        if u16::from(index) >= self.count {
            return b.bits(NAN);
        }
        match self.moved {
            None => b.make(Op::Uniform(4 * (self.first + u16::from(index)) + u16::from(element))),
            Some((by, before)) => {
                let value = b.make(Op::GetRelative {
                    file: RegisterFile::Constants(self.first, self.reach),
                    base: index,
                    element,
                    index: by,
                });
                self.or_zero(b, value, before)
            }
        }
    }

    /// A constant at the loop index.
    pub(super) fn relative(&self, b: &mut Build, index: u8, element: u8, at: Option<M>) -> Value {
        let at = loop_index(b, at);
        let Some((by, before)) = self.moved else {
            return b.make(Op::GetRelative {
                file: RegisterFile::Constants(self.first, self.count),
                base: index,
                element,
                index: at,
            });
        };
        // The window begins at line aL / 16 already.
        let at = b.logic(Op2::AndInt, at, KCACHE_LINE - 1);
        let within = b.logic(Op2::AddInt, at, u32::from(index));
        let within = b.logic(Op2::SetgtUint, u32::from(self.count), within);
        let at = b.logic(Op2::AddInt, at, by);
        let value = b.make(Op::GetRelative {
            file: RegisterFile::Constants(self.first, self.reach),
            base: index,
            element,
            index: at,
        });
        let value = self.or_zero(b, value, before);
        let outside = b.bits(NAN);
        b.make(Op::Select([within, value, outside]))
    }

    /// A line before line 0 does not exist: its constants are zeros.
    fn or_zero(&self, b: &mut Build, value: Value, before: Option<Value>) -> Value {
        let Some(before) = before else { return value };
        let zero = b.bits(0);
        b.make(Op::Select([before, zero, value]))
    }
}

impl Lower<'_> {
    /// The constants that a set of a clause locks.
    pub(super) fn window(
        &mut self,
        b: &mut Build,
        set: Kcache,
        alternate: bool,
        index: Option<(M, Steps)>,
    ) -> Result<Window> {
        let count = set.mode.constants() as u16;
        let (line, constants) = (i32::from(set.line), KCACHE_LINE as i32);
        let of = |first, reach, moved| Window { first, reach, count, moved };
        match (set.mode, index) {
            (KcacheMode::Nop, _) => Ok(of(0, 0, None)),
            (KcacheMode::LockLoopIndex, Some((index, steps))) => {
                let [lowest, highest] = steps.range().map(|index| line + (index >> 4));
                let reach = (highest - lowest) * constants + i32::from(count);
                let first = self.lock(set.bank, lowest * constants, reach, alternate)?;
                let at = loop_index(b, Some(index));
                let lines = b.logic(Op2::AshrInt, at, 4);
                let all = b.logic(Op2::LshlInt, lines, 4);
                let by = b.logic(Op2::AddInt, all, ((line - lowest) * constants).cast_unsigned());
                let before = (lowest < 0).then(|| {
                    let at = b.logic(Op2::AddInt, lines, line.cast_unsigned());
                    b.logic(Op2::SetgtInt, 0, at)
                });
                Ok(of(first, reach as u16, Some((by, before))))
            }
            // Outside of loops the index is 0.
            (KcacheMode::Lock1 | KcacheMode::Lock2 | KcacheMode::LockLoopIndex, _) => {
                let first = self.lock(set.bank, line * constants, count.into(), alternate)?;
                Ok(of(first, count, None))
            }
        }
    }

    /// The place of locked constants in the table of uniform values: after the constant file.
    fn lock(&mut self, bank: u8, first: i32, count: i32, alternate: bool) -> Result<u16> {
        let mut at = CONSTANT_FILE as i32;
        for locked in &self.code.locked {
            let same = (locked.bank, locked.first, locked.alternate) == (bank, first, alternate);
            if same && i32::from(locked.count) >= count {
                return Ok(at as u16);
            }
            at += i32::from(locked.count);
        }
        if at + count > MOST_CONSTANTS {
            return Err(Stop::NotLowered);
        }
        self.code.locked.push(Locked { bank, first, count: count as u16, alternate });
        Ok(at as u16)
    }
}
