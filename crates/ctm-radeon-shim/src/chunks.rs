//! The chunks of a submission, copied from the program.

use crate::{Errno, client};

/// The chunks of a submission that matter.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// The words of the stream.
    pub words: Vec<u32>,
    /// Four words for each buffer: handle, read domains, write domain, flags.
    pub relocations: Vec<[u32; 4]>,
}

/// The kernel's limit for a stream is its pool of a megabyte.
const MOST_WORDS: u32 = 1 << 18;
/// Far more than any driver lists.
const MOST_CHUNKS: u32 = 16;

/// Copies the chunks of a submission.
///
/// # Errors
/// As the kernel: `EFAULT` for bad pointers, `EINVAL` for invalid chunks, unknown rings and virtual memory, `ENOMEM` for streams
/// that are too long.
pub(crate) fn chunks(count: u32, list: u64) -> Result<Chunks, Errno> {
    if count == 0 {
        return Ok(Chunks::default());
    }
    if count > MOST_CHUNKS {
        return Err(libc::EINVAL);
    }
    let mut out = Chunks::default();
    let mut streams = 0;
    let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let list = client::words(list, 2 * count as usize)?;
    let places: Vec<_> = list.as_chunks().0.iter().map(|&[low, high]| (wide(low, high), 4)).collect();
    let headers = client::words_at(&places)?.concat();
    let headers = headers.as_chunks::<4>().0;
    if headers.iter().any(|&[_, length, ..]| length > MOST_WORDS) {
        return Err(libc::ENOMEM);
    }
    let places: Vec<_> = headers.iter().map(|&[_, length, low, high]| (wide(low, high), length as usize)).collect();
    for (&[kind, length, ..], data) in headers.iter().zip(client::words_at(&places)?) {
        match kind {
            RELOCATIONS => out.relocations = data.as_chunks::<4>().0.to_vec(),
            STREAM => {
                streams += 1;
                if length == 0 || streams > 1 {
                    return Err(libc::EINVAL);
                }
                out.words = data;
            }
            FLAGS => {
                let (flags, ring) = (data.first().copied().unwrap_or(0), data.get(1).copied().unwrap_or(0));
                if length == 0 || flags & USE_VIRTUAL_MEMORY != 0 || ring != 0 {
                    return Err(libc::EINVAL);
                }
            }
            // The kernel passes over kinds that it does not know.
            _ => {}
        }
    }
    if streams == 0 { Err(libc::EINVAL) } else { Ok(out) }
}

/// Kinds of chunks.
const RELOCATIONS: u32 = 1;
const STREAM: u32 = 2;
const FLAGS: u32 = 3;
/// A flag of a submission.
const USE_VIRTUAL_MEMORY: u32 = 2;
