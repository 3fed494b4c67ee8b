//! `ctm completions` and `ctm man`: both come from the definitions in `args`.

use crate::Ending;
use crate::args::Cli;
use crate::console::{Console, Exit, Failure};
use clap::CommandFactory;
use std::path::Path;

pub(crate) fn completions(console: &Console, shell: clap_complete::Shell) -> Ending {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ctm", &mut out);
    console.write(Path::new("-"), &out)?;
    Ok(Exit::Done)
}

pub(crate) fn man(console: &Console, directory: Option<&Path>) -> Ending {
    let Some(directory) = directory else {
        let mut out = Vec::new();
        let rendered = clap_mangen::Man::new(Cli::command()).render(&mut out);
        rendered.map_err(|e| Failure::wrong("cannot-write", format!("the manual page cannot be made: {e}")))?;
        console.write(Path::new("-"), &out)?;
        return Ok(Exit::Done);
    };
    let failed =
        |e: std::io::Error| Failure::wrong("cannot-write", format!("{} cannot be written: {e}", directory.display()));
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), directory).map_err(failed)?;
    Ok(Exit::Done)
}
