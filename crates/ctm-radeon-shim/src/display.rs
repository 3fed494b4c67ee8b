//! The display of the card node: one virtual output that shows a program's frames at once.
//!
//! The chain is fixed: plane, CRTC, encoder, connector, and one mode. A flip is done when its request returns; its event waits in the card's descriptor.
//! Frames are written as pictures on request, or shared with a viewer, and then a flip waits for the next sixtieth of a second. There is no atomic mode setting, as in the kernel's driver of these chips.

use crate::call::{Answer, Argument, Call};
use crate::screen::Framebuffer;
use crate::settings::{report, settings};
use crate::{card, client, prime};
use ctm::array::{Array, ArrayFileKind, Values};
use ctm_radeon::shared_picture::SharedPicture;
use ctm_radeon::shown::{BufferTiling, PixelFormat, Shown};
use std::path::Path;
use std::sync::OnceLock;

/// Numbers of the objects.
const CONNECTOR: u32 = 10;
const ENCODER: u32 = 11;
const CRTC: u32 = 12;
const PLANE: u32 = 13;
/// Numbers of properties: of the connector, and of the plane.
const DPMS: u32 = 20;
const PLANE_TYPE: u32 = 21;
/// Columns and rows of the mode.
const SIZE: [u32; 2] = [1024, 768];
/// The largest side of a framebuffer.
const LARGEST: u32 = 8192;
/// Bytes of a mode.
const MODE_BYTES: usize = 68;
/// Entries of the gamma table.
const GAMMA: u32 = 256;
/// An event of a flip, and one of a vertical blank.
const FLIP_COMPLETE: u32 = 2;
const VBLANK: u32 = 1;

/// The mode: 1024 x 768 at 60 Hz.
fn mode() -> Vec<u8> {
    let mut bytes = 65_000u32.to_le_bytes().to_vec();
    for number in [SIZE[0] as u16, 1048, 1184, 1344, 0, SIZE[1] as u16, 771, 777, 806, 0] {
        bytes.extend(number.to_le_bytes());
    }
    // 60 Hz; both syncs negative; preferred, and the driver's own.
    for number in [60u32, 10, 72] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(text::<32>("1024x768"));
    bytes
}

/// A text in a place of a fixed size.
fn text<const N: usize>(text: &str) -> [u8; N] {
    std::array::from_fn(|n| text.as_bytes().get(n).copied().filter(|_| n + 1 < N).unwrap_or(0))
}

/// Answers with a list: its length goes to `count`, and its words to the program where there is room for all.
fn list(argument: &mut Argument, pointer: usize, count: usize, words: &[u32]) -> Answer {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    items(argument, pointer, count, &bytes, words.len())
}

fn items(argument: &mut Argument, pointer: usize, count: usize, bytes: &[u8], number: usize) -> Answer {
    let room = argument.u32(count) as usize;
    if room >= number && argument.u64(pointer) != 0 {
        client::write(argument.u64(pointer), bytes)?;
    }
    argument.set32(count, u32::try_from(number).unwrap_or(u32::MAX));
    Ok(())
}

/// `ENOENT` unless an object is the existing one.
fn known(found: u32, object: u32) -> Answer {
    if found == object { Ok(()) } else { Err(libc::ENOENT) }
}

/// GETRESOURCES.
pub(crate) fn resources(call: &mut Call<'_>) -> Answer {
    let framebuffers: Vec<u32> = call.process.display(call.file).framebuffers.keys().copied().collect();
    let argument = &mut call.argument;
    list(argument, 0, 32, &framebuffers)?;
    list(argument, 8, 36, &[CRTC])?;
    list(argument, 16, 40, &[CONNECTOR])?;
    list(argument, 24, 44, &[ENCODER])?;
    for (at, value) in [(48, 0), (52, LARGEST), (56, 0), (60, LARGEST)] {
        argument.set32(at, value);
    }
    Ok(())
}

/// GETCRTC.
pub(crate) fn get_crtc(call: &mut Call<'_>) -> Answer {
    known(call.argument.u32(12), CRTC)?;
    let shown = call.process.display(call.file).shown.clone();
    let argument = &mut call.argument;
    for at in [20, 24] {
        argument.set32(at, 0);
    }
    argument.set32(16, shown.as_ref().map_or(0, |shown| shown.0));
    argument.set32(28, GAMMA);
    argument.set32(32, shown.is_some().into());
    argument.set_bytes(36, &shown.map_or_else(|| vec![0; MODE_BYTES], |shown| shown.1));
    Ok(())
}

/// SETCRTC: shows a framebuffer, or nothing.
pub(crate) fn set_crtc(call: &mut Call<'_>) -> Answer {
    known(call.argument.u32(12), CRTC)?;
    let (number, has_mode) = (call.argument.u32(16), call.argument.u32(32) != 0);
    if !has_mode {
        call.process.display(call.file).shown = None;
        return Ok(());
    }
    let mode = call.argument.bytes(36, MODE_BYTES);
    // All ones: the framebuffer that is shown already.
    let display = call.process.display(call.file);
    let number = if number == u32::MAX { display.shown.as_ref().map_or(0, |shown| shown.0) } else { number };
    if !display.framebuffers.contains_key(&number) {
        return Err(libc::ENOENT);
    }
    display.shown = Some((number, mode));
    show(call);
    Ok(())
}

/// GETENCODER.
pub(crate) fn encoder(call: &mut Call<'_>) -> Answer {
    known(call.argument.u32(0), ENCODER)?;
    // Type 5: virtual. CRTC 0 of the existing ones.
    for (at, value) in [(4, 5), (8, CRTC), (12, 1), (16, 0)] {
        call.argument.set32(at, value);
    }
    Ok(())
}

/// GETCONNECTOR: always connected.
pub(crate) fn connector(call: &mut Call<'_>) -> Answer {
    known(call.argument.u32(48), CONNECTOR)?;
    let argument = &mut call.argument;
    items(argument, 8, 32, &mode(), 1)?;
    let values: Vec<u8> = 0u64.to_le_bytes().to_vec();
    let room = argument.u32(36) >= 1;
    if room && argument.u64(24) != 0 {
        client::write(argument.u64(24), &values)?;
    }
    list(argument, 16, 36, &[DPMS])?;
    list(argument, 0, 40, &[ENCODER])?;
    // The encoder; type 15: virtual, the first; connected; millimetres; no order of sub-pixels.
    for (at, value) in [(44, ENCODER), (52, 15), (56, 1), (60, 1), (64, 270), (68, 203), (72, 1)] {
        argument.set32(at, value);
    }
    Ok(())
}

/// A property: its name, whether it is immutable, and its values.
type Property = (u32, &'static str, bool, &'static [&'static str]);

const PROPERTIES: [Property; 2] = [
    (DPMS, "DPMS", false, &["On", "Standby", "Suspend", "Off"]),
    (PLANE_TYPE, "type", true, &["Overlay", "Primary", "Cursor"]),
];

/// GETPROPERTY.
pub(crate) fn property(call: &mut Call<'_>) -> Answer {
    let number = call.argument.u32(16);
    let (_, name, immutable, values) = PROPERTIES.iter().find(|row| row.0 == number).ok_or(libc::ENOENT)?;
    let argument = &mut call.argument;
    let numbers: Vec<u8> = (0..values.len() as u64).flat_map(u64::to_le_bytes).collect();
    let mut named = Vec::new();
    for (code, value) in (0u64..).zip(*values) {
        named.extend(code.to_le_bytes());
        named.extend(text::<32>(value));
    }
    items(argument, 0, 56, &numbers, values.len())?;
    items(argument, 8, 60, &named, values.len())?;
    // Flags: 8 an enumeration, 4 immutable.
    argument.set32(20, if *immutable { 12 } else { 8 });
    argument.set_bytes(24, &text::<32>(name));
    Ok(())
}

/// OBJ_GETPROPERTIES.
pub(crate) fn object_properties(call: &mut Call<'_>) -> Answer {
    let found: &[(u32, u64)] = match call.argument.u32(20) {
        CONNECTOR => &[(DPMS, 0)],
        // 1: the primary plane.
        PLANE => &[(PLANE_TYPE, 1)],
        CRTC => &[],
        _ => return Err(libc::ENOENT),
    };
    let values: Vec<u8> = found.iter().flat_map(|of| of.1.to_le_bytes()).collect();
    let argument = &mut call.argument;
    if argument.u32(16) as usize >= found.len() && argument.u64(8) != 0 {
        client::write(argument.u64(8), &values)?;
    }
    list(argument, 0, 16, &found.iter().map(|of| of.0).collect::<Vec<_>>())
}

/// Requests that change nothing here: masters, gamma, cursors, properties, dirty rectangles.
pub(crate) fn accepted(_: &mut Call<'_>) -> Answer {
    Ok(())
}

/// GET_MAGIC: any number.
pub(crate) fn magic(call: &mut Call<'_>) -> Answer {
    call.argument.set32(0, 1);
    Ok(())
}

/// SET_CLIENT_CAP: lists of all planes, and aspect ratios; no atomic mode setting.
pub(crate) fn client_capability(call: &mut Call<'_>) -> Answer {
    match call.argument.u64(0) {
        1 | 2 | 4 => Ok(()),
        3 => Err(libc::EOPNOTSUPP),
        _ => Err(libc::EINVAL),
    }
}

fn add(call: &mut Call<'_>, framebuffer: Framebuffer) -> Answer {
    let Framebuffer { handle, width, height, pitch, offset, format, .. } = framebuffer;
    let size = call.space.table(|table| table.get(handle).map(|buffer| buffer.size))?.ok_or(libc::ENOENT)?;
    let fits = (1..=LARGEST).contains(&width) && (1..=LARGEST).contains(&height);
    let bytes = u64::from(pitch) * u64::from(height) + u64::from(offset);
    if !fits || u64::from(pitch) < u64::from(width) * u64::from(format.bytes()) || bytes > size {
        return Err(libc::EINVAL);
    }
    let display = call.process.display(call.file);
    display.last_framebuffer += 1;
    // Objects have numbers of one kind.
    let number = 100 + display.last_framebuffer;
    display.framebuffers.insert(number, framebuffer);
    call.argument.set32(0, number);
    Ok(())
}

/// ADDFB: a depth and bits of a pixel.
pub(crate) fn add_framebuffer(call: &mut Call<'_>) -> Answer {
    let [width, height, pitch, bits, depth, handle] = [4, 8, 12, 16, 20, 24].map(|at| call.argument.u32(at));
    let code = u32::from_le_bytes(match (bits, depth) {
        (32, 24) => *b"XR24",
        (32, 32) => *b"AR24",
        (16, 16) => *b"RG16",
        _ => return Err(libc::EINVAL),
    });
    let format = PixelFormat::of(code).ok_or(libc::EINVAL)?;
    add(call, Framebuffer { handle, width, height, pitch, offset: 0, format, code })
}

/// ADDFB2: a format with one plane, and no modifier but that of linear memory.
pub(crate) fn add_framebuffer_2(call: &mut Call<'_>) -> Answer {
    let [width, height, code, flags, handle, pitch, offset] =
        [4, 8, 12, 16, 20, 36, 52].map(|at| call.argument.u32(at));
    let has_modifier = flags & 2 != 0 && call.argument.u64(72) != 0;
    let format = PixelFormat::of(code).filter(|_| !has_modifier).ok_or(libc::EINVAL)?;
    add(call, Framebuffer { handle, width, height, pitch, offset, format, code })
}

/// GETFB: as ADDFB, with the handle.
pub(crate) fn get_framebuffer(call: &mut Call<'_>) -> Answer {
    let number = call.argument.u32(0);
    let of = call.process.display(call.file).framebuffers.get(&number).copied().ok_or(libc::ENOENT)?;
    let bits = of.format.bytes() * 8;
    let depth = if of.code.to_le_bytes()[0] == b'X' { 24 } else { bits };
    for (at, value) in [(4, of.width), (8, of.height), (12, of.pitch), (16, bits), (20, depth), (24, of.handle)] {
        call.argument.set32(at, value);
    }
    Ok(())
}

/// RMFB, and CLOSEFB.
pub(crate) fn remove_framebuffer(call: &mut Call<'_>) -> Answer {
    let number = call.argument.u32(0);
    let display = call.process.display(call.file);
    display.framebuffers.remove(&number).ok_or(libc::ENOENT)?;
    display.shown.take_if(|shown| shown.0 == number);
    Ok(())
}

/// PAGE_FLIP: done at once.
pub(crate) fn page_flip(call: &mut Call<'_>) -> Answer {
    let [crtc, number, flags] = [0, 4, 8].map(|at| call.argument.u32(at));
    known(crtc, CRTC)?;
    // 1: an event is requested; 2, a flip within a picture, is not supported.
    if flags & !1 != 0 {
        return Err(libc::EINVAL);
    }
    let display = call.process.display(call.file);
    if !display.framebuffers.contains_key(&number) {
        return Err(libc::ENOENT);
    }
    let shown = display.shown.as_mut().ok_or(libc::EBUSY)?;
    shown.0 = number;
    show(call);
    if flags & 1 != 0 {
        event(call, FLIP_COMPLETE, call.argument.u64(16));
    }
    Ok(())
}

/// WAIT_VBLANK: the next one is now.
pub(crate) fn wait_vblank(call: &mut Call<'_>) -> Answer {
    let (kind, signal) = (call.argument.u32(0), call.argument.u64(8));
    let [seconds, microseconds] = now();
    // An event is requested, instead of a wait.
    if kind & 0x0400_0000 != 0 {
        event(call, VBLANK, signal);
    }
    let sequence = call.process.display(call.file).sequence;
    call.argument.set32(4, sequence);
    call.argument.set64(8, seconds.into());
    call.argument.set64(16, microseconds.into());
    Ok(())
}

/// The monotonic clock: seconds and microseconds.
fn now() -> [u32; 2] {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    [now.tv_sec as u32, (now.tv_nsec / 1000) as u32]
}

/// Sends an event: its kind, its length, the program's word, the time, the picture's number, the CRTC.
fn event(call: &mut Call<'_>, kind: u32, word: u64) {
    let [seconds, microseconds] = now();
    let sequence = call.process.display(call.file).sequence;
    let mut bytes: Vec<u8> = [kind, 32].iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend(word.to_le_bytes());
    bytes.extend([seconds, microseconds, sequence, CRTC].iter().flat_map(|number| number.to_le_bytes()));
    card::send(call.file, &bytes);
}

/// GETPLANERESOURCES.
pub(crate) fn planes(call: &mut Call<'_>) -> Answer {
    list(&mut call.argument, 0, 8, &[PLANE])
}

/// GETPLANE.
pub(crate) fn plane(call: &mut Call<'_>) -> Answer {
    known(call.argument.u32(0), PLANE)?;
    let shown = call.process.display(call.file).shown.as_ref().map_or(0, |shown| shown.0);
    let argument = &mut call.argument;
    for (at, value) in [(4, if shown == 0 { 0 } else { CRTC }), (8, shown), (12, 1), (16, 0)] {
        argument.set32(at, value);
    }
    list(argument, 24, 20, &PixelFormat::CODES.map(|(code, _)| code))
}

/// SETPLANE: the plane shows a whole framebuffer, as the CRTC does.
pub(crate) fn set_plane(call: &mut Call<'_>) -> Answer {
    known(call.argument.u32(0), PLANE)?;
    let number = call.argument.u32(8);
    let display = call.process.display(call.file);
    if number != 0 && !display.framebuffers.contains_key(&number) {
        return Err(libc::ENOENT);
    }
    if number == 0 {
        display.shown = None;
        return Ok(());
    }
    display.shown = Some((number, mode()));
    show(call);
    Ok(())
}

/// CREATE_DUMB: linear memory for pixels that the processor writes.
pub(crate) fn create_dumb(call: &mut Call<'_>) -> Answer {
    let [height, width, bits] = [0, 4, 8].map(|at| call.argument.u32(at));
    if height == 0 || width == 0 || bits == 0 || width > LARGEST || height > LARGEST || bits > 128 {
        return Err(libc::EINVAL);
    }
    // Rows are multiples of 256 bytes, as the chip's linear surfaces are.
    let pitch = (width * bits.div_ceil(8)).next_multiple_of(256);
    let size = (u64::from(pitch) * u64::from(height)).next_multiple_of(crate::table::PAGE);
    let handle = call.space.table(|table| table.create(size, 0, crate::table::GTT))??;
    call.argument.set32(16, handle);
    call.argument.set32(20, pitch);
    call.argument.set64(24, size);
    Ok(())
}

/// MAP_DUMB: where in the descriptor the buffer lies.
pub(crate) fn map_dumb(call: &mut Call<'_>) -> Answer {
    let handle = call.argument.u32(0);
    let offset = call.space.table(|table| {
        table.store_clears(call.space, handle);
        let buffer = table.get_mut(handle)?;
        buffer.is_mapped();
        Some(buffer.offset)
    })?;
    call.argument.set64(8, offset.ok_or(libc::ENOENT)?);
    Ok(())
}

/// Counts a picture, writes it and shows it on request. A picture that cannot be written is reported, and the program goes on.
fn show(call: &mut Call<'_>) {
    let display = call.process.display(call.file);
    display.sequence = display.sequence.wrapping_add(1);
    let number = display.sequence;
    let framebuffer = display.shown.as_ref().and_then(|shown| display.framebuffers.get(&shown.0)).copied();
    let (directory, viewer) = (settings().frames.as_deref(), viewer());
    let Some(framebuffer) = framebuffer.filter(|_| directory.is_some() || viewer.is_some()) else { return };
    if viewer.is_some() {
        display.wait();
    }
    let shown = picture(call, framebuffer).and_then(|rgb| {
        let Framebuffer { width, height, .. } = framebuffer;
        if let Some(viewer) = viewer {
            viewer.show([width, height], &rgb).map_err(|e| e.to_string())?;
        }
        directory.map_or(Ok(()), |directory| write([width, height], rgb, number, directory))
    });
    if let Err(message) = shown {
        report(&format!("picture {number} is not written: {message}"));
    }
}

/// The file that a viewer reads, opened once.
fn viewer() -> Option<&'static SharedPicture> {
    static VIEWER: OnceLock<Option<SharedPicture>> = OnceLock::new();
    let open = |path: &Path| {
        let told = |error| report(&format!("{} cannot be opened, nothing is shown: {error}", path.display()));
        SharedPicture::open(path).map_err(told).ok()
    };
    VIEWER.get_or_init(|| settings().show.as_deref().and_then(open)).as_ref()
}

/// Red, green and blue of a framebuffer's pixels.
fn picture(call: &Call<'_>, of: Framebuffer) -> Result<Vec<u8>, String> {
    let buffer = call.space.table(|table| {
        table.store_clears(call.space, of.handle);
        table.get(of.handle).copied()
    });
    let buffer = buffer.ok().flatten().ok_or("its buffer is gone")?;
    let exported = prime::at(call.file, buffer.offset);
    let tiling = exported.and_then(|(_, exported)| prime::tiling(&exported).ok()).map_or(buffer.tiling, |of| of.0);
    let mapped = call.space.bytes(buffer.offset, buffer.size).map_err(|e| e.to_string())?;
    // SAFETY: the bytes stay mapped while the space is borrowed. If the program writes at the same time, the picture is a mix of both.
    let bytes = unsafe { &*mapped }.get(of.offset as usize..).unwrap_or_default();
    let Framebuffer { width, height, pitch: pitch_bytes, format, .. } = of;
    // An R500's tiles are stored row by row here.
    let tiling = if settings().chip.is_r700() { tiling } else { 0 };
    let shown = Shown { width, height, pitch_bytes, format, tiling: BufferTiling(tiling) };
    shown.picture(bytes).map_err(|e| e.to_string())
}

/// Writes a picture to a file of its own.
fn write([width, height]: [u32; 2], rgb: Vec<u8>, number: u32, directory: &Path) -> Result<(), String> {
    let array = Array { height: height as usize, width: width as usize, channels: 3, values: Values::U8(rgb) };
    let bytes = array.to_bytes(ArrayFileKind::Png).map_err(|e| e.to_string())?;
    std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let path = directory.join(format!("{}-{number:05}.png", std::process::id()));
    ctm::files::save::save(&path, &bytes).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_mode_has_the_kernels_size() {
        let mode = super::mode();
        assert_eq!(mode.len(), super::MODE_BYTES);
        assert_eq!(mode[4..6], 1024u16.to_le_bytes());
        assert_eq!(mode[14..16], 768u16.to_le_bytes());
    }
}
