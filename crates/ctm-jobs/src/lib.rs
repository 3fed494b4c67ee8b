//! Jobs: lists of launches and of draws with names, saves and source places around them, from files or from flags; and their runners.
//!
//! | module | contents |
//! |---|---|
//! | [`job`] | jobs of passes: programs with domains and arrays; shards |
//! | [`draw`] | draw jobs: pictures of a vertex and a pixel program |
//! | [`random`] | random jobs with their data |
//! | [`saved`] | a job of either kind with copies of its files, in a directory of its own |
//!
//! A module uses only those above it in the table. The crate knows no C, no Python and no command line; one launch without files is
//! [`ctm_launch`]'s.
//!
//! **Invariants.** Every error of a job has its place, and all of them are reported at once, before anything runs. Nothing is written but the files that
//! a job names.
//!
//! Begin with [`job::Job`].

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "sizes of pictures and numbers of vertices, limited where they come in"
)]
pub mod draw;
pub mod job;
pub mod random;
pub mod saved;

pub use draw::{Draw, Drawing, Drawn};
pub use job::Job;
