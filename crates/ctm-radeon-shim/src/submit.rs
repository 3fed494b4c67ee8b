//! The path of a submission: its chunks are copied, its buffers found, then it goes into the capture, is checked, and executed.

use crate::process::{Process, report};
use crate::space::{FileId, Space};
use crate::table::Buffer;
use crate::{Errno, client, prime};
use ctm_radeon::capture::{BufferInfo, Relocation};
use std::time::Instant;

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
    for address in client::words(list, 2 * count as usize)?.as_chunks::<2>().0 {
        let header = client::words(u64::from(address[0]) | u64::from(address[1]) << 32, 4)?;
        let [kind, length, low, high] = header[..] else { return Err(libc::EFAULT) };
        if length > MOST_WORDS {
            return Err(libc::ENOMEM);
        }
        let data = client::words(u64::from(low) | u64::from(high) << 32, length as usize)?;
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

/// Records and executes a submission.
///
/// # Errors
/// `ENOENT` for an unknown handle, `EINVAL` for a stream that the kernel would refuse.
pub(crate) fn submit(process: &mut Process, space: &Space, file: FileId, chunks: &Chunks) -> Result<(), Errno> {
    if chunks.words.is_empty() {
        return Ok(());
    }
    // The lock is held until the end: buffers can neither go nor be waited for while a submission uses them.
    space.table(|table| {
        let buffers: Option<Vec<Buffer>> =
            chunks.relocations.iter().map(|entry| table.get(entry[0]).copied()).collect();
        let buffers = buffers.ok_or(libc::ENOENT)?;
        if buffers.iter().any(|buffer| buffer.exported != 0 && prime::at(file, buffer.offset).is_none()) {
            report(
                "a submission names a buffer that another process with this node has exported; it can be imported here",
            );
            return Err(libc::ENOENT);
        }
        let begun = Instant::now();
        let number = record(process, space, file, chunks, &buffers);
        let outcome = process.machine.run(space, chunks, &buffers);
        process.submitted(chunks.words.len(), *outcome.as_ref().unwrap_or(&0), begun);
        let (answer, message) = match outcome {
            Ok(_) => (Ok(()), String::new()),
            Err(message) => {
                report(&format!("submission {} refused: {message}", process.counts().submissions - 1));
                (Err(libc::EINVAL), message)
            }
        };
        process.answered(number, answer.err().unwrap_or(0), message);
        answer
    })?
}

/// Puts a submission into the capture, if one is made; its number there.
fn record(process: &mut Process, space: &Space, file: FileId, chunks: &Chunks, buffers: &[Buffer]) -> Option<u64> {
    process.capture(|capture| {
        let mut relocations = Vec::with_capacity(buffers.len());
        for (buffer, entry) in buffers.iter().zip(&chunks.relocations) {
            let number = capture.number(file, buffer.serial);
            let info = BufferInfo {
                size_bytes: buffer.size,
                domain: buffer.domain,
                tiling: buffer.tiling,
                pitch_bytes: buffer.pitch,
            };
            if let Some((_, exported)) = prime::at(file, buffer.offset) {
                let all = vec![(0, buffer.size)];
                capture.writer.buffer(number, info, all, |at, to| prime::copy(&exported, at, to))?;
            } else {
                let written = space.written(buffer.offset, buffer.size);
                capture.writer.buffer(number, info, written, |at, to| space.copy(buffer.offset + at, to))?;
            }
            let [_, read_domains, write_domain, flags] = *entry;
            relocations.push(Relocation { buffer: number, read_domains, write_domain, flags });
        }
        capture.writer.submission(&chunks.words, &relocations)
    })
}
