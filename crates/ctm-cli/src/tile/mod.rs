//! `ctm tile` and `ctm untile`: arrays into tiled order and back, that of the X1K's memory controller in `x1k`, that of R700 surfaces in `r700`.

mod r700;
mod x1k;

use crate::args::TileArgs;
use crate::console::{Console, Ending, Failure};

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Tile,
    Untile,
}

pub(crate) fn run(console: &Console, args: &TileArgs, direction: Direction) -> Ending {
    match args.isa.as_deref() {
        None | Some("x1k") => x1k::run(console, args, direction),
        Some("r700") => r700::run(console, args, direction),
        Some(other) => Err(Failure::usage("bad-flag", format!("--isa `{other}`: allowed is x1k, r700"))),
    }
}

/// Columns and rows.
fn size_pair(text: &str) -> Result<[u32; 2], Failure> {
    size_of(text).map(|(width, height)| [width, height])
}

fn size_of(text: &str) -> Result<(u32, u32), Failure> {
    let side = |t: &str| t.parse::<u32>().ok().filter(|n| (1..=4096).contains(n));
    text.split_once(['x', 'X'])
        .and_then(|(w, h)| Some((side(w)?, side(h)?)))
        .ok_or_else(|| Failure::usage("bad-flag", format!("`--size` is `{text}`, it must be WxH, 1 to 4096 each")))
}
