//! `ctm debug`: a session at the keyboard, from a script, or for another program.
//!
//! The commands themselves are those of [`ctm_ide::debugger`]; `input` is where they come from.

mod input;

use crate::Ending;
use crate::console::{Console, Exit, Failure};
use crate::watched::{LaunchArgs, position};
use clap::Args;
use ctm::job::JobError;
use ctm::trace::observe::{Unit, Watcher, Wish};
use ctm::trace::{Listing, Session, TraceError};
use ctm_exec::{Fault, Position};
use ctm_ide::debugger::Debugger;
use input::Input;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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

struct Debugging {
    at: Position,
    listing: Arc<Listing>,
    pass: usize,
    input: Input,
    json: bool,
    began: Arc<AtomicBool>,
    failure: Arc<Mutex<Option<Failure>>>,
}

impl Watcher for Debugging {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.at) { Wish::Watch } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        self.began.store(true, Ordering::Relaxed);
        let lane = unit.positions().iter().position(|&at| at == self.at).unwrap_or(0);
        let session = Session::new(unit);
        let mut debugger = Debugger::new(session, Arc::clone(&self.listing), self.pass, lane);
        if let Err(failure) = input::run(&mut debugger, &mut self.input, self.json) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        }
        Ok(ControlFlow::Break(()))
    }
}

pub(crate) fn run(_: &Console, args: &DebugArgs) -> Ending {
    let (subject, chosen, at) = args.launch.chosen(args.at)?;
    let (began, failure) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
    let debugging = Debugging {
        at,
        listing: Arc::new(Listing::new(&chosen.program)),
        pass: chosen.pass,
        input: Input::new(args.script.as_deref())?,
        json: args.json,
        began: Arc::clone(&began),
        failure: Arc::clone(&failure),
    };
    subject.watch(&chosen, debugging)?;
    if let Some(failure) = failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(failure);
    }
    if !began.load(Ordering::Relaxed) {
        return Err(JobError::from(TraceError::NotRun(at)).into());
    }
    Ok(Exit::Done)
}
