//! Panels: parts of arrays, row by row, where code reads and writes them.

use std::ops::Range;

/// Columns and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Columns.
    pub x: Range<u32>,
    /// Rows.
    pub y: Range<u32>,
}

/// How numbers of a part lie in a panel.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Where those of element (0, 0) would begin, in bytes from the panel's begin on.
    pub origin: i64,
    /// Elements from row to row.
    pub pitch: i64,
    /// Bytes of the panel, whole lines.
    pub bytes: usize,
    /// Columns and rows that are there: whole blocks.
    pub first: [u32; 2],
    pub rows: u32,
    pub row_bytes: usize,
}

impl Panel {
    /// For a part of an array of elements of so many bytes, row by row.
    pub fn of_rows(part: &Part, element_bytes: u32) -> Self {
        let size = element_bytes as usize;
        let (pitch, row_bytes) = (part.x.len() as i64, part.x.len() * size);
        let first = [part.x.start, part.y.start];
        let origin = -(size as i64) * (i64::from(first[0]) + i64::from(first[1]) * pitch);
        Self { origin, pitch, bytes: row_bytes * part.y.len(), first, rows: part.y.len() as u32, row_bytes }
    }

    /// Copies a part of an array whose rows lie one after the other.
    pub fn copy(&self, (bytes, pitch, element_bytes): (&[u8], u32, u32), part: &Part, to: &mut [u8]) {
        let row = part.x.len() * element_bytes as usize;
        for (y, to) in part.y.clone().zip(to.chunks_exact_mut(self.row_bytes)) {
            let first = (y as usize * pitch as usize + part.x.start as usize) * element_bytes as usize;
            to[..row].copy_from_slice(&bytes[first..first + row]);
        }
    }

    /// Where an element of so many bytes begins among those that are stored.
    pub fn offset(&self, [x, y]: [u32; 2], element_bytes: u32) -> usize {
        (y - self.first[1]) as usize * self.row_bytes + ((x - self.first[0]) * element_bytes) as usize
    }
}
