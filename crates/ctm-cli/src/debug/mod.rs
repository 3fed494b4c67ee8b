//! `ctm debug`: a session at the keyboard, from a script, or for another program.
//!
//! The commands themselves are those of [`ctm_ide::debugger`]; `input` is where they come from.

mod input;

use crate::console::{Console, Ending, Exit, Failure};
use crate::watched::{LaunchArgs, position};
use clap::Args;
use ctm::job::JobError;
use ctm::trace::observe::{Unit, Watcher, Wish};
use ctm::trace::{Listing, Session, TraceError};
use ctm_exec::{Fault, Position};
use ctm_ide::debugger::{Debugger, UserState};
use input::CommandInput;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Step through the group of a processor, forwards and backwards
///
/// `help` lists the commands. The group runs on the reference interpreter; launches before it run on the job's engine. No file of the job is written.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm debug job.toml --at 35,22
  ctm debug job.toml -x commands.txt          a script: one command a line, `#` begins a comment
  ctm debug job.toml --json < commands.txt    one JSON object for each command

Exit codes: 0 done, 1 a command of a script is wrong, 1, 2, 3 as `ctm run`.")]
pub(crate) struct DebugArgs {
    #[command(flatten)]
    pub(crate) launch: LaunchArgs,
    /// The processor: column,row; the first one of the domain when left out
    #[arg(long, value_name = "I,J", value_parser = position)]
    pub(crate) at: Option<Position>,
    /// Commands from a file
    #[arg(short = 'x', long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Print one JSON object for each command
    #[arg(long)]
    pub(crate) json: bool,
}

/// State that persists across groups.
struct DebugState {
    input: CommandInput,
    kept: UserState,
    /// The requested processor, if it is in another group.
    elsewhere: Option<Position>,
    failure: Option<Failure>,
    began: bool,
}

struct Debugging {
    at: Position,
    listing: Arc<Listing>,
    pass: usize,
    json: bool,
    shared: Arc<Mutex<DebugState>>,
}

fn lock(shared: &Mutex<DebugState>) -> MutexGuard<'_, DebugState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watcher for Debugging {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.at) { Wish::Watch } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let lane = unit.positions().iter().position(|&at| at == self.at).unwrap_or(0);
        let mut shared = lock(&self.shared);
        let came = shared.elsewhere.take().is_some();
        let kept = std::mem::take(&mut shared.kept);
        let session = Session::new(unit);
        let mut debugger = Debugger::new(session, Arc::clone(&self.listing), self.pass, lane).with(kept);
        shared.began = true;
        match input::run(&mut debugger, &mut shared.input, self.json, came) {
            Ok(elsewhere) => shared.elsewhere = elsewhere,
            Err(failure) => shared.failure = Some(failure),
        }
        shared.kept = debugger.kept();
        Ok(ControlFlow::Break(()))
    }
}

/// A session in the group of a processor, up to its end or to a request for another group.
fn session(args: &DebugArgs, at: Option<Position>, shared: &Arc<Mutex<DebugState>>) -> Result<Position, Failure> {
    lock(shared).began = false;
    let (subject, chosen, at) = args.launch.chosen(at)?;
    let listing = Arc::new(chosen.listing());
    let (pass, json) = (chosen.pass, args.json);
    subject.watch(&chosen, Debugging { at, listing, pass, json, shared: Arc::clone(shared) })?;
    let mut now = lock(shared);
    if let Some(failure) = now.failure.take() {
        return Err(failure);
    }
    if !now.began {
        return Err(JobError::from(TraceError::NotRun(at)).into());
    }
    Ok(at)
}

pub(crate) fn run(console: &Console, args: &DebugArgs) -> Ending {
    let input = CommandInput::new(args.script.as_deref())?;
    let is_script = input.is_script();
    let shared = DebugState { input, kept: UserState::default(), elsewhere: None, failure: None, began: false };
    let shared = Arc::new(Mutex::new(shared));
    let mut last = session(args, args.at, &shared)?;
    loop {
        let wanted = lock(&shared).elsewhere;
        let Some(wanted) = wanted else { return Ok(Exit::Done) };
        match session(args, Some(wanted), &shared) {
            Ok(at) => last = at,
            // There is no such processor: back to where the user was. A wrong command ends a script.
            Err(failure) if is_script || lock(&shared).began => return Err(failure),
            Err(failure) => {
                failure.report(console);
                session(args, Some(last), &shared)?;
            }
        }
    }
}
