//! Opens and saves the files that users name: the only place of the project's libraries and commands that does.
//!
//! | module | contents |
//! |---|---|
//! | [`kinds`] | the kinds of files and the size limit of each |
//! | [`mod@open`] | opening: regular files within their limit |
//! | [`beside`] | opening a file that another file names |
//! | [`mod@save`] | saving: the old file or the whole new one |
//!
//! The crate knows no format. Directories, and files of the project's own temporary directories, are no matter of it.
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

pub mod beside;
pub mod kinds;
pub mod open;
pub mod save;

pub use beside::read_beside;
pub use kinds::{ENVIRONMENT, FileKind};
pub use open::{Input, OpenError, beginning, begins_with, open, read, read_argument, read_text};
pub use save::{Saving, can_save, free_space, save};
