//! Where commands come from: a terminal with history and completion, a script, or a pipe.

use crate::console::{Console, Failure};
use ctm_exec::Position;
use ctm_files::FileKind;
use ctm_ide::debugger::{Answer, COMMANDS, Debugger};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};
use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal, Read as _};
use std::path::Path;

const PROMPT: &str = "(ctm) ";

/// Where commands come from.
pub(super) enum CommandInput {
    /// A terminal; the previous line, once there is one.
    Terminal(Option<Box<Editor<Completion, DefaultHistory>>>),
    /// The lines of a script that are left; its commands are printed before their answers, and a wrong one ends it.
    Script(VecDeque<String>),
    /// Standard input that is no terminal.
    Pipe,
}

impl CommandInput {
    pub(super) fn new(script: Option<&Path>) -> Result<Self, Failure> {
        match script {
            Some(path) => {
                let text = ctm_files::read_argument(path, FileKind::Script)
                    .map_err(|e| Failure::wrong("cannot-read", e.to_string()))?;
                let text = ctm::job::text_of(&text, &path.display().to_string())?;
                Ok(Self::Script(text.lines().map(str::to_owned).collect()))
            }
            None if std::io::stdin().is_terminal() => Ok(Self::Terminal(None)),
            None => Ok(Self::Pipe),
        }
    }

    pub(super) const fn is_script(&self) -> bool {
        matches!(self, Self::Script(_))
    }
}

/// The most bytes of a command.
const MOST_BYTES: u64 = 1 << 16;

/// The next line of standard input. One without an end is not read to it.
fn next_line(from: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let wrong = |message: String| Failure::wrong("cannot-read", message);
    let mut bytes = Vec::new();
    let read = from.take(MOST_BYTES).read_until(b'\n', &mut bytes);
    let count = read.map_err(|e| wrong(format!("stdin cannot be read: {e}")))?;
    if count as u64 == MOST_BYTES && bytes.last() != Some(&b'\n') {
        return Err(wrong(format!("a command from stdin has more than {MOST_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("a command from stdin is not UTF-8".to_owned()))?;
    Ok((count > 0).then_some(text))
}

/// Completes commands.
pub(super) struct Completion;

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

/// Whether commands go on.
enum Next {
    Command,
    End,
    Elsewhere(Position),
}

fn answer(debugger: &mut Debugger<'_, '_>, line: &str, json: bool) -> Result<Next, Failure> {
    let console = Console::new(crate::values::When::Never, crate::console::Tells::Never);
    match debugger.command(line) {
        Ok(Answer::Quit) => return Ok(Next::End),
        Ok(Answer::Elsewhere(at)) => return Ok(Next::Elsewhere(at)),
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
    Ok(Next::Command)
}

/// Reads and answers commands until there are no more, or until a processor of another group is requested. `came`: this group was requested.
pub(super) fn run(
    debugger: &mut Debugger<'_, '_>,
    input: &mut CommandInput,
    json: bool,
    came: bool,
) -> Result<Option<Position>, Failure> {
    let console = Console::new(crate::values::When::Never, crate::console::Tells::Never);
    if came || matches!(input, CommandInput::Terminal(_)) {
        answer(debugger, "where", json)?;
    }
    match input {
        CommandInput::Script(lines) => {
            while let Some(line) = lines.pop_front() {
                let line = line.trim();
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                if !json {
                    console.print(&format!("{PROMPT}{line}\n"))?;
                }
                match answer(debugger, line, json)? {
                    Next::Command => {}
                    Next::End => return Ok(None),
                    Next::Elsewhere(at) => return Ok(Some(at)),
                }
            }
            Ok(None)
        }
        CommandInput::Pipe => {
            while let Some(line) = next_line(&mut std::io::stdin().lock())? {
                match answer(debugger, line.trim(), json) {
                    // The next command may be right.
                    Ok(Next::Command) | Err(Failure::Message(..)) => {}
                    Ok(Next::End) => return Ok(None),
                    Ok(Next::Elsewhere(at)) => return Ok(Some(at)),
                    Err(failure) => return Err(failure),
                }
            }
            Ok(None)
        }
        CommandInput::Terminal(editor) => {
            if editor.is_none() {
                let mut new = Editor::new().map_err(broken)?;
                new.set_helper(Some(Completion));
                *editor = Some(Box::new(new));
            }
            editor.as_mut().map_or(Ok(None), |editor| terminal(debugger, editor, json))
        }
    }
}

fn broken(e: ReadlineError) -> Failure {
    Failure::wrong("cannot-read", format!("the terminal cannot be read: {e}"))
}

fn terminal(
    debugger: &mut Debugger<'_, '_>,
    editor: &mut Editor<Completion, DefaultHistory>,
    json: bool,
) -> Result<Option<Position>, Failure> {
    let mut last = String::new();
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
                    Ok(Next::Command) | Err(Failure::Message(..)) => {}
                    Ok(Next::End) => return Ok(None),
                    Ok(Next::Elsewhere(at)) => return Ok(Some(at)),
                    Err(failure) => return Err(failure),
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(None),
            Err(e) => return Err(broken(e)),
        }
    }
}
