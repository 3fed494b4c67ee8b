//! The program `ctm`: arguments in, results to stdout, findings to stderr. Everything else is the library's.
//!
//! | file | content |
//! |---|---|
//! | `args` | every subcommand and option, from which help, completions and manual pages come |
//! | `values`, `ranges` | values of options that several commands take |
//! | `interrupt` | Ctrl-C |
//! | `console` | printing: colour, JSON, findings, exit codes |
//! | `asm`, `compile`, `dis`, `check`, `run`, `batch`, `merge`, `draw`, `replay`, `isa`, `info`, `bench`, `tile`, `generate` | one subcommand each |
//! | `trace`, `profile`, `debug`, `compare`, `reduce`, `random` | commands that look inside a launch, and their helpers |
//! | `radeon`, `streams`, `bare`, `stream_output` | programs that find a Radeon, and a window for its display; streams and captures of Radeons; streams without a kernel; their findings and targets |
//! | `ide` | servers for editors and browsers: the language server, the debug adapter, the page |
//! | `file_kinds`, `kinds` | which commands take which kinds of files |
//! | `source` | files and flags into a job or a draw, for all commands |
//! | `watched` | which launch of which job such commands look into |
//!
//! `docs/cli.md` describes exit codes and outputs.

mod args;
mod asm;
mod bare;
mod batch;
mod bench;
mod check;
mod compare;
mod compile;
mod console;
mod debug;
mod dis;
mod draw;
mod emit;
mod exec;
mod file_kinds;
mod generate;
mod glsl;
mod ide;
mod info;
mod interrupt;
mod isa;
mod kinds;
mod merge;
mod profile;
mod pvs;
mod radeon;
mod random;
mod ranges;
mod reduce;
mod replay;
mod run;
mod source;
mod stream_output;
mod streams;
mod texture;
mod tile;
mod trace;
mod values;
mod watched;

use args::{Cli, Command};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use console::{Console, Ending, Tells};
use ctm::job::JobError;
use ctm_isa::suggest::closest;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Help and usage errors end here, with 0 and 2.
    let (cli, tells, json) = parse().unwrap_or_else(|error| suggested(error).exit());
    let console = Console::new(cli.color, tells);
    let exit = match kinds::check(&cli.command) {
        Ok(()) => dispatch(&console, cli.command),
        Err(wrong) => misplaced(&console, &cli.command, json, wrong),
    };
    let exit = exit.unwrap_or_else(|failure| failure.report(&console));
    console.tell_written();
    ExitCode::from(exit.code())
}

fn dispatch(console: &Console, command: Command) -> Ending {
    match command {
        Command::Asm(args) => asm::run(console, &args),
        Command::Compile(args) => compile::run(console, &args),
        Command::Dis(args) => dis::run(console, &args),
        Command::Emit(args) => emit::run(console, &args),
        Command::Check(args) => check::run(console, &args),
        Command::Run(args) => run::run(console, &args),
        Command::Merge(args) => merge::run(console, &args),
        Command::Draw(args) => draw::run(console, &args),
        Command::Exec(args) => exec::run(console, &args),
        Command::Replay(args) if ctm_radeon::capture::is_capture(&args.file) => streams::replay(console, &args),
        Command::Replay(args) => replay::run(console, &args),
        Command::Radeon(args) => radeon::run(console, &args),
        Command::Glsl(args) => glsl::run(console, &args),
        Command::Pm4(args) => streams::pm4(console, &args),
        Command::Trace(args) => trace::run(console, &args),
        Command::Why(args) => trace::why(console, &args),
        Command::Profile(args) => profile::run(console, &args),
        Command::Debug(args) => debug::run(console, &args),
        Command::Compare(args) => compare::run(console, &args),
        Command::Reduce(args) => reduce::run(console, &args),
        Command::Random(args) => random::run(console, &args),
        Command::Lsp(args) => ide::lsp(console, &args),
        Command::Dap(args) => ide::dap(console, &args),
        Command::Serve(args) => ide::serve(console, &args),
        Command::Isa(args) => isa::run(console, &args),
        Command::Info(args) => info::run(console, &args),
        Command::Texture(args) => texture::run(console, &args),
        Command::Bench(args) => bench::run(console, &args),
        Command::Tile(args) => tile::run(console, &args, tile::Direction::Tile),
        Command::Untile(args) => tile::run(console, &args, tile::Direction::Untile),
        Command::Completions { shell } => generate::completions(console, shell),
        Command::Man { directory } => generate::man(console, directory.as_deref()),
    }
}

/// The command line, whether the command says which files it wrote (with `--json` the objects name them), and whether it prints JSON.
fn parse() -> Result<(Cli, Tells, bool), clap::Error> {
    let matches = Cli::command().try_get_matches()?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))?;
    let of_command = matches.subcommand().map(|(_, matches)| matches);
    let json = of_command.and_then(|matches| matches.try_get_one::<bool>("json").ok().flatten()) == Some(&true);
    let tells = match (cli.verbose, cli.quiet || json) {
        (true, _) => Tells::Always,
        (_, true) => Tells::Never,
        _ => Tells::OnTerminal,
    };
    Ok((cli, tells, json))
}

/// Ends a command that was given files for another one.
fn misplaced(console: &Console, command: &Command, json: bool, wrong: JobError) -> Ending {
    match command {
        Command::Run(_) if json => console.print(&format!("{}\n", console::failure_json(&wrong)))?,
        _ if json => wrong.reports().iter().try_for_each(|report| console.json(report))?,
        _ => return Err(wrong.into()),
    }
    Ok(console::exit_of(&wrong))
}

/// The error with the subcommand that was probably meant: letters that changed places are one mistake.
fn suggested(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) {
        let commands: Vec<String> = Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        if let Some(meant) = closest(given, commands.iter().map(String::as_str)) {
            let meant = ContextValue::Strings(vec![meant.to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, meant);
        }
    }
    error
}
