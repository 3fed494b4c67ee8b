//! `ctm completions` and `ctm man`: both come from the definitions in `args`.

use crate::args::Cli;
use crate::console::{Console, Ending, Exit, Failure};
use clap::{Command, CommandFactory};
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
    // As `clap_mangen::generate_to`, but that old pages are replaced as all files are.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    pages(console, directory, command)?;
    Ok(Exit::Done)
}

/// The page of a command and those of its subcommands.
fn pages(console: &Console, directory: &Path, command: Command) -> Result<(), Failure> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned() {
        pages(console, directory, sub)?;
    }
    let (man, mut out) = (clap_mangen::Man::new(command), Vec::new());
    let path = directory.join(man.get_filename());
    man.render(&mut out).map_err(|e| Failure::wrong("cannot-write", format!("the manual page cannot be made: {e}")))?;
    console.write(&path, &out)
}
