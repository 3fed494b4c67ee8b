//! A window of an X server with the pictures on the card's display.

use crate::console::{Console, Failure};
use ctm::array::{Array, ArrayFileKind, Values};
use ctm_radeon::shared_picture::{SharedPicture, ShownPicture};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process};
use std::borrow::Cow;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;
use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::image::{BitsPerPixel, Image, ImageOrder, ScanlinePad};
use x11rb::properties::WmSizeHints;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConfigureWindowAux, ConnectionExt, CreateGCAux, CreateWindowAux, EventMask, Gcontext, PropMode,
    VisualClass, Window as WindowId, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// Keys by the numbers that X servers have for them: one writes the picture to a file, one ends the program.
const SAVE: u32 = 's' as u32;
const QUIT: u32 = 'q' as u32;
/// The pause between two looks for events and pictures.
const PAUSE: Duration = Duration::from_millis(4);
/// Columns and rows until a picture is there.
const SIZE: [u16; 2] = [1024, 768];

/// Something that the user asks for.
enum Request {
    Save,
    Quit,
    Nothing,
}

/// The window.
struct Window {
    server: RustConnection,
    screen: usize,
    id: WindowId,
    context: Gcontext,
    /// The message of a window that its manager is asked to close.
    closes: u32,
    /// The first key's number, keys' meanings, and how many each has.
    keys: (u8, Vec<u32>, usize),
    size: [u16; 2],
}

fn unusable(error: impl std::fmt::Display) -> Failure {
    let message = format!("--show needs an X server that DISPLAY names (--frames writes files instead): {error}");
    Failure::wrong("no-window", message)
}

impl Window {
    /// Opens it.
    fn open(title: &str) -> Result<Self, Failure> {
        let (server, screen) = x11rb::connect(None).map_err(unusable)?;
        Self::on(server, screen, title).map_err(unusable)
    }

    fn on(server: RustConnection, screen: usize, title: &str) -> Result<Self, ReplyOrIdError> {
        let setup = server.setup();
        let root = &setup.roots[screen];
        let (id, context) = (server.generate_id()?, server.generate_id()?);
        let events = EventMask::EXPOSURE | EventMask::KEY_PRESS;
        let aux = CreateWindowAux::new().background_pixel(root.black_pixel).event_mask(events);
        let class = WindowClass::INPUT_OUTPUT;
        let [width, height] = SIZE;
        server.create_window(COPY_DEPTH_FROM_PARENT, id, root.root, 0, 0, width, height, 0, class, 0, &aux)?;
        server.create_gc(context, id, &CreateGCAux::new())?;
        server.change_property8(PropMode::REPLACE, id, AtomEnum::WM_NAME, AtomEnum::STRING, title.as_bytes())?;
        let class = b"ctm\0ctm\0";
        server.change_property8(PropMode::REPLACE, id, AtomEnum::WM_CLASS, AtomEnum::STRING, class)?;
        let protocols = server.intern_atom(false, b"WM_PROTOCOLS")?.reply()?.atom;
        let closes = server.intern_atom(false, b"WM_DELETE_WINDOW")?.reply()?.atom;
        server.change_property32(PropMode::REPLACE, id, protocols, AtomEnum::ATOM, &[closes])?;
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let map = server.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        let keys = (first, map.keysyms, usize::from(map.keysyms_per_keycode));
        server.map_window(id)?;
        let window = Self { server, screen, id, context, closes, keys, size: SIZE };
        window.hints()?;
        window.server.flush()?;
        Ok(window)
    }

    /// The user cannot change its size.
    fn hints(&self) -> Result<(), ReplyOrIdError> {
        let size = self.size.map(i32::from);
        let size = Some((size[0], size[1]));
        let hints = WmSizeHints { min_size: size, max_size: size, ..WmSizeHints::new() };
        hints.set_normal_hints(&self.server, self.id)?;
        Ok(())
    }

    /// The requests since the last call, and whether the picture has to be drawn again.
    fn requests(&self) -> Result<(Vec<Request>, bool), Failure> {
        let (mut requests, mut exposed) = (Vec::new(), false);
        let lost = |e| Failure::wrong("no-window", format!("the window is lost: {e}"));
        while let Some(event) = self.server.poll_for_event().map_err(lost)? {
            let request = match event {
                Event::Expose(_) => {
                    exposed = true;
                    Request::Nothing
                }
                Event::ClientMessage(message) if message.data.as_data32()[0] == self.closes => Request::Quit,
                Event::KeyPress(key) => {
                    let (first, meanings, each) = &self.keys;
                    match meanings.get(usize::from(key.detail.saturating_sub(*first)) * each) {
                        Some(&SAVE) => Request::Save,
                        Some(&QUIT) => Request::Quit,
                        _ => Request::Nothing,
                    }
                }
                _ => Request::Nothing,
            };
            requests.push(request);
        }
        Ok((requests, exposed))
    }

    /// Draws a picture; the window gets its size.
    fn draw(&mut self, picture: &ShownPicture) -> Result<(), ReplyOrIdError> {
        let size = [picture.width, picture.height].map(|side| u16::try_from(side).unwrap_or(u16::MAX));
        if self.size != size {
            self.size = size;
            let [width, height] = size.map(u32::from);
            self.server.configure_window(self.id, &ConfigureWindowAux::new().width(width).height(height))?;
            self.hints()?;
        }
        let setup = self.server.setup();
        let root = &setup.roots[self.screen];
        let visuals = root.allowed_depths.iter().flat_map(|depth| &depth.visuals);
        let visual = visuals.into_iter().find(|visual| visual.visual_id == root.root_visual);
        let masks = visual.filter(|visual| visual.class == VisualClass::TRUE_COLOR);
        let masks = masks.map_or([0xff_0000, 0xff00, 0xff], |of| [of.red_mask, of.green_mask, of.blue_mask]);
        let pixel = |rgb: &[u8; 3]| {
            let parts = rgb.iter().zip(masks).map(|(&part, mask)| {
                // The channel's bits begin at its highest one, however many it has.
                let bits = mask.count_ones();
                let part = if bits < 8 { u32::from(part) >> (8 - bits) } else { u32::from(part) << (bits - 8) };
                part << mask.trailing_zeros().min(31) & mask
            });
            parts.fold(0, |all, part| all | part).to_le_bytes()
        };
        let bytes: Vec<u8> = picture.rgb.as_chunks().0.iter().flat_map(pixel).collect();
        let (pad, order) = (ScanlinePad::Pad32, ImageOrder::LsbFirst);
        let [width, height] = size;
        let bits = BitsPerPixel::B32;
        let image = Image::new(width, height, pad, root.root_depth, bits, order, Cow::Owned(bytes));
        let image = image.map_err(|_| ReplyOrIdError::ConnectionError(x11rb::errors::ConnectionError::UnknownError))?;
        image.native(setup)?.put(&self.server, self.id, self.context, 0, 0)?;
        self.server.flush()?;
        Ok(())
    }
}

/// Runs a program, and shows the pictures on the card's display until it ends. Gives its exit code.
///
/// The window's `s` key writes the picture to a file; `q`, or closing the window, ends the program (SIGTERM).
pub(crate) fn run(console: &Console, mut program: Command) -> Result<i32, Failure> {
    let name = Path::new(program.get_program()).file_name().unwrap_or_default().display().to_string();
    let mut window = Window::open(&format!("{name} - ctm radeon"))?;
    let file = memfd_create("ctm-display", MemfdFlags::CLOEXEC).map(File::from);
    let file = file.map_err(|e| Failure::wrong("no-window", format!("the display has no memory: {e}")))?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    program.env(ctm_radeon::environment::SHOW.name, path);
    let display = SharedPicture::from(file);
    let mut child =
        program.spawn().map_err(|e| Failure::wrong("cannot-start", format!("{name} cannot be started: {e}")))?;
    let shown = watch(console, &mut window, &display, (&mut child, &name));
    // A program without its display would go on unseen.
    if shown.is_err() {
        end(&child);
    }
    let status =
        child.wait().map_err(|e| Failure::wrong("cannot-start", format!("{name} cannot be waited for: {e}")))?;
    shown?;
    // As shells number signals.
    Ok(status.code().unwrap_or_else(|| 128 + std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0)))
}

/// Asks a program to end.
fn end(child: &Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Shows pictures until the program ends.
fn watch(
    console: &Console,
    window: &mut Window,
    display: &SharedPicture,
    (child, name): (&mut Child, &str),
) -> Result<(), Failure> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Failure::wrong("no-window", format!("{what}: {e}"));
    let mut picture: Option<ShownPicture> = None;
    while child.try_wait().map_err(|e| failed("the program cannot be watched", &e))?.is_none() {
        let (requests, exposed) = window.requests()?;
        let newer = display.newer_than(picture.as_ref().map(|of| of.number));
        let newer = newer.map_err(|e| failed("the picture cannot be read", &e))?;
        let draws = exposed || newer.is_some();
        picture = newer.or(picture);
        if let Some(picture) = picture.as_ref().filter(|_| draws) {
            window.draw(picture).map_err(|e| failed("the picture cannot be drawn", &e))?;
        }
        for request in requests {
            match (request, &picture) {
                (Request::Save, Some(picture)) => save(console, picture, name)?,
                (Request::Quit, _) => end(child),
                _ => {}
            }
        }
        if !draws {
            std::thread::sleep(PAUSE);
        }
    }
    Ok(())
}

/// Writes a picture to a new file in the working directory.
fn save(console: &Console, picture: &ShownPicture, name: &str) -> Result<(), Failure> {
    let ShownPicture { number, width, height, rgb } = picture;
    let values = Values::U8(rgb.clone());
    let array = Array { height: *height as usize, width: *width as usize, channels: 3, values };
    let path = format!("{name}-{number:05}.png");
    let bytes = array.to_bytes(ArrayFileKind::Png);
    let bytes = bytes.map_err(|e| Failure::wrong("no-picture", format!("{path}: {e}")))?;
    console.write(Path::new(&path), &bytes)
}
