//! The debug adapter: what `ctm dap` speaks on its standard input and output.
//!
//! | file | what |
//! |---|---|
//! | `protocol` | messages and their frame |
//! | `variables` | what a lane holds, by scope |
//!
//! The lanes of the group are the threads of the protocol, and all of them stand and go together. The debug console takes every command of `ctm debug`.
//! One thread reads what the client says, so that `pause` and a client that goes away end what is running.

mod protocol;
mod variables;

use crate::debugger::conditions::{Kind, line_of};
use crate::debugger::{Answer, COMMANDS, Debugger, Direction, position};
use ctm::job::{AnyProgram, Isa, Job, JobError, Reader, read_file};
use ctm::render;
use ctm::trace::observe::{Place, Unit, Watcher, Wish};
use ctm::trace::{Choice, Listing, Session, Stop, watch_job};
use ctm_exec::{Fault, Position};
use protocol::event;
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use variables::{Group, Scope};

/// Speaks with a client until it disconnects or goes away.
///
/// # Errors
/// In words: the client breaks the protocol.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Result<(), String> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let reader = Arc::clone(&interrupt);
    // It is left behind where the client stays and says nothing more; it holds nothing.
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let message = protocol::read(&mut input).transpose();
            let said = |name: &str| matches!(&message, Some(Ok(m)) if m["command"] == name);
            if ["pause", "disconnect", "terminate"].into_iter().any(said) || !matches!(message, Some(Ok(_))) {
                reader.store(true, Ordering::Relaxed);
            }
            let last = !matches!(message, Some(Ok(_)));
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
        let result = watch_job(&prepared.job, prepared.which, watching);
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

/// What is to be debugged.
#[derive(Clone)]
struct Prepared {
    job: Job,
    at: Position,
    which: u64,
    pass: usize,
    listing: Arc<Listing>,
    scopes: Vec<Scope>,
    /// The program's file, where the listing is its text.
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing runs yet.
    Configuring,
    /// A group stands somewhere.
    Running,
    /// The client has what it wanted.
    Over,
}

/// A breakpoint that the client wants: which request said so, and how the command `break` writes it.
struct Wanted {
    by: &'static str,
    command: String,
}

struct Adapter {
    output: Box<dyn Write + Send>,
    receiver: Receiver<Option<Result<Value, String>>>,
    interrupt: Arc<AtomicBool>,
    /// Messages sent.
    number: u64,
    /// What the client calls the first line.
    first_line: usize,
    prepared: Option<Prepared>,
    wanted: Vec<Wanted>,
    /// Breakpoints of the debugger, with the request that they came from.
    numbers: Vec<(u32, &'static str)>,
    /// What can be asked for parts, with its lane; the reference is the index plus 1.
    groups: Vec<(usize, Group)>,
    /// Events that follow the answer.
    after: Vec<Value>,
    stop_on_entry: bool,
    began: bool,
    /// The client has disconnected.
    left: bool,
    phase: Phase,
}

/// Requests after which the group stands somewhere else.
const MOVES: [&str; 6] = ["continue", "reverseContinue", "next", "stepIn", "stepOut", "stepBack"];

/// What a request leads to: an answer, or the reason why not.
type Answered = Result<Value, String>;

impl Adapter {
    fn send(&mut self, mut message: Value) -> Result<(), String> {
        self.number += 1;
        message["seq"] = self.number.into();
        match protocol::write(&mut self.output, &message) {
            // Whoever listens has gone: the reader will say so.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {
                self.phase = Phase::Over;
                Ok(())
            }
            result => result.map_err(|e| format!("the client cannot be written to: {e}")),
        }
    }

    /// The next request; `None` when the client has gone.
    fn receive(&mut self) -> Result<Option<Value>, String> {
        match self.receiver.recv() {
            Ok(Some(Ok(message))) => Ok(Some(message)),
            Ok(Some(Err(why))) => Err(why),
            Ok(None) | Err(_) => Ok(None),
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
                // The answer says that it goes on, which may take a while; that it stands again is an event.
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

    /// Sends what a request led to, and the events behind it.
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

    /// Until the client says that its breakpoints are set; what to debug then, if there is anything.
    fn configure(&mut self) -> Result<Option<Prepared>, String> {
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

    /// The group stands at its start.
    fn session(&mut self, unit: &mut Unit<'_>) -> Result<(), String> {
        let Some(prepared) = self.prepared.clone() else { return Ok(()) };
        self.began = true;
        let lane = unit.positions().iter().position(|&at| at == prepared.at).unwrap_or(0);
        let debugger = Debugger::new(Session::new(unit), Arc::clone(&prepared.listing), prepared.pass, lane);
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

    /// Says that the group stands.
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

    /// The client's breakpoints as the debugger's.
    fn apply(&mut self, debugger: &mut Debugger<'_, '_>) {
        for (number, _) in self.numbers.drain(..) {
            debugger.forget(number);
        }
        for wanted in &self.wanted {
            if let Ok(breakpoint) = debugger.stop_at(&wanted.command) {
                self.numbers.push((breakpoint.number, wanted.by));
            }
        }
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

    fn want(&mut self, by: &'static str, commands: Vec<String>, debugger: Option<&mut Debugger<'_, '_>>) {
        self.wanted.retain(|wanted| wanted.by != by);
        self.wanted.extend(commands.into_iter().map(|command| Wanted { by, command }));
        if let Some(debugger) = debugger {
            self.apply(debugger);
        }
    }

    fn set_breakpoints(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Value {
        let Some(prepared) = self.prepared.clone() else {
            return json!({ "breakpoints": [] });
        };
        let path = arguments["source"]["path"].as_str().map(Path::new);
        let ours = match (&prepared.file, path) {
            (Some(file), Some(path)) => path.canonicalize().is_ok_and(|path| path == *file),
            (_, None) => true,
            (None, Some(_)) => false,
        };
        let (mut commands, mut answers) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let line =
                wanted["line"].as_u64().and_then(|line| usize::try_from(line).ok()).unwrap_or(0) + 1 - self.first_line;
            let condition = wanted["condition"].as_str().map(str::trim).filter(|condition| !condition.is_empty());
            let command = match condition {
                Some(condition) => format!("{line} if {condition}"),
                None => line.to_string(),
            };
            let found = match () {
                () if !ours => Err("this is not the program that runs".to_owned()),
                () => {
                    prepared.listing.at_line(line).ok_or(format!("there is no instruction on line {line} or behind it"))
                }
            };
            let found = found.and_then(|at| match condition {
                Some(condition) => check_condition(&prepared, condition).map(|()| at),
                None => Ok(at),
            });
            answers.push(match found {
                Ok(at) => {
                    commands.push(command);
                    let kind = Kind::At(vec![at]);
                    let line = line_of(&kind, &prepared.listing).unwrap_or(line) + self.first_line - 1;
                    json!({ "verified": true, "line": line, "source": self.source() })
                }
                Err(why) => json!({ "verified": false, "line": line + self.first_line - 1, "message": why }),
            });
        }
        if ours {
            self.want("breakpoint", commands, debugger);
        }
        json!({ "breakpoints": answers })
    }

    /// Labels.
    fn set_named(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Value {
        let (mut commands, mut answers) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let name = wanted["name"].as_str().unwrap_or("").to_owned();
            let at = self.prepared.as_ref().and_then(|p| p.listing.at_label(&name).and_then(|at| p.listing.line(at)));
            answers.push(match at {
                Some(line) => json!({ "verified": true, "line": line + self.first_line - 1, "source": self.source() }),
                None => json!({ "verified": false, "message": format!("there is no label `{name}`") }),
            });
            if at.is_some() {
                commands.push(name);
            }
        }
        self.want("function breakpoint", commands, debugger);
        json!({ "breakpoints": answers })
    }

    fn set_exceptions(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Answered {
        let mut commands = Vec::new();
        for filter in arguments["filters"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            match filter {
                "nan" | "divergence" => commands.push(filter.to_owned()),
                other => return Err(format!("there is no filter `{other}`; there are nan and divergence")),
            }
        }
        self.want("exception", commands, debugger);
        Ok(Value::Null)
    }

    fn set_data(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Value {
        let (mut commands, mut answers) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let name = wanted["dataId"].as_str().unwrap_or("");
            let isa = self.prepared.as_ref().map(|p| p.listing.isa);
            match isa.map(|isa| Place::parse(isa, name)) {
                Some(Ok(_)) => {
                    commands.push(format!("write {name}"));
                    answers.push(json!({ "verified": true }));
                }
                Some(Err(why)) => answers.push(json!({ "verified": false, "message": why })),
                None => answers.push(json!({ "verified": false, "message": "nothing was launched" })),
            }
        }
        self.want("data breakpoint", commands, debugger);
        json!({ "breakpoints": answers })
    }

    fn locations(&self, arguments: &Value) -> Value {
        let number = |name: &str| arguments[name].as_u64().and_then(|n| usize::try_from(n).ok());
        let first = number("line").unwrap_or(0) + 1 - self.first_line;
        let last = number("endLine").map_or(first, |n| n + 1 - self.first_line);
        let listing = self.prepared.as_ref().map(|p| Arc::clone(&p.listing));
        let has = |line: &usize| {
            listing.as_ref().and_then(|l| l.lines.get(line.checked_sub(1)?)).is_some_and(|line| !line.at.is_empty())
        };
        let last = last.min(first.saturating_add(100_000));
        let found = (first..=last).filter(has).map(|line| json!({ "line": line + self.first_line - 1 }));
        json!({ "breakpoints": found.collect::<Vec<_>>() })
    }

    /// The lane that a request is about.
    fn lane(arguments: &Value, debugger: &Debugger<'_, '_>) -> Result<usize, String> {
        let lanes = debugger.session.positions().len();
        match arguments["threadId"].as_u64() {
            None => Ok(debugger.lane),
            Some(id) => usize::try_from(id)
                .ok()
                .and_then(|id| id.checked_sub(1))
                .filter(|&lane| lane < lanes)
                .ok_or_else(|| format!("there is no thread {id}; the lanes are 1 to {lanes}")),
        }
    }

    fn in_session(&mut self, command: &str, arguments: &Value, debugger: &mut Debugger<'_, '_>) -> Answered {
        match command {
            "threads" => {
                let session = &debugger.session;
                let name = |lane: usize, at: Position| {
                    let state = session.flow(session.wave_of(lane)).lane(lane).map(|of| of.state.to_string());
                    format!("lane {lane} ({}, {}): {}", at.i, at.j, state.unwrap_or_default())
                };
                let lanes = session.positions().iter().enumerate();
                let threads: Vec<Value> =
                    lanes.map(|(lane, &at)| json!({ "id": lane + 1, "name": name(lane, at) })).collect();
                Ok(json!({ "threads": threads }))
            }
            "stackTrace" => self.stack(arguments, debugger),
            "scopes" => self.scopes(arguments, debugger),
            "variables" => self.variables(arguments, debugger),
            "setVariable" | "setExpression" => set(arguments, debugger),
            "evaluate" => self.evaluate(arguments, debugger),
            "dataBreakpointInfo" => {
                let name = arguments["name"].as_str().unwrap_or("");
                let known = debugger.parse(name).is_ok();
                let description = if known { format!("writes of {name}") } else { format!("{name} cannot be watched") };
                Ok(
                    json!({ "dataId": known.then_some(name), "description": description, "accessTypes": ["write"], "canPersist": true }),
                )
            }
            "pause" => {
                // Whatever ran has been interrupted, or stands already.
                self.interrupt.store(false, Ordering::Relaxed);
                self.stopped(debugger, "pause", &Stop::Reached, None);
                Ok(Value::Null)
            }
            "restart" => {
                debugger.session.go_to(0);
                self.stopped(debugger, "entry", &Stop::Reached, None);
                Ok(Value::Null)
            }
            other if MOVES.contains(&other) => Self::lane(arguments, debugger).map(|_| Value::Null),
            other => Err(format!("`{other}` is not done here")),
        }
    }

    fn moves(&mut self, command: &str, debugger: &mut Debugger<'_, '_>) {
        let over = debugger.at().is_none() && debugger.session.fault().is_none();
        let moved = match command {
            "continue" if over => {
                self.phase = Phase::Over;
                self.after.push(event("terminated", Value::Null));
                return;
            }
            "continue" => return self.proceed(debugger, Direction::Forward),
            "reverseContinue" => return self.proceed(debugger, Direction::Backward),
            "next" => debugger.next(Direction::Forward),
            "stepIn" => debugger.steps("1", Direction::Forward),
            "stepBack" => debugger.steps("1", Direction::Backward),
            _ => debugger.finish(Direction::Forward),
        };
        match moved {
            Ok(said) => {
                let stop = stop_of(&said.value, debugger);
                self.stopped(debugger, "step", &stop, None);
            }
            // Outside of loops and calls there is nothing to leave but the program.
            Err(_) => self.proceed(debugger, Direction::Forward),
        }
    }

    fn stack(&mut self, arguments: &Value, debugger: &mut Debugger<'_, '_>) -> Answered {
        let lane = Self::lane(arguments, debugger)?;
        let at = debugger.at();
        let flow = debugger.session.flow(debugger.session.wave_of(lane));
        let line = at.and_then(|at| debugger.listing.line(at));
        let name = match (at, debugger.session.fault()) {
            (Some(at), _) => format!("{at}: {}", debugger.listing.text(at)),
            (None, Some(fault)) => fault.to_string(),
            (None, None) => "the program has ended".to_owned(),
        };
        let mut frames = vec![json!({
            "id": frame(lane, 0),
            "name": name,
            "line": line.map_or(0, |line| line + self.first_line - 1),
            "column": self.first_line,
            "source": line.map(|_| self.source()),
        })];
        // What the group is inside of, the innermost first.
        for (depth, of) in flow.stack.iter().enumerate().rev() {
            frames.push(json!({ "id": frame(lane, depth + 1), "name": of.to_string(), "line": 0, "column": 0, "presentationHint": "label" }));
        }
        Ok(json!({ "totalFrames": frames.len(), "stackFrames": frames }))
    }

    fn scopes(&mut self, arguments: &Value, debugger: &Debugger<'_, '_>) -> Answered {
        let lane = lane_of(arguments["frameId"].as_u64(), debugger)?;
        let scopes = self.prepared.as_ref().map(|p| p.scopes.clone()).unwrap_or_default();
        let mut found = Vec::new();
        for (name, group) in scopes {
            let hint = if matches!(group, Group::Registers(_)) { "registers" } else { "locals" };
            self.groups.push((lane, group));
            let reference = self.groups.len();
            found.push(
                json!({ "name": name, "presentationHint": hint, "variablesReference": reference, "expensive": false }),
            );
        }
        Ok(json!({ "scopes": found }))
    }

    fn variables(&mut self, arguments: &Value, debugger: &mut Debugger<'_, '_>) -> Answered {
        let reference = arguments["variablesReference"].as_u64().and_then(|n| usize::try_from(n).ok());
        let known = reference.and_then(|n| self.groups.get(n.checked_sub(1)?)).cloned();
        let Some((lane, group)) = known else {
            return Err("this reference is from before the last move".into());
        };
        let hex = arguments["format"]["hex"].as_bool() == Some(true);
        let groups = &mut self.groups;
        let mut open = |group: Group| {
            groups.push((lane, group));
            groups.len()
        };
        Ok(json!({ "variables": variables::parts(debugger, lane, &group, hex, &mut open) }))
    }

    fn evaluate(&mut self, arguments: &Value, debugger: &mut Debugger<'_, '_>) -> Answered {
        let expression = arguments["expression"].as_str().unwrap_or("").trim();
        if arguments["context"] == "repl" {
            let before = debugger.session.time();
            let said = match debugger.command(expression)? {
                Answer::Said(said) => said,
                Answer::Quit => return Err("disconnect to end".into()),
            };
            if debugger.session.time() != before {
                let stop = stop_of(&said.value, debugger);
                self.stopped(debugger, "step", &stop, None);
            }
            return Ok(json!({ "result": said.text.trim_end(), "variablesReference": 0 }));
        }
        let lane = lane_of(arguments["frameId"].as_u64(), debugger)?;
        let hex = arguments["format"]["hex"].as_bool() == Some(true);
        let places = debugger.parse(expression)?;
        debugger.session.upcoming();
        let value = |place: &Place| variables::shown(*place, debugger.session.value(lane, *place), hex);
        let result = match places.as_slice() {
            [place] => value(place),
            places => {
                let parts: Vec<String> = places
                    .iter()
                    .map(|place| match debugger.session.value(lane, *place) {
                        Some(bits) if hex => format!("0x{bits:08x}"),
                        Some(bits) => ctm::trace::number(bits),
                        None => "-".into(),
                    })
                    .collect();
                format!("({})", parts.join(", "))
            }
        };
        let mut reference = 0;
        if places.len() > 1 {
            self.groups.push((lane, Group::Places(places)));
            reference = self.groups.len();
        }
        Ok(json!({ "result": result, "variablesReference": reference }))
    }
}

/// Numbers of frames: those of a lane stand together.
const FRAMES: usize = 1000;

fn frame(lane: usize, depth: usize) -> usize {
    lane * FRAMES + depth + 1
}

fn lane_of(frame: Option<u64>, debugger: &Debugger<'_, '_>) -> Result<usize, String> {
    let Some(frame) = frame else { return Ok(debugger.lane) };
    let lane = usize::try_from(frame).ok().and_then(|frame| frame.checked_sub(1)).map(|n| n / FRAMES);
    lane.filter(|&lane| lane < debugger.session.positions().len()).ok_or_else(|| format!("there is no frame {frame}"))
}

/// Why the group stands, from what a command said.
fn stop_of(said: &Value, debugger: &mut Debugger<'_, '_>) -> Stop {
    match said["stop"].as_str() {
        Some("end") => Stop::End,
        Some("start") => Stop::Start,
        Some("interrupted") => Stop::Interrupted,
        Some("fault") => debugger.session.fault().cloned().map_or(Stop::Reached, Stop::Fault),
        _ => Stop::Reached,
    }
}

fn set(arguments: &Value, debugger: &mut Debugger<'_, '_>) -> Answered {
    let name = arguments["name"].as_str().or(arguments["expression"].as_str()).unwrap_or("");
    let value = arguments["value"].as_str().unwrap_or("");
    debugger.command(&format!("set {name} = {value}"))?;
    let places = debugger.parse(name)?;
    let shown: Vec<String> = places
        .iter()
        .map(|&place| variables::shown(place, debugger.session.value(debugger.lane, place), false))
        .collect();
    Ok(json!({ "value": shown.join(", ") }))
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

fn check_condition(prepared: &Prepared, condition: &str) -> Result<(), String> {
    let isa = prepared.listing.isa;
    let parse = |names: &str| Place::parse(isa, names.trim());
    crate::debugger::conditions::Condition::parse(condition, parse).map(|_| ())
}

/// Reads what `launch` says.
fn prepare(arguments: &Value) -> Result<Prepared, String> {
    let program = arguments["program"].as_str().ok_or("`program` is missing: a job file or a program")?;
    let path = match arguments["cwd"].as_str() {
        Some(directory) => Path::new(directory).join(program),
        None => PathBuf::from(program),
    };
    let mut reader = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        Reader::for_file(&path).map_err(|e| said(&e))?
    } else {
        read_file(&path, "the program", None).map_err(|e| said(&e))?;
        Reader::for_program(&path)
    };
    match arguments["isa"].as_str() {
        Some("x1k") => reader.isa(Isa::X1k),
        Some("r700") => reader.isa(Isa::R700),
        Some(other) => return Err(format!("`isa` is `{other}`; there are x1k and r700")),
        None => {}
    }
    for (name, values) in arguments["flags"].as_object().into_iter().flatten() {
        let values = values.as_array().map_or(vec![values], |list| list.iter().collect());
        for value in values {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            reader.flag(name, &value);
        }
    }
    let job = reader.finish().map_err(|e| said(&e))?;
    let number = |name: &str| match &arguments[name] {
        Value::Null => Ok(None),
        value => value.as_u64().map(Some).ok_or(format!("`{name}` is a number from 0 up")),
    };
    let pass = number("pass")?.and_then(|n| usize::try_from(n).ok());
    let at = match &arguments["at"] {
        Value::Null => None,
        Value::String(text) => Some(position(text)?),
        Value::Array(pair) => {
            let text: Vec<String> = pair.iter().map(Value::to_string).collect();
            Some(position(&text.join(","))?)
        }
        _ => return Err("`at` is a processor: \"35,22\"".into()),
    };
    let first = pass.and_then(|n| job.passes.get(n)).or_else(|| job.passes.last());
    let at = at.or_else(|| first.map(|p| Position { i: p.domain.i0, j: p.domain.j0 })).unwrap_or_default();
    let choice = Choice { pass, launch: number("launch")? };
    let (pass, which) = choice.resolve(&job, Some(at)).map_err(|e| said(&e))?;
    let programs = job.programs().map_err(|e| said(&e))?;
    let program = programs.get(pass).ok_or_else(|| format!("there is no pass {pass}"))?;
    let listing = Arc::new(Listing::new(program));
    let scopes = match &program.program {
        AnyProgram::X1k(program) => {
            let usage = program.usage();
            let constants: Vec<u8> = usage.float_constants.iter().copied().collect();
            variables::scopes(listing.isa, usage.highest_temp.saturating_add(1), &constants)
        }
        AnyProgram::R700(program) => variables::scopes(listing.isa, program.gprs.min(128), &[]),
    };
    let file = Path::new(&listing.name).canonicalize().ok().filter(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().eq(listing.lines.iter().map(|line| line.text.as_str()))
    });
    Ok(Prepared { job, at, which, pass, listing, scopes, file })
}
