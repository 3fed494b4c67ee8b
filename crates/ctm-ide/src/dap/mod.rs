//! The debug adapter: the protocol of `ctm dap` on standard input and output.
//!
//! | file | content |
//! |---|---|
//! | `launch` | the launch to debug |
//! | `breakpoints` | where the client wants to stop |
//! | `protocol` | shapes of messages |
//! | `session` | requests while a group is stopped |
//! | `variables` | the state of a lane, by scope |
//!
//! The lanes of the group are the threads of the protocol, and they stop and run together. The debug console takes every command of `ctm debug`.
//! One thread reads messages, so that `pause` and a disconnected client end a running request. A malformed message is reported to the client, and the next one is read.

mod breakpoints;
mod launch;
mod protocol;
mod session;
mod variables;

use crate::debugger::{COMMANDS, Debugger, Direction};
use crate::framing::{self, FrameError, Frames};
use ctm::job::JobError;
use ctm::render;
use ctm::trace::observe::{Unit, Watcher, Wish};
use ctm::trace::{Session, Stop};
use ctm_exec::{Fault, Position};
use launch::{PreparedLaunch, prepare};
use protocol::event;
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use variables::VariableGroup;

/// Speaks with a client until it disconnects or goes away.
///
/// # Errors
/// In words: the client goes away in the middle of a message, or cannot be written to.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Result<(), String> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let reader = Arc::clone(&interrupt);
    // A connected and silent client leaves it running; it holds no resources.
    std::thread::spawn(move || {
        let mut frames = Frames::new(BufReader::new(input));
        loop {
            let message = frames.read().transpose();
            let said = |name: &str| matches!(&message, Some(Ok(m)) if m["command"] == name);
            let last = matches!(message, None | Some(Err(FrameError::Ended(_))));
            if last || ["pause", "disconnect", "terminate"].into_iter().any(said) {
                reader.store(true, Ordering::Relaxed);
            }
            if sender.send(message).is_err() || last {
                return;
            }
        }
    });
    let adapter = Arc::new(Mutex::new(Adapter {
        output: Box::new(output),
        receiver,
        interrupt,
        number: 0,
        first_line: 1,
        prepared: None,
        wanted: Vec::new(),
        numbers: Vec::new(),
        groups: Vec::new(),
        after: Vec::new(),
        stop_on_entry: true,
        began: false,
        left: false,
        phase: Phase::Configuring,
    }));
    let prepared = lock(&adapter).configure()?;
    if let Some(prepared) = prepared {
        let watching = Watching { at: prepared.at, adapter: Arc::clone(&adapter), failure: Arc::default() };
        let failure = Arc::clone(&watching.failure);
        let result = prepared.subject.watch(&prepared.chosen, watching);
        let mut adapter = lock(&adapter);
        if let Some(why) = failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(why);
        }
        adapter.ended(result.err())?;
    }
    Ok(())
}

fn lock(adapter: &Arc<Mutex<Adapter>>) -> std::sync::MutexGuard<'_, Adapter> {
    adapter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the group of a processor to the adapter.
struct Watching {
    at: Position,
    adapter: Arc<Mutex<Adapter>>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Watcher for Watching {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.at) { Wish::Watch } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        if let Err(why) = lock(&self.adapter).session(unit) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
        Ok(ControlFlow::Break(()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing runs yet.
    Configuring,
    /// A group is stopped.
    Running,
    /// The session has ended.
    Over,
}

/// A breakpoint that the client wants: which request said so, and how the command `break` writes it.
struct RequestedBreakpoint {
    by: &'static str,
    command: String,
}

struct Adapter {
    output: Box<dyn Write + Send>,
    receiver: Receiver<Option<Result<Value, FrameError>>>,
    interrupt: Arc<AtomicBool>,
    /// Messages sent.
    number: u64,
    /// The client's number of the first line.
    first_line: usize,
    prepared: Option<PreparedLaunch>,
    wanted: Vec<RequestedBreakpoint>,
    /// Breakpoints of the debugger, with the request that they came from.
    numbers: Vec<(u32, &'static str)>,
    /// Values with parts, with their lane; the reference is the index plus 1.
    groups: Vec<(usize, VariableGroup)>,
    /// Events that follow the answer.
    after: Vec<Value>,
    stop_on_entry: bool,
    began: bool,
    /// The client has disconnected.
    left: bool,
    phase: Phase,
}

/// Requests that move the group.
const MOVES: [&str; 6] = ["continue", "reverseContinue", "next", "stepIn", "stepOut", "stepBack"];

/// The result of a request: an answer, or an error.
type Answered = Result<Value, String>;

impl Adapter {
    fn send(&mut self, mut message: Value) -> Result<(), String> {
        self.number += 1;
        message["seq"] = self.number.into();
        match framing::write(&mut self.output, &message) {
            // The client has gone: the reader will report it.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {
                self.phase = Phase::Over;
                Ok(())
            }
            result => result.map_err(|e| format!("the client cannot be written to: {e}")),
        }
    }

    /// The next request; `None` when the client has gone.
    fn receive(&mut self) -> Result<Option<Value>, String> {
        loop {
            match self.receiver.recv() {
                Ok(Some(Ok(message))) => return Ok(Some(message)),
                // Without a number it cannot be answered.
                Ok(Some(Err(FrameError::Refused(why)))) => {
                    let body = json!({ "category": "important", "output": format!("{why}\n") });
                    self.send(event("output", body))?;
                }
                Ok(Some(Err(FrameError::Ended(why)))) => return Err(why),
                Ok(None) | Err(_) => return Ok(None),
            }
        }
    }

    /// Answers one request.
    fn answer(&mut self, message: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Result<(), String> {
        if message["type"] != "request" {
            return Ok(());
        }
        let command = message["command"].as_str().unwrap_or("").to_owned();
        let mut answer = json!({ "type": "response", "request_seq": message["seq"], "command": command });
        if let Some(debugger) = debugger {
            if MOVES.contains(&command.as_str())
                && let Ok(lane) = Self::lane(&message["arguments"], debugger)
            {
                // The answer says that it goes on, which may take a while; the next stop is an event.
                answer["success"] = true.into();
                answer["body"] = json!({ "allThreadsContinued": true });
                self.send(answer)?;
                debugger.lane = lane;
                self.moves(&command, debugger);
                return self.send_events();
            }
            let result = self.request(&command, &message["arguments"], Some(debugger));
            return self.finish_answer(answer, result);
        }
        let result = self.request(&command, &message["arguments"], None);
        self.finish_answer(answer, result)
    }

    /// Sends the response to a request, and the events after it.
    fn finish_answer(&mut self, mut answer: Value, result: Answered) -> Result<(), String> {
        match result {
            Ok(body) => {
                answer["success"] = true.into();
                answer["body"] = body;
            }
            Err(why) => {
                answer["success"] = false.into();
                answer["message"] = why.as_str().into();
                answer["body"] =
                    json!({ "error": { "id": 1, "format": why, "showUser": answer["command"] == "launch" } });
            }
        }
        self.send(answer)?;
        self.send_events()
    }

    fn send_events(&mut self) -> Result<(), String> {
        for event in std::mem::take(&mut self.after) {
            self.send(event)?;
        }
        Ok(())
    }

    /// Until the client says that its breakpoints are set; returns the launch to debug, if there is one.
    fn configure(&mut self) -> Result<Option<PreparedLaunch>, String> {
        loop {
            let Some(message) = self.receive()? else { return Ok(None) };
            self.answer(&message, None)?;
            match self.phase {
                Phase::Over => return Ok(None),
                Phase::Running => return Ok(self.prepared.clone()),
                Phase::Configuring => {}
            }
        }
    }

    /// The group is at its start.
    fn session(&mut self, unit: &mut Unit<'_>) -> Result<(), String> {
        let Some(prepared) = self.prepared.clone() else { return Ok(()) };
        self.began = true;
        let lane = unit.positions().iter().position(|&at| at == prepared.at).unwrap_or(0);
        let debugger = Debugger::new(Session::new(unit), Arc::clone(&prepared.listing), prepared.chosen.pass, lane);
        let mut debugger = debugger.interrupted_by(Arc::clone(&self.interrupt));
        self.apply(&mut debugger);
        if self.stop_on_entry {
            self.stopped(&mut debugger, "entry", &Stop::Reached, None);
        } else {
            self.proceed(&mut debugger, Direction::Forward);
        }
        self.send_events()?;
        while self.phase == Phase::Running {
            let Some(message) = self.receive()? else { return Ok(()) };
            self.answer(&message, Some(&mut debugger))?;
        }
        Ok(())
    }

    /// The launch is over: says why nothing was seen, if nothing was, and waits for the client's goodbye.
    fn ended(&mut self, error: Option<JobError>) -> Result<(), String> {
        if self.left {
            return Ok(());
        }
        let at = self.prepared.as_ref().map(|p| p.at).unwrap_or_default();
        let why = match error {
            Some(error) => Some(said(&error)),
            None if !self.began => Some(format!("processor ({}, {}) does not run in this launch\n", at.i, at.j)),
            None => None,
        };
        if let Some(why) = why {
            self.send(event("output", json!({ "category": "stderr", "output": why })))?;
        }
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.send(event("terminated", Value::Null))?;
        }
        while let Some(message) = self.receive()? {
            self.answer(&message, None)?;
            if message["command"] == "disconnect" {
                break;
            }
        }
        Ok(())
    }

    /// Reports that the group is stopped.
    fn stopped(&mut self, debugger: &mut Debugger<'_, '_>, reason: &str, stop: &Stop, breakpoint: Option<u32>) {
        self.groups.clear();
        let by = breakpoint.and_then(|number| self.numbers.iter().find(|(n, _)| *n == number)).map(|(_, by)| *by);
        let (reason, text) = match (stop, by) {
            (Stop::Fault(fault), _) => ("exception", Some(fault.to_string())),
            (Stop::End, _) => ("end", Some("the program has ended; it can be stepped backwards".to_owned())),
            (Stop::Start, _) => ("entry", Some("at the start".to_owned())),
            (Stop::Interrupted, _) => ("pause", None),
            (Stop::Reached, Some(by)) => (by, None),
            (Stop::Reached, None) => (reason, None),
        };
        if reason == "pause" {
            self.interrupt.store(false, Ordering::Relaxed);
        }
        let description = text.clone().unwrap_or_else(|| format!("time {}", debugger.session.time()));
        self.after.push(event(
            "stopped",
            json!({
                "reason": reason,
                "description": description,
                "text": text,
                "threadId": debugger.lane + 1,
                "allThreadsStopped": true,
                "hitBreakpointIds": breakpoint.map(|n| vec![n]).unwrap_or_default(),
            }),
        ));
    }

    fn proceed(&mut self, debugger: &mut Debugger<'_, '_>, direction: Direction) {
        let (stop, number) = debugger.proceed(direction);
        self.stopped(debugger, "step", &stop, number);
    }

    fn request(&mut self, command: &str, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Answered {
        match command {
            "initialize" => {
                self.first_line = usize::from(arguments["linesStartAt1"].as_bool() != Some(false));
                Ok(capabilities())
            }
            "launch" | "attach" => self.launch(arguments),
            "configurationDone" => {
                if self.prepared.is_none() {
                    return Err("nothing was launched".into());
                }
                self.phase = Phase::Running;
                Ok(Value::Null)
            }
            "disconnect" | "terminate" => {
                self.phase = Phase::Over;
                self.left |= command == "disconnect";
                if command == "terminate" {
                    self.after.push(event("terminated", Value::Null));
                }
                Ok(Value::Null)
            }
            "setBreakpoints" => Ok(self.set_breakpoints(arguments, debugger)),
            "setFunctionBreakpoints" => Ok(self.set_named(arguments, debugger)),
            "setExceptionBreakpoints" => self.set_exceptions(arguments, debugger),
            "setDataBreakpoints" => Ok(self.set_data(arguments, debugger)),
            "breakpointLocations" => Ok(self.locations(arguments)),
            "source" => self.source_text(),
            "threads" if debugger.is_none() => Ok(json!({ "threads": [] })),
            "completions" => Ok(completions(arguments)),
            _ => match debugger {
                Some(debugger) => self.in_session(command, arguments, debugger),
                None => Err(format!("`{command}` needs a program that runs")),
            },
        }
    }

    fn launch(&mut self, arguments: &Value) -> Answered {
        let prepared = prepare(arguments)?;
        self.stop_on_entry = arguments["stopOnEntry"].as_bool() != Some(false);
        self.prepared = Some(prepared);
        self.after.push(event("initialized", Value::Null));
        Ok(Value::Null)
    }

    /// A source as the client knows it.
    fn source(&self) -> Value {
        let Some(prepared) = &self.prepared else { return Value::Null };
        match &prepared.file {
            Some(file) => {
                json!({ "name": file.file_name().map(|n| n.to_string_lossy()), "path": file.display().to_string() })
            }
            None => json!({ "name": prepared.listing.name, "sourceReference": 1 }),
        }
    }

    fn source_text(&self) -> Answered {
        let prepared = self.prepared.as_ref().ok_or("nothing was launched")?;
        let lines: Vec<&str> = prepared.listing.lines.iter().map(|line| line.text.as_str()).collect();
        Ok(json!({ "content": lines.join("\n") }))
    }
}

fn completions(arguments: &Value) -> Value {
    let text = arguments["text"].as_str().unwrap_or("");
    let fits = COMMANDS.iter().filter(|command| command.name.starts_with(text.trim_start()));
    let targets: Vec<Value> =
        fits.map(|command| json!({ "label": command.name, "detail": command.help, "type": "keyword" })).collect();
    json!({ "targets": targets })
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsCompletionsRequest": true,
        "supportsValueFormattingOptions": true,
        "exceptionBreakpointFilters": [
            { "filter": "nan", "label": "NaN", "description": "the lane writes a NaN" },
            { "filter": "divergence", "label": "Divergence", "description": "covered lanes of the group part" },
        ],
    })
}

/// Everything that is wrong with a job, as text.
fn said(error: &JobError) -> String {
    error.reports().iter().map(|report| format!("{}\n", render::text(report, false))).collect()
}
