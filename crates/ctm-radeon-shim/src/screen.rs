//! The state of a card's display: its framebuffers, and the one that is shown.

use ctm_radeon::shown::PixelFormat;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A sixtieth of a second.
const PERIOD: Duration = Duration::from_micros(16_667);

/// A framebuffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framebuffer {
    pub handle: u32,
    pub width: u32,
    pub height: u32,
    pub pitch: u32,
    pub offset: u32,
    pub format: PixelFormat,
    pub code: u32,
}

/// The state of an opened card's display.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    pub framebuffers: BTreeMap<u32, Framebuffer>,
    pub last_framebuffer: u32,
    /// The framebuffer that is shown, and its mode.
    pub shown: Option<(u32, Vec<u8>)>,
    /// Pictures that have been shown.
    pub sequence: u32,
    /// The time of the next picture, where they are shown 60 times a second.
    next: Option<Instant>,
}

impl Screen {
    /// Waits until the time of the next picture.
    pub(crate) fn wait(&mut self) {
        let now = Instant::now();
        let next = self.next.map_or(now, |next| next.max(now));
        std::thread::sleep(next - now);
        self.next = Some(next + PERIOD);
    }
}
