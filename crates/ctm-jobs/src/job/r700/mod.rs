//! The parts of jobs that belong to R700 programs.
//!
//! | file | subject |
//! |---|---|
//! | `model` | an [`R700Pass`], and how outputs are saved |
//! | `read`, `draft` | the tree into it |
//! | `elements` | files into constants, buffers, textures and memories |
//! | `prepare`, `prepare/bind` | names resolved, files read, everything checked that can be before anything runs |
//! | `run` | the arrays of launches, and their results |
//! | `save` | final state into files |
//!
//! R700 programs of a job need no device: their launches run on plain arrays, bound by number as the manual's fetch constants,
//! samplers and host registers would bind them.
//!
//! ```
//! use ctm::job::Reader;
//! use ctm::job::r700::Contents;
//!
//! let text = r#"
//! isa = "r700"
//! program = "p.psh"
//! domain = [0, 0, 7, 7]
//! [[constant_buffer]]
//! bank = 0
//! values = [[1, 2, 3, 4]]
//! "#;
//! let job = Reader::for_job(text, "job.toml", "".as_ref()).finish()?;
//! let own = job.passes[0].r700().unwrap();
//! assert!(matches!(own.constant_buffers[0].contents, Contents::Values(_)));
//! # Ok::<(), ctm::JobError>(())
//! ```

pub(super) mod draft;
mod elements;
pub(super) mod model;
mod prepare;
mod read;
pub(super) mod run;
mod save;

pub use ctm_files::r700::target_name;
pub(crate) use ctm_files::r700::{uses, uses_memory};
pub use ctm_launch::r700::target_of;
pub(crate) use model::{COMPARES, FILTERS, MIPS, WRAPS};
pub use model::{
    ConstantBuffer, Contents, FetchBuffer, KINDS, MemoryBlock, R700Pass, R700Texture, SavedElements, Vertex,
    target_slot,
};
