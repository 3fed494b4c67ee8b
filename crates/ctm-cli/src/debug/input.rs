//! Where commands come from: a terminal with history and completion, a script, or a pipe.

use crate::console::{Console, Failure};
use ctm_ide::debugger::{Answer, COMMANDS, Debugger};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};
use std::io::{BufRead, IsTerminal};
use std::path::Path;

const PROMPT: &str = "(ctm) ";

/// Where commands come from.
pub(super) enum Input {
    /// A terminal.
    Terminal,
    /// The lines of a script; its commands are printed before their answers, and a wrong one ends it.
    Script(Vec<String>),
    /// Standard input that is no terminal.
    Pipe,
}

impl Input {
    pub(super) fn new(script: Option<&Path>) -> Result<Self, Failure> {
        match script {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|e| {
                    Failure::wrong("cannot-read", format!("the script {} cannot be read: {e}", path.display()))
                })?;
                Ok(Self::Script(text.lines().map(str::to_owned).collect()))
            }
            None if std::io::stdin().is_terminal() => Ok(Self::Terminal),
            None => Ok(Self::Pipe),
        }
    }
}

/// Completes commands.
struct Completion;

impl Completer for Completion {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let start = line[..position].rfind(' ').map_or(0, |at| at + 1);
        let word = &line[start..position];
        let names = COMMANDS.iter().map(|command| command.name).filter(|name| name.starts_with(word));
        Ok((start, names.map(str::to_owned).collect()))
    }
}

impl Hinter for Completion {
    type Hint = String;
}
impl Highlighter for Completion {}
impl Validator for Completion {}
impl Helper for Completion {}

fn answer(debugger: &mut Debugger<'_, '_>, line: &str, json: bool) -> Result<bool, Failure> {
    let console = Console::new(crate::args::When::Never);
    match debugger.command(line) {
        Ok(Answer::Quit) => return Ok(false),
        Ok(Answer::Said(answer)) => {
            if json {
                console.print(&format!("{}\n", answer.json(line)))?;
            } else {
                console.print(&answer.text)?;
            }
        }
        Err(why) => {
            if json {
                console.print(&format!("{}\n", serde_json::json!({"command": line, "error": why})))?;
            } else {
                console.print(&format!("error: {why}\n"))?;
            }
            return Err(Failure::wrong("bad-command", why));
        }
    }
    Ok(true)
}

/// Reads and answers commands until there are no more.
pub(super) fn run(debugger: &mut Debugger<'_, '_>, input: &mut Input, json: bool) -> Result<(), Failure> {
    let console = Console::new(crate::args::When::Never);
    match input {
        Input::Script(lines) => {
            for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#')) {
                if !json {
                    console.print(&format!("{PROMPT}{line}\n"))?;
                }
                if !answer(debugger, line, json)? {
                    return Ok(());
                }
            }
            Ok(())
        }
        Input::Pipe => {
            for line in std::io::stdin().lock().lines() {
                let line = line.map_err(|e| Failure::wrong("cannot-read", format!("stdin cannot be read: {e}")))?;
                match answer(debugger, line.trim(), json) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    // The next command may be right.
                    Err(Failure::Message(..)) => {}
                    Err(failure) => return Err(failure),
                }
            }
            Ok(())
        }
        Input::Terminal => terminal(debugger, json),
    }
}

fn terminal(debugger: &mut Debugger<'_, '_>, json: bool) -> Result<(), Failure> {
    let broken = |e: ReadlineError| Failure::wrong("cannot-read", format!("the terminal cannot be read: {e}"));
    let mut editor: Editor<Completion, DefaultHistory> = Editor::new().map_err(broken)?;
    editor.set_helper(Some(Completion));
    let mut last = String::new();
    answer(debugger, "where", json)?;
    loop {
        match editor.readline(PROMPT) {
            Ok(line) => {
                let line = line.trim().to_owned();
                if !line.is_empty() {
                    let _ = editor.add_history_entry(&line);
                    last.clone_from(&line);
                }
                // An empty line is the last command again.
                match answer(debugger, &last, json) {
                    Ok(true) | Err(Failure::Message(..)) => {}
                    Ok(false) => return Ok(()),
                    Err(failure) => return Err(failure),
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(e) => return Err(broken(e)),
        }
    }
}
