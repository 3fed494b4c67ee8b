//! Files of users: opening and saving, and their contents: arrays, pictures, textures, meshes, programs. Nothing here runs anything.
//!
//! | module | contents |
//! |---|---|
//! | [`kinds`] | the kinds of files and the size limit of each |
//! | [`memory`] | folders in memory, for examples and for systems without a disk |
//! | [`mod@open`] | opening: regular files within their limit |
//! | [`beside`] | opening a file that another file names |
//! | [`mod@save`] | saving: the old file or the whole new one |
//! | [`render`] | findings as text and as JSON, and places in texts |
//! | [`error`] | reasons why a program, a file or a job has no result |
//! | [`mod@array`] | arrays and pictures: `.npy`, `.png`, `.pfm`, raw bytes |
//! | [`texture`] | textures: DDS, KTX2, GTX |
//! | [`mesh`] | meshes: built in, OBJ, glTF, arrays of vertices |
//! | [`dump`] | programs in logs of drivers |
//! | [`load`] | program files into X1K programs, and which machine a file is for |
//! | [`pvs`] | files that hold vertex programs (PVS): text, words |
//! | [`r700`] | files that hold R700 programs: listings, words, containers |
//! | [`program`] | a program of either instruction set |
//!
//! A module uses only those above it in the table. The first five know no format, and no other file of the project opens, creates or renames files of users.
//! Directories, and files of the project's own temporary directories, are no matter of the crate. Begin with [`program`].
//!
//! **Invariants.** No input is read beyond its limit, and opening never waits. An old file is replaced by a complete new one in one step, or stays
//! as it is; after an error nothing else is left beside it.
//!
//! ```
//! use ctm_files::{FileKind, read_text, save};
//!
//! let path = std::env::temp_dir().join(format!("ctm-files-doc-{}.x1k", std::process::id()));
//! save(&path, b"mov o0, r0\n")?;
//! assert_eq!(read_text(&path, FileKind::Program)?, "mov o0, r0\n");
//! std::fs::remove_file(&path)?;
//! assert!(read_text(&path, FileKind::Program).unwrap_err().to_string().ends_with("cannot be read: there is no such file"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod array;
pub mod beside;
pub mod dump;
pub mod error;
pub mod kinds;
pub mod load;
pub mod memory;
pub mod mesh;
pub mod open;
pub mod program;
pub mod pvs;
pub mod r700;
pub mod render;
pub mod save;
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of headers, limited where they come in"
)]
pub mod texture;

pub use beside::read_beside;
pub use error::{JobError, RunFault};
pub use kinds::{ENVIRONMENT, FileKind};
pub use load::Isa;
pub use memory::{MemoryFolder, length, real_path};
pub use open::{InputFile, OpenError, beginning, begins_with, open, read, read_argument, read_text};
pub use program::Program;
pub use render::{Report, Source};
pub use save::{Saving, can_save, free_space, save};
