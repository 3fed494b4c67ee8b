//! `ctm merge`.

use crate::Ending;
use crate::args::MergeArgs;
use crate::console::{Console, Exit, Failure};
use ctm::job;
use std::io::IsTerminal;

pub(crate) fn run(console: &Console, args: &MergeArgs) -> Ending {
    for file in &args.files {
        let parts = job::merge(file)
            .map_err(|e| Failure::wrong("cannot-merge", format!("{} cannot be made: {e}", file.display())))?;
        if std::io::stderr().is_terminal() {
            console.note(&format!("wrote {} of {} parts", file.display(), parts.len()));
        }
    }
    Ok(Exit::Done)
}
