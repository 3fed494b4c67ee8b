//! `ctm radeon --show`: a window on an X server of the test's own.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use crate::dir::Dir;
use ctm_radeon::shared_picture::SharedPicture;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, ImageFormat, KEY_PRESS_EVENT, KeyPressEvent, Window,
};
use x11rb::rust_connection::RustConnection;

/// Columns, rows and colour of the second picture.
const SECOND: ([u32; 2], [u8; 3]) = ([320, 200], [0x44, 0x55, 0x66]);

/// An X server without a screen.
struct Server(Child, String);

impl Server {
    /// `None`, with a message, where there is none.
    fn start() -> Option<Self> {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "1280x1024x24"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            println!("skipped: there is no Xvfb, an X server without a screen");
            return None;
        };
        let mut number = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Some(Self(child, format!(":{}", number.trim())))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Plays the program: shows two pictures and waits to be ended; nothing when a person runs the tests.
#[test]
fn a_program() {
    let Some(file) = std::env::var_os(ctm_radeon::environment::SHOW.name) else { return };
    let display = SharedPicture::open(Path::new(&file)).unwrap();
    display.show([1, 2], &[0; 6]).unwrap();
    let ([width, height], colour) = SECOND;
    display.show([width, height], &colour.repeat((width * height) as usize)).unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

/// What `find` gives within half a minute.
fn soon<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The window whose name ends in this.
fn window(server: &RustConnection, end: &str) -> Option<Window> {
    let root = server.setup().roots[0].root;
    let children = server.query_tree(root).unwrap().reply().unwrap().children;
    children.into_iter().find(|&window| {
        let name = server.get_property(false, window, AtomEnum::WM_NAME, AtomEnum::STRING, 0, 100).unwrap().reply();
        name.is_ok_and(|name| name.value.ends_with(end.as_bytes()))
    })
}

/// `ctm radeon --show` with a program, on this server. The preloaded library is none: the program needs no Radeon.
fn show(d: &Dir, display: Option<&str>) -> Command {
    std::fs::write(d.0.join("none.so"), "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctm"));
    command.current_dir(&d.0).args(["radeon", "--show", "--library", "none.so", "--"]);
    command.env_remove("DISPLAY").env_remove("XAUTHORITY").stderr(Stdio::piped());
    display.into_iter().for_each(|display| _ = command.env("DISPLAY", display));
    command
}

#[test]
fn pictures_are_in_a_window() {
    let Some(server) = Server::start() else { return };
    let d = Dir::new("window");
    let mut command = show(&d, Some(&server.1));
    let again = std::env::current_exe().unwrap();
    command.arg(&again).args(["--exact", "window::a_program", "--nocapture"]);
    let child = command.spawn().unwrap();
    let (client, _) = x11rb::connect(Some(&server.1)).unwrap();
    let id = soon("a window", || window(&client, " - ctm radeon"));
    let ([width, height], [red, green, blue]) = SECOND;
    let whole = (0, 0, width as u16, height as u16);
    // The window grows to the picture.
    let image = soon("the second picture", || {
        let image = client.get_image(ImageFormat::Z_PIXMAP, id, 0, 0, whole.2, whole.3, u32::MAX).unwrap();
        image.reply().ok().filter(|image| image.data[0] == blue)
    });
    assert!(image.data.chunks(4).all(|pixel| pixel[..3] == [blue, green, red]));
    let size = client.get_geometry(id).unwrap().reply().unwrap();
    assert_eq!((size.width, size.height), (whole.2, whole.3));
    // A key writes the picture.
    let setup = client.setup();
    let (first, last) = (setup.min_keycode, setup.max_keycode);
    let keys = client.get_keyboard_mapping(first, last - first + 1).unwrap().reply().unwrap();
    let mut codes = keys.keysyms.chunks(keys.keysyms_per_keycode.into());
    let key = codes.position(|keysyms| keysyms[0] == u32::from(b's')).unwrap();
    let root = setup.roots[0].root;
    let event = KeyPressEvent {
        response_type: KEY_PRESS_EVENT,
        detail: first + key as u8,
        sequence: 0,
        time: 0,
        root,
        event: id,
        child: 0,
        root_x: 0,
        root_y: 0,
        event_x: 0,
        event_y: 0,
        state: 0u16.into(),
        same_screen: true,
    };
    client.send_event(false, id, EventMask::KEY_PRESS, event).unwrap();
    client.flush().unwrap();
    let name = again.file_name().unwrap().to_str().unwrap();
    let file = d.0.join(format!("{name}-00002.png"));
    let bytes = soon("a file", || std::fs::read(&file).ok());
    let array = ctm::array::Array::from_bytes(ctm::array::ArrayFileKind::Png, &bytes, None).unwrap();
    assert_eq!((array.width, array.height, array.channels), (320, 200, 3));
    // Closing the window ends the program.
    let protocols = client.intern_atom(false, b"WM_PROTOCOLS").unwrap().reply().unwrap().atom;
    let closes = client.intern_atom(false, b"WM_DELETE_WINDOW").unwrap().reply().unwrap().atom;
    let message = ClientMessageEvent::new(32, id, protocols, [closes, 0, 0, 0, 0]);
    client.send_event(false, id, EventMask::NO_EVENT, message).unwrap();
    client.flush().unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(128 + 15), "{}", String::from_utf8_lossy(&ended.stderr));
    // The exit code is the program's.
    let ended = show(&d, Some(&server.1)).args(["sh", "-c", "exit 7"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(7), "{}", String::from_utf8_lossy(&ended.stderr));
    let ended = show(&d, Some(&server.1)).arg("./nothing").output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && told.contains("nothing cannot be started"), "{told}");
}

#[test]
fn without_an_x_server_the_other_way_is_named() {
    let d = Dir::new("no-window");
    let ended = show(&d, None).arg("true").output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.code() == Some(1) && told.contains("needs an X server that DISPLAY names (--frames"),
        "{told}"
    );
}
