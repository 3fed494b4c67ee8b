//! The local data share of a thread group (R700 §2.6.2).

/// Banks of the local data share.
pub(super) const BANKS: usize = 4;
/// Dwords of one bank: 256 entries of 16 bytes.
pub const BANK_DWORDS: usize = 1024;
/// Dwords of the local data share, bank after bank.
pub const SHARE_DWORDS: usize = BANKS * BANK_DWORDS;

/// Where a dword of a bank (modulo 4) lies in the local data share; `None` beyond its end.
#[must_use]
pub const fn share_dword(bank: usize, offset: usize) -> Option<usize> {
    if offset < BANK_DWORDS { Some((bank % BANKS) * BANK_DWORDS + offset) } else { None }
}

/// The local data share of a thread group: 16 kB, zero at the start of each group.
#[derive(Clone, Debug)]
pub struct DataShare {
    dwords: Vec<u32>,
}

impl Default for DataShare {
    fn default() -> Self {
        Self { dwords: vec![0; SHARE_DWORDS] }
    }
}

impl DataShare {
    /// Makes every dword zero.
    pub fn clear(&mut self) {
        self.dwords.fill(0);
    }

    /// Every dword, bank after bank.
    #[must_use]
    pub fn dwords(&self) -> &[u32] {
        &self.dwords
    }

    /// A dword of a bank; `None` beyond its end.
    pub(super) fn place(&mut self, bank: usize, offset: usize) -> Option<&mut u32> {
        share_dword(bank, offset).and_then(|at| self.dwords.get_mut(at))
    }
}
