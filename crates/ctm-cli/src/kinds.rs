//! Which commands take which kinds of files: the error when a file is given to another command.

use crate::args::Command;
use crate::args::jobs::{FlagSet, Flags};
use crate::file_kinds::{FileKind, TABLE};
use ctm::job::JobError;
use ctm::render::Report;
use ctm_isa::diag::Diagnostic;
use std::path::{Path, PathBuf};

/// Commands that take one program of a container where `--program` says which.
const ONE_OF_A_PAIR: [&str; 1] = ["run"];

/// The command's name, the files that it is about, and whether it selects a program of a container.
fn inputs(command: &Command) -> (&'static str, Vec<&Path>, bool) {
    fn one(path: &Path) -> Vec<&Path> {
        vec![path]
    }
    fn all(paths: &[PathBuf]) -> Vec<&Path> {
        paths.iter().map(PathBuf::as_path).collect()
    }
    match command {
        Command::Asm(args) => ("asm", all(&args.files), false),
        Command::Compile(args) => ("compile", all(&args.files), false),
        Command::Dis(args) => ("dis", one(&args.file), false),
        Command::Emit(args) => ("emit", one(&args.file), false),
        Command::Check(args) => ("check", all(&args.files), false),
        Command::Info(args) => ("info", all(&args.files), false),
        Command::Run(args) => ("run", args.file.iter().map(PathBuf::as_path).collect(), chooses(&args.job)),
        Command::Draw(args) => ("draw", all(&args.programs), false),
        Command::Exec(args) => ("exec", all(&args.files), false),
        Command::Replay(args) => ("replay", one(&args.file), false),
        Command::Pm4(args) => ("pm4", args.file.iter().map(PathBuf::as_path).collect(), false),
        Command::Trace(args) => ("trace", all(&args.launch.files), false),
        Command::Why(args) => ("why", all(&args.launch.files), false),
        Command::Profile(args) => ("profile", all(&args.launch.files), false),
        Command::Debug(args) => ("debug", all(&args.launch.files), false),
        Command::Compare(args) => ("compare", all(&args.files), false),
        Command::Reduce(args) => ("reduce", all(&args.files), false),
        Command::Serve(args) => ("serve", all(&args.jobs), false),
        Command::Texture(args) => ("texture", one(&args.input), false),
        Command::Tile(args) => ("tile", one(&args.input), false),
        Command::Untile(args) => ("untile", one(&args.input), false),
        // These are about no file of the table, or name files that need not be there.
        Command::Merge(_)
        | Command::Radeon(_)
        | Command::Glsl(_)
        | Command::Random(_)
        | Command::Lsp(_)
        | Command::Dap(_)
        | Command::Isa(_)
        | Command::Bench(_)
        | Command::Completions { .. }
        | Command::Man { .. } => ("", Vec::new(), false),
    }
}

/// Whether `--program` says which program of a container.
fn chooses(flags: &Flags<impl FlagSet>) -> bool {
    flags.has("program")
}

/// The inputs of a command, for a sentence.
fn taken(command: &str) -> String {
    let rows = TABLE.iter().filter(|row| row.commands.contains(&command));
    rows.map(|row| row.what).collect::<Vec<_>>().join(", ")
}

/// Refuses files that are of a kind for other commands.
pub(crate) fn check(command: &Command) -> Result<(), JobError> {
    let (name, files, chooses) = inputs(command);
    let mut wrong = Vec::new();
    for path in files {
        let Some(kind) = FileKind::of(path) else { continue };
        let row = kind.row();
        let one_of_pair = kind == FileKind::Pair && chooses && ONE_OF_A_PAIR.contains(&name);
        if row.commands.contains(&name) || one_of_pair {
            continue;
        }
        let shown = path.display().to_string();
        let mut instead = row.instead.replace("{}", &shown);
        if kind == FileKind::Pair && ONE_OF_A_PAIR.contains(&name) {
            instead.push_str(&format!(", and `ctm {name} {shown} --program N` takes one of them"));
        }
        let message = format!("{shown} is {}; {instead}", row.what);
        let help = format!("`ctm {name}` takes {}", taken(name));
        wrong.push(Report::bare(Diagnostic::error("wrong-file", message).help(help)));
    }
    if wrong.is_empty() { Ok(()) } else { Err(JobError::Wrong(wrong)) }
}
