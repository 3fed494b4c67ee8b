//! The path of a submission: its chunks are copied, its buffers found, then it goes into the capture, is checked, and executed.

use crate::chunks::Chunks;
use crate::process::Process;
use crate::process_id::process_id;
use crate::settings::{report, settings};
use crate::space::{FileId, Space};
use crate::table::Buffer;
use crate::{Errno, prime};
use ctm_radeon::capture::{BufferInfo, Relocation};
use std::time::Instant;

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
        let id = process_id();
        let mut own = Vec::with_capacity(chunks.relocations.len());
        let buffers = chunks.relocations.iter().map(|entry| {
            let buffer = table.get_mut(entry[0])?;
            own.push(buffer.written_by(id));
            Some(*buffer)
        });
        let buffers: Option<Vec<Buffer>> = buffers.collect();
        let buffers = buffers.ok_or(libc::ENOENT)?;
        if buffers.iter().any(|buffer| buffer.exported != 0 && prime::at(file, buffer.offset).is_none()) {
            report(
                "a submission names a buffer that another process with this node has exported; it can be imported here",
            );
            return Err(libc::ENOENT);
        }
        if settings().capture.is_some() {
            // The capture has the memory of buffers, so that it is always up to date.
            buffers.iter().for_each(|buffer| table.clears.store(space, buffer));
        }
        let clears = settings().capture.is_none().then_some(&mut table.clears);
        let begun = Instant::now();
        let number = record(process, space, file, chunks, &buffers);
        let outcome = process.machine.run((space, file), chunks, (&buffers, &own), clears);
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
