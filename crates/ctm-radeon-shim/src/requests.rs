//! The kernel's requests by number, and their answers.
//!
//! A row of [`REQUESTS`] is a request: its number, the size of its structure, and its handler. Fields are read and written at their places in the
//! structure, which are those of the kernel's headers on 64-bit machines (`drm.h`, `radeon_drm.h`).

use crate::call::{Answer, Argument, Call};
use crate::process::Process;
use crate::space::{FileId, Space};
use crate::{chunks, client, display, prime, submit};
use ctm_radeon::environment::Chip;
use std::os::fd::{AsRawFd, IntoRawFd};

/// A request of the kernel's interface.
struct Request {
    /// Bits 7:0 of its code.
    number: u8,
    /// Bytes of its structure.
    bytes: usize,
    answer: fn(&mut Call<'_>) -> Answer,
    /// Only the card node has this request.
    of_card: bool,
}

const fn node(number: u8, bytes: usize, answer: fn(&mut Call<'_>) -> Answer) -> Request {
    Request { number, bytes, answer, of_card: false }
}

const fn card(number: u8, bytes: usize, answer: fn(&mut Call<'_>) -> Answer) -> Request {
    Request { number, bytes, answer, of_card: true }
}

#[rustfmt::skip] // A table.
const REQUESTS: &[Request] = &[
    node(0x00, 64, version),
    card(0x02, 4,  display::magic),                // GET_MAGIC
    card(0x07, 16, display::accepted),             // SET_VERSION
    node(0x09, 8,  gem_close),
    card(0x0a, 8,  gem_flink),
    card(0x0b, 16, gem_open),
    node(0x0c, 16, get_cap),
    card(0x0d, 16, display::client_capability),
    card(0x11, 4,  display::accepted),             // AUTH_MAGIC
    card(0x1e, 0,  display::accepted),             // SET_MASTER
    card(0x1f, 0,  display::accepted),             // DROP_MASTER
    node(0x2d, 12, prime_export),
    node(0x2e, 12, prime_import),
    card(0x3a, 24, display::wait_vblank),
    node(0x5c, 24, gem_info),
    node(0x5d, 32, gem_create),
    node(0x5e, 32, gem_mmap),
    node(0x61, 32, not_there),                     // GEM_PREAD: the kernel has none either
    node(0x62, 32, not_there),                     // GEM_PWRITE
    node(0x63, 12, gem_known),                     // GEM_SET_DOMAIN
    node(0x64, 8,  gem_known),                     // GEM_WAIT_IDLE: nothing runs when a request has returned
    node(0x66, 32, cs),
    node(0x67, 16, info),
    node(0x68, 12, gem_set_tiling),
    node(0x69, 12, gem_get_tiling),
    node(0x6a, 8,  gem_busy),
    node(0x6b, 24, no_virtual_memory),
    node(0x6c, 16, gem_op),
    card(0xa0, 64, display::resources),
    card(0xa1, 104, display::get_crtc),
    card(0xa2, 104, display::set_crtc),
    card(0xa3, 28, display::accepted),             // CURSOR
    card(0xa4, 32, display::accepted),             // GETGAMMA
    card(0xa5, 32, display::accepted),             // SETGAMMA
    card(0xa6, 20, display::encoder),
    card(0xa7, 80, display::connector),
    card(0xaa, 64, display::property),
    card(0xab, 16, display::accepted),             // SETPROPERTY
    card(0xad, 28, display::get_framebuffer),
    card(0xae, 28, display::add_framebuffer),
    card(0xaf, 4,  display::remove_framebuffer),
    card(0xb0, 24, display::page_flip),
    card(0xb1, 24, display::accepted),             // DIRTYFB
    card(0xb2, 32, display::create_dumb),
    card(0xb3, 16, display::map_dumb),
    card(0xb4, 4,  gem_close),                     // DESTROY_DUMB
    card(0xb5, 16, display::planes),
    card(0xb6, 32, display::plane),
    card(0xb7, 48, display::set_plane),
    card(0xb8, 104, display::add_framebuffer_2),
    card(0xb9, 32, display::object_properties),
    card(0xba, 24, display::accepted),             // OBJ_SETPROPERTY
    card(0xbb, 36, display::accepted),             // CURSOR2
    card(0xd0, 8,  display::remove_framebuffer),   // CLOSEFB
];

/// Whether a request is one of graphics devices: bits 15:8 are `d`.
pub(crate) const fn is_of_graphics(code: u64) -> bool {
    code >> 8 & 0xff == b'd' as u64
}

/// Answers a request of a node or of the card. Sizes are taken as the kernel does: a program that was made for a shorter structure hands in, and gets back, its own.
///
/// # Errors
/// The kernel's error number; `EACCES` for requests that a render node does not have.
pub(crate) fn answer(
    process: &mut Process,
    space: &Space,
    (file, is_card): (FileId, bool),
    code: u64,
    address: u64,
) -> Answer {
    let number = (code & 0xff) as u8;
    let (theirs, writes) = ((code >> 16 & 0x3fff) as usize, code >> 30 & 1 != 0);
    let (reads, known) = (code >> 31 & 1 != 0, REQUESTS.iter().find(|request| request.number == number));
    let Some(request) = known else { return Err(libc::EINVAL) };
    if request.of_card && !is_card {
        return Err(libc::EACCES);
    }
    let mut bytes = if writes { client::read(address, theirs)? } else { Vec::new() };
    bytes.resize(request.bytes.max(theirs), 0);
    let mut call = Call { process, space, file, is_card, argument: Argument(bytes) };
    (request.answer)(&mut call)?;
    if reads { client::write(address, &call.argument.0[..theirs]) } else { Ok(()) }
}

fn not_there(_: &mut Call<'_>) -> Answer {
    Err(libc::ENOSYS)
}

fn no_virtual_memory(_: &mut Call<'_>) -> Answer {
    Err(libc::ENOTTY)
}

/// VERSION: three numbers and three texts, each a length and a pointer.
fn version(call: &mut Call<'_>) -> Answer {
    for (at, value) in [(0, 2), (4, 50), (8, 0)] {
        call.argument.set32(at, value);
    }
    for (at, text) in [(16, "radeon"), (32, "20080528"), (48, "ATI Radeon")] {
        let room = usize::try_from(call.argument.u64(at)).unwrap_or(usize::MAX).min(text.len());
        let to = call.argument.u64(at + 8);
        if room > 0 && to != 0 {
            client::write(to, &text.as_bytes()[..room])?;
        }
        call.argument.set64(at, text.len() as u64);
    }
    Ok(())
}

/// GET_CAP: sharing of buffers; and of the card, its display.
fn get_cap(call: &mut Call<'_>) -> Answer {
    let value = match (call.argument.u64(0), call.is_card) {
        // PRIME: import and export.
        (0x5, _) => 3,
        // DUMB_BUFFER, VBLANK_HIGH_CRTC, TIMESTAMP_MONOTONIC, CRTC_IN_VBLANK_EVENT.
        (0x1 | 0x2 | 0x6 | 0x12, true) => 1,
        // DUMB_PREFERRED_DEPTH
        (0x3, true) => 24,
        // CURSOR_WIDTH, CURSOR_HEIGHT
        (0x8 | 0x9, true) => 64,
        _ => 0,
    };
    call.argument.set64(8, value);
    Ok(())
}

/// PRIME_HANDLE_TO_FD: a descriptor, which survives `exec` unless the program requests O_CLOEXEC.
fn prime_export(call: &mut Call<'_>) -> Answer {
    let (handle, flags) = (call.argument.u32(0), call.argument.u32(4).cast_signed());
    if flags & !(libc::O_CLOEXEC | libc::O_RDWR) != 0 {
        return Err(libc::EINVAL);
    }
    let file = prime::export(call.space, call.file, handle)?.into_raw_fd();
    if flags & libc::O_CLOEXEC == 0 {
        // SAFETY: the descriptor is open; the command takes an integer.
        unsafe { libc::fcntl(file, libc::F_SETFD, 0) };
    }
    call.argument.set32(8, file.cast_unsigned());
    Ok(())
}

fn prime_import(call: &mut Call<'_>) -> Answer {
    let handle = prime::import(call.space, call.file, call.argument.u32(8).cast_signed())?;
    call.argument.set32(0, handle);
    Ok(())
}

/// GEM_FLINK: a name, under which other cards find the buffer.
fn gem_flink(call: &mut Call<'_>) -> Answer {
    let name = prime::name(call.space, call.file, call.argument.u32(0))?;
    call.argument.set32(4, name);
    Ok(())
}

/// GEM_OPEN: a handle and the size of the buffer with a name.
fn gem_open(call: &mut Call<'_>) -> Answer {
    let file = prime::named(call.argument.u32(0)).ok_or(libc::ENOENT)?;
    let handle = prime::import(call.space, call.file, file.as_raw_fd())?;
    let size = call.space.table(|table| table.get(handle).map_or(0, |buffer| buffer.size))?;
    call.argument.set32(4, handle);
    call.argument.set64(8, size);
    Ok(())
}

fn gem_close(call: &mut Call<'_>) -> Answer {
    let handle = call.argument.u32(0);
    let gone = call.space.table(|table| {
        let gone = table.close(handle);
        if let Some(gone) = gone {
            if gone.exported != 0 {
                prime::forget(call.file, gone.offset);
                call.space.uncover(gone.offset, gone.size);
            }
            // Under the lock: the range is empty before it becomes another buffer.
            call.space.forget(gone.offset, gone.size);
        }
        gone
    })?;
    let gone = gone.ok_or(libc::EINVAL)?;
    call.process.forget(call.file, gone.serial);
    Ok(())
}

/// GEM_INFO: the window into the host's memory, the card's memory, and how much of it a processor sees.
fn gem_info(call: &mut Call<'_>) -> Answer {
    for at in [0, 8, 16] {
        call.argument.set64(at, crate::table::LARGEST);
    }
    Ok(())
}

fn gem_create(call: &mut Call<'_>) -> Answer {
    let (size, alignment, domain) = (call.argument.u64(0), call.argument.u64(8), call.argument.u32(20));
    let handle = call.space.table(|table| table.create(size, alignment, domain))??;
    call.process.has_buffers = true;
    call.argument.set32(16, handle);
    Ok(())
}

/// GEM_MMAP: where in the file the buffer lies.
fn gem_mmap(call: &mut Call<'_>) -> Answer {
    let handle = call.argument.u32(0);
    let offset = call.space.table(|table| {
        table.store_clears(call.space, handle);
        let buffer = table.get_mut(handle)?;
        buffer.is_mapped();
        Some(buffer.offset)
    })?;
    call.argument.set64(24, offset.ok_or(libc::ENOENT)?);
    Ok(())
}

/// Requests about a buffer that do nothing here but know it.
fn gem_known(call: &mut Call<'_>) -> Answer {
    let handle = call.argument.u32(0);
    call.space.table(|table| table.get(handle).map(|_| ()))?.ok_or(libc::ENOENT)
}

fn gem_busy(call: &mut Call<'_>) -> Answer {
    let handle = call.argument.u32(0);
    let domain = call.space.table(|table| table.get(handle).map(|buffer| buffer.domain))?;
    call.argument.set32(4, domain.ok_or(libc::ENOENT)?);
    Ok(())
}

fn gem_set_tiling(call: &mut Call<'_>) -> Answer {
    let (handle, tiling, pitch) = (call.argument.u32(0), call.argument.u32(4), call.argument.u32(8));
    call.space.table(|table| {
        let buffer = table.get_mut(handle).ok_or(libc::ENOENT)?;
        (buffer.tiling, buffer.pitch) = (tiling, pitch);
        match prime::at(call.file, buffer.offset) {
            // All who have the buffer see it.
            Some((_, exported)) => prime::set_tiling(&exported, tiling, pitch).map_err(|_| libc::EIO),
            None => Ok(()),
        }
    })?
}

fn gem_get_tiling(call: &mut Call<'_>) -> Answer {
    let handle = call.argument.u32(0);
    let buffer = call.space.table(|table| table.get(handle).copied())?.ok_or(libc::ENOENT)?;
    let shared = prime::at(call.file, buffer.offset).and_then(|(_, exported)| prime::tiling(&exported).ok());
    let (tiling, pitch) = shared.unwrap_or((buffer.tiling, buffer.pitch));
    call.argument.set32(4, tiling);
    call.argument.set32(8, pitch);
    Ok(())
}

/// GEM_OP: 0 gets the domain that the driver wants, 1 sets it.
fn gem_op(call: &mut Call<'_>) -> Answer {
    let (handle, operation, value) = (call.argument.u32(0), call.argument.u32(4), call.argument.u64(8));
    let domain = call.space.table(|table| {
        let buffer = table.get_mut(handle).ok_or(libc::ENOENT)?;
        match operation {
            0 => {}
            // Only CPU, GTT and VRAM can be wanted.
            1 => buffer.domain = (value & 7) as u32,
            _ => return Err(libc::EINVAL),
        }
        Ok(buffer.domain)
    })??;
    if operation == 0 {
        call.argument.set64(8, u64::from(domain));
    }
    Ok(())
}

/// INFO: the number of the query, and a pointer to the answer.
fn info(call: &mut Call<'_>) -> Answer {
    let (request, pointer) = (call.argument.u32(0), call.argument.u64(8));
    let chip = call.process.settings().chip;
    let word = match request {
        // NUM_BYTES_MOVED, VRAM_USAGE, GTT_USAGE: 64 bits.
        0x1d..=0x1f => return client::write(pointer, &[0; 8]),
        // TIMESTAMP: 64 bits, ticks of the crystal.
        0x11 => return client::write(pointer, &ticks().to_le_bytes()),
        // RING_WORKING: the ring's number comes in. Only graphics works here; Mesa takes any answer for video (3) as yes, and complains of an error.
        0x15 => u32::from(client::words(pointer, 1)?.first() == Some(&0)),
        request => value(request, chip).ok_or(libc::EINVAL)?,
    };
    client::write(pointer, &word.to_le_bytes())
}

/// The answers that are one word and always the same. The machine has one pipe, one backend, four banks and groups of 256 bytes.
#[rustfmt::skip] // A table.
fn value(request: u32, chip: Chip) -> Option<u32> {
    Some(match request {
        0x00 => chip.device().into(),                      // DEVICE_ID
        0x01 => if chip.is_r700() { 0 } else { 1 },        // NUM_GB_PIPES
        0x02 => if chip.is_r700() { 0 } else { 1 },        // NUM_Z_PIPES
        0x03 | 0x05 => 1,                                  // ACCEL_WORKING, ACCEL_WORKING2
        0x06 => 0,                                         // TILING_CONFIG
        0x07 | 0x08 => 0,                                  // WANT_HYPERZ, WANT_CMASK
        0x09 => CRYSTAL_KHZ,                               // CLOCK_CRYSTAL_FREQ
        0x0a | 0x0b => 1,                                  // NUM_BACKENDS, NUM_TILE_PIPES
        0x0c => 0,                                         // FUSION_GART_WORKING
        0x0d => 0,                                         // BACKEND_MAP
        0x10 | 0x12 | 0x13 => 1,                           // MAX_PIPES, MAX_SE, MAX_SH_PER_SE
        0x14 => 0,                                         // FASTFB_WORKING
        0x1a => 750_000,                                   // MAX_SCLK, in kHz
        0x20 => 10,                                        // ACTIVE_CU_COUNT
        0x21..=0x23 => 0,                                  // temperature, clocks
        0x26 => 0,                                         // GPU_RESET_COUNTER
        _ => return None,                                  // no virtual memory, and nothing of later chips
    })
}

/// The crystal that time stamps count, in kHz.
const CRYSTAL_KHZ: u32 = 27_000;

/// Ticks of the crystal since some time.
fn ticks() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let nanoseconds = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
    u64::try_from(nanoseconds * i128::from(CRYSTAL_KHZ) / 1_000_000).unwrap_or(0)
}

/// CS: the addresses of chunks, each a kind, a length in words and an address.
fn cs(call: &mut Call<'_>) -> Answer {
    let (count, list) = (call.argument.u32(0), call.argument.u64(8));
    let chunks = chunks::chunks(count, list)?;
    submit::submit(call.process, call.space, call.file, &chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_fit_into_a_code() {
        assert!(REQUESTS.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert!(REQUESTS.iter().all(|request| request.bytes <= 0x3fff && request.bytes.is_multiple_of(4)));
        assert!(is_of_graphics(0xc020_6466) && !is_of_graphics(0x5413));
    }
}
