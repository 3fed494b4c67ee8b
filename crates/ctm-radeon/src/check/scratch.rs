//! The registers of a check. Drivers have thousands of small streams checked a second, so the next check of a thread takes the memory of the last one.

use crate::execute::Registers;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};

thread_local! {
    /// Registers that are all as at first.
    static SPARE: Cell<Option<Registers>> = const { Cell::new(None) };
}

/// Registers, all as at first.
pub(super) struct Scratch(Registers);

impl Default for Scratch {
    fn default() -> Self {
        Self(SPARE.take().unwrap_or_default())
    }
}

impl Deref for Scratch {
    type Target = Registers;

    fn deref(&self) -> &Registers {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Registers {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut registers = std::mem::replace(&mut self.0, Registers::without_memory());
        registers.restart();
        // A thread that ends has nowhere to leave them.
        let _ = SPARE.try_with(|spare| spare.set(Some(registers)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::offset_of;

    #[test]
    fn every_check_begins_with_the_same_registers() {
        let mut of_one = Scratch::default();
        for offset in [0x8000, 0x28000, 0x2823c, 0x30000, 0x38000, 0x3fffc] {
            of_one.set(offset, 0x1234_5678);
            of_one.set_end(offset, 77);
        }
        of_one.set(offset_of("SQ_VTX_SEMANTIC_CLEAR").unwrap_or_default(), u32::MAX);
        drop(of_one);
        let (of_another, first) = (Scratch::default(), Registers::default());
        for offset in (0..0x40000).step_by(4) {
            assert_eq!((of_another.at(offset), of_another.end(offset)), (first.at(offset), None), "{offset:#x}");
        }
    }
}
