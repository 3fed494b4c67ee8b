//! Pictures of vertex and pixel programs: the implementation of `ctm draw`.
//!
//! | file | subject |
//! |---|---|
//! | `builder` | [`Draw`]: one draw with arrays in memory |
//! | `plan` | the description of a picture: targets, draws, state |
//! | `keys`, `read` | job files (`docs/draw-jobs.md`) |
//! | `flags` | flags of `ctm draw` into the tree of values of a job file |
//! | `pair` | two programs and how they are linked |
//! | `pvs` | a vertex program of the R5xx before a pixel program of X1K |
//! | `camera`, `matrices` | the matrices of a viewer, and usual names of matrices |
//! | `blocks` | uniform blocks, constant buffers and attributes from arrays |
//! | `bound` | programs with all that is bound to them |
//! | `prepare` | files read, names resolved |
//! | `reach` | the constants by number that a program reads |
//! | `check` | mismatches that do not prevent drawing |
//! | `paint` | draws, and the targets' contents after them |
//!
//! A [`Drawing`] binds by the names in the programs' containers. [`ctm_draw`] is the interface below it, with all state.
//!
//! A picture as plain data: two draws into one target, and the fragments of one pixel.
//!
//! ```
//! use ctm::Program;
//! use ctm::ctm_draw::Ending;
//! use ctm::draw::{Cull, DepthPlan, DrawPlan, Drawing, Drawn, DrawnTarget, Mixing, PixelEvent, Prepared, ProgramSource, TargetPlan};
//!
//! // An X1K pixel program; its vertices come transformed.
//! let program = Program::assemble(".output colour = o0\nmov colour, c0")?;
//! let mut drawing = Drawing::new(vec![program.clone()]);
//! drawing.size = [8, 4];
//! drawing.targets = vec![TargetPlan { clear: [0.0, 0.0, 1.0, 1.0], ..TargetPlan::new(0) }];
//! drawing.depth = Some(DepthPlan { clear: 0.75, ..DepthPlan::default() });
//! drawing.draws[0].constants.push(("c0".into(), vec![1.0, 0.0, 0.0, 1.0]));
//! // Green is added on the left half.
//! let mut left: DrawPlan = DrawPlan::new(vec![ProgramSource::from(program)]);
//! left.constants.push(("c0".into(), vec![0.0, 1.0, 0.0, 0.0]));
//! left.viewport = Some([0.0, 0.0, 4.0, 4.0]);
//! left.mix(Mixing::Add);
//! Cull::Back.of(&mut left.raster);
//! drawing.draws.push(left);
//! drawing.at = Some([1, 2]);
//!
//! // Files are read and names are looked up once; then it is drawn, at any time of an animation.
//! let mut prepared: Prepared<'_> = drawing.prepare()?;
//! let drawn: Drawn = prepared.draw(0.0)?;
//! let target: &DrawnTarget = drawn.target(0).unwrap();
//! assert_eq!(target.bytes()[..4], [255, 255, 0, 255]);
//! assert_eq!(target.bytes()[7 * 4..][..4], [255, 0, 0, 255]);
//! assert_eq!((drawn.depths[0], drawn.counts.pixels), (0.5, 32 + 16));
//! let events: &[PixelEvent] = &drawn.events;
//! assert_eq!(events.iter().map(|event| event.draw.as_str()).collect::<Vec<_>>(), ["0", "1"]);
//! assert!(events.iter().all(|event| event.fragment.ending == Ending::Stored));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod bound;
mod builder;
mod camera;
mod check;
mod flags;
pub mod keys;
mod matrices;
mod names;
mod paint;
mod pair;
mod plan;
mod prepare;
mod pvs;
mod reach;
mod read;

pub use builder::Draw;
pub use camera::{Camera, ViewMove};
use ctm_files::mesh;
pub use ctm_files::mesh::{BUILT_IN, Channel, Mesh, MeshError, Morph, Skin};
pub use ctm_files::r700::uniform::UniformPlace;
pub use flags::{DRAW_FLAGS, DrawFlag};
pub use matrices::MatrixKind;
pub use names::TOPOLOGIES;
pub use paint::{Behind, Drawn, DrawnTarget, PixelEvent};
pub use pair::{Attribute, Links, Pair, Part, UniformBlock};
pub use plan::{
    BlockBinding, BlockData, Cull, DepthPlan, DrawPlan, Drawing, MeshSource, Mixing, ProgramSource, TargetPlan,
    TextureBinding, TextureData,
};
pub use prepare::{NoticeFn, Prepared};

use crate::job::JobError;
use ctm_draw::DrawError;
use ctm_isa::suggest::closest;
use std::fmt;

/// Why nothing was drawn.
#[derive(Clone, Debug)]
pub enum Error {
    /// An error about a file in the job's parts.
    Job(JobError),
    /// Something does not fit.
    Wrong {
        /// Its stable name.
        rule: &'static str,
        /// The value and the allowed ones; lower case, no full stop.
        message: String,
    },
    /// A draw: its name or number, and its error.
    Draw(String, DrawError),
}

impl Error {
    /// Whether a running program did wrong.
    #[must_use]
    pub const fn is_fault(&self) -> bool {
        matches!(self, Self::Draw(_, DrawError::Program { .. }))
    }

    fn wrong(rule: &'static str, message: impl Into<String>) -> Self {
        Self::Wrong { rule, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(error) => write!(f, "{error}"),
            Self::Wrong { message, .. } => f.write_str(message),
            Self::Draw(name, error) => write!(f, "draw {name}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// An unknown name, and the existing ones.
fn unknown(what: &str, name: &str, names: &[&str]) -> Error {
    let known: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    let mut message = if known.is_empty() {
        format!("the programs have no {what} `{name}`: they name none, and they go by number")
    } else {
        format!("the programs have no {what} `{name}`; they have {}", known.join(", "))
    };
    if let Some(near) = closest(name, known.iter().copied()) {
        message += &format!("; did you mean `{near}`?");
    }
    Error::wrong("unknown-name", message)
}

/// The bytes of an animated PNG of these pictures, each shown for this time; the animation repeats for ever.
///
/// ```
/// use ctm::draw::{Camera, animation};
/// use ctm::{Draw, Program};
///
/// // A cube that turns, in the colours of its faces.
/// let program = Program::assemble(".output colour = o0\nmov colour, r1")?;
/// let drawing = Draw::whole(&program).size(16, 16).mesh("cube").camera("c0", Camera::default()).drawing()?;
/// let mut prepared = drawing.prepare()?;
/// let frames = [prepared.draw(0.0)?, prepared.draw(0.1)?];
/// assert_ne!(frames[0].pixels(), frames[1].pixels());
/// let file = animation(&frames, 40)?;
/// assert!(file.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Without pictures, with pictures of different sizes, or without the feature `png`.
pub fn animation(frames: &[Drawn], milliseconds: u16) -> Result<Vec<u8>, Error> {
    let wrong = |message: String| Error::wrong("cannot-write", message);
    let [width, height] = frames.first().map(|frame| frame.size).ok_or_else(|| wrong("no pictures".into()))?;
    if frames.iter().any(|frame| frame.size != [width, height]) {
        return Err(wrong("the pictures of an animation have one size".into()));
    }
    let pictures: Vec<Vec<u8>> = frames.iter().map(Drawn::pixels).collect();
    ctm_files::array::animation([width, height], milliseconds, &pictures).map_err(|error| wrong(error.to_string()))
}
