//! Servers for editors and browsers: `ctm lsp`, `ctm dap`, `ctm serve`.

use crate::console::{Console, Ending, Exit, Failure};
use clap::Args;
use ctm_ide::serve::{Server, ServerOptions};
use std::path::PathBuf;

/// The language server, on standard input and output
///
/// Editors start it (docs/editors.md): findings while typing, the manual at the pointer, completion, definitions, renaming, formatting, live ranges.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm lsp            what an editor starts

docs/editors.md has the lines for VS Code, Neovim, Helix and Emacs.")]
pub(crate) struct LspArgs {
    /// Standard input and output, which is all there is; some editors say it
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// The debug adapter, on standard input and output
///
/// Editors start it (docs/editors.md): breakpoints, steps forwards and backwards, registers by scope, the lanes of the group as threads. The debug console
/// takes every command of `ctm debug`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm dap            what an editor starts; `launch` takes program, at, pass, launch, isa, flags, stopOnEntry

docs/editors.md has the lines for VS Code, Neovim, Helix and Emacs.")]
pub(crate) struct DapArgs {
    /// Standard input and output, which is all there is; some editors say it
    #[arg(long)]
    pub(crate) stdio: bool,
}

pub(crate) fn lsp(_: &Console, _: &LspArgs) -> Ending {
    ctm_ide::lsp::stdio().map_err(|e| Failure::wrong("protocol", e.to_string()))?;
    Ok(Exit::Done)
}

pub(crate) fn dap(_: &Console, _: &DapArgs) -> Ending {
    ctm_ide::dap::serve(std::io::stdin(), std::io::stdout()).map_err(|e| Failure::wrong("protocol", e))?;
    Ok(Exit::Done)
}

/// A page in the browser: edit, run, and see every step of a pixel
///
/// The page is served on this machine only, at an address that holds a random token, and loads nothing from anywhere. The examples are part of the program; jobs of one's own
/// are opened beside them, and so are captures of command streams and recordings of devices. No file of a job is written, and jobs name only files of their own folders and of
/// those of `--allow`. Ctrl-C ends it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm serve                     the examples
  ctm serve job.toml            a job of one's own, and the examples
  ctm serve trace.capture tape   a capture, draw by draw, and a recording, launch by launch
  ctm serve --port 8700         always at the same port
  ctm serve --allow ../textures job.toml   a job that names files of another folder

docs/page.md describes the page.")]
pub(crate) struct ServeArgs {
    /// Job files, draw jobs, captures or recordings, to open beside the examples
    #[arg(value_name = "JOB")]
    pub(crate) jobs: Vec<PathBuf>,
    /// The port; any that is free when left out
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// A folder beside a job's own whose files jobs may name; can be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) allow: Vec<PathBuf>,
    /// Memory for all requests together, in MiB: one that does not fit waits, or is refused
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..))]
    pub(crate) memory: u32,
}

pub(crate) fn serve(console: &Console, args: &ServeArgs) -> Ending {
    let missing = args.allow.iter().find(|folder| !folder.is_dir());
    if let Some(folder) = missing {
        return Err(Failure::wrong("no-such-folder", format!("--allow {}: there is no such folder", folder.display())));
    }
    let options = ServerOptions { memory: u64::from(args.memory) << 20, allow: args.allow.clone() };
    for job in &args.jobs {
        Server::check(job, &options)?;
    }
    let server = Server::bind(args.port, &args.jobs, &options)
        .map_err(|e| Failure::wrong("cannot-serve", format!("port {} of this machine: {e}", args.port)))?;
    let stopper = server.stopper();
    // Where there can be no handler, Ctrl-C ends the program as it always does.
    let _ = ctrlc::set_handler(move || stopper.stop());
    console.print(&format!("{}\n", server.address()))?;
    console.note("open this address in a browser on this machine; Ctrl-C ends it");
    server.run().map_err(|e| Failure::wrong("cannot-serve", e.to_string()))?;
    Ok(Exit::Done)
}
