//! `ctm merge`.

use crate::args::jobs::MergeArgs;
use crate::console::{Console, Ending, Exit, Failure};
use ctm::job;

pub(crate) fn run(console: &Console, args: &MergeArgs) -> Ending {
    for file in &args.files {
        job::merge(file)
            .map_err(|e| Failure::wrong("cannot-merge", format!("{} cannot be made: {e}", file.display())))?;
        console.wrote(file);
    }
    Ok(Exit::Done)
}
