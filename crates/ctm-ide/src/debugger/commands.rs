//! The commands of the debugger: a table, and their implementation.

use super::state::{Debugger, UserState};
use super::views::{shown, value_json};
use super::{Direction, Said, conditions};
use conditions::{BreakCondition, Breakpoint, BreakpointKind};
use ctm::trace::observe::{At, LaneState, Place, WatchedIsa};
use ctm::trace::{Listing, Session, Stop};
use ctm_exec::Position;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name and effect of a command.
pub struct DebuggerCommand {
    /// Its name.
    pub name: &'static str,
    /// A shorter one.
    pub short: &'static str,
    /// Its arguments.
    pub arguments: &'static str,
    /// Its effect.
    pub help: &'static str,
    run: fn(&mut Debugger<'_, '_>, &str) -> Result<Said, String>,
}

macro_rules! commands {
    ($($name:literal $short:literal $arguments:literal $help:literal $run:expr;)*) => {
        /// Every command.
        pub const COMMANDS: &[DebuggerCommand] = &[
            $(DebuggerCommand { name: $name, short: $short, arguments: $arguments, help: $help, run: $run },)*
        ];
    };
}

commands! {
    "help" "h" "[COMMAND]" "the commands, or one of them" |d, a| d.help(a);
    "where" "w" "" "where the group stands, and the masks" |d, _| Ok(d.place());
    "list" "l" "[LINE]" "the program around here or around a line" |d, a| d.list(a);
    "step" "s" "[N]" "N instructions on" |d, a| d.steps(a, Direction::Forward);
    "back" "b" "[N]" "N instructions back" |d, a| d.steps(a, Direction::Backward);
    "next" "n" "" "on to the lane's next instruction" |d, _| d.next(Direction::Forward);
    "previous" "p-" "" "back to the lane's last instruction" |d, _| d.next(Direction::Backward);
    "finish" "f" "" "on until the innermost loop or call is left" |d, _| d.finish(Direction::Forward);
    "unfinish" "uf" "" "back to before the innermost loop or call was entered" |d, _| d.finish(Direction::Backward);
    "continue" "c" "" "on to a breakpoint, a fault or the end" |d, _| d.go(Direction::Forward);
    "reverse" "rc" "" "back to a breakpoint or the start" |d, _| d.go(Direction::Backward);
    "goto" "g" "TIME" "to a time, counted in instructions" |d, a| d.goto(a);
    "break" "br" "[LINE | LABEL | pc N | if PLACE OP VALUE | write PLACE | divergence | nan]" "a breakpoint, with `if PLACE OP VALUE` behind it where it counts only then; without anything, the list" |d, a| d.add(a);
    "delete" "del" "N" "removes a breakpoint" |d, a| d.delete(a);
    "lane" "la" "N | I,J" "looks at another lane" |d, a| d.lane(a);
    "at" "at" "I,J" "looks at another processor; in another group from its start, with the same breakpoints" |_, _| Ok(Said::default());
    "print" "p" "PLACE..." "what registers hold, in all forms" |d, a| d.print(a);
    "display" "di" "PLACE..." "prints these after every command that moves; without anything, none" |d, a| d.display(a);
    "set" "set" "PLACE = VALUE" "makes a register hold something else: a number or bits as 0x..." |d, a| d.set(a);
    "masks" "m" "" "the lanes of the group as a picture" |d, _| Ok(d.masks());
    "stack" "st" "" "loops, calls and pushed states" |d, _| Ok(d.stack());
    "instruction" "i" "" "what the next instruction is going to read and write" |d, _| d.instruction();
    "why" "y" "PLACE" "what made a value" |d, a| d.why(a);
    "quit" "q" "" "ends" |_, _| Ok(Said::default());
}

/// The outcome of a command.
pub enum Answer {
    /// It says something.
    Said(Said),
    /// The user has enough.
    Quit,
    /// The user wants a processor of another group.
    Elsewhere(Position),
}

/// Instructions that a reverse search visits one by one.
const KEPT: usize = 500;

fn count(argument: &str) -> Result<u64, String> {
    if argument.is_empty() {
        return Ok(1);
    }
    argument
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| format!("`{argument}` is no number of instructions from 1 up"))
}

impl<'u, 'a> Debugger<'u, 'a> {
    /// A session in a pass of a job, from the view of one lane.
    #[must_use]
    pub fn new(session: Session<'u, 'a>, listing: Arc<Listing>, pass: usize, lane: usize) -> Self {
        Self {
            session,
            listing,
            pass,
            lane,
            breakpoints: Vec::new(),
            displayed: Vec::new(),
            made: 0,
            interrupt: Arc::default(),
        }
    }

    /// Setting this ends a running command at the next instruction; the user clears it.
    #[must_use]
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }

    /// With an interrupt of the caller's.
    #[must_use]
    pub fn interrupted_by(mut self, interrupt: Arc<AtomicBool>) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Executes a line.
    ///
    /// # Errors
    /// A message: the error, and the allowed values.
    pub fn command(&mut self, line: &str) -> Result<Answer, String> {
        let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
        if name.is_empty() {
            return Ok(Answer::Said(Said::default()));
        }
        let exact = COMMANDS.iter().find(|command| command.name == name || command.short == name);
        let command = exact.or_else(|| {
            let mut long = COMMANDS.iter().filter(|command| command.name.starts_with(name));
            long.next().filter(|_| long.next().is_none())
        });
        let command = command.ok_or_else(|| format!("there is no command `{name}`; help lists them"))?;
        match command.name {
            "quit" => Ok(Answer::Quit),
            "at" => {
                let at = super::position(argument)?;
                match self.session.positions().contains(&at) {
                    true => self.lane(argument).map(Answer::Said),
                    false => Ok(Answer::Elsewhere(at)),
                }
            }
            _ => (command.run)(self, argument.trim()).map(Answer::Said),
        }
    }

    /// State that persists across groups.
    #[must_use]
    pub fn kept(&self) -> UserState {
        UserState { breakpoints: self.breakpoints.clone(), displayed: self.displayed.clone(), made: self.made }
    }

    /// With the state from another group.
    #[must_use]
    pub fn with(self, kept: UserState) -> Self {
        let UserState { breakpoints, displayed, made } = kept;
        Self { breakpoints, displayed, made, ..self }
    }

    fn help(&self, name: &str) -> Result<Said, String> {
        let mut text = String::new();
        for command in COMMANDS.iter().filter(|c| name.is_empty() || c.name == name || c.short == name) {
            let usage = format!("{} {}", command.name, command.arguments);
            let _ = writeln!(text, "{usage:<24} {:<4} {}", command.short, command.help);
        }
        if text.is_empty() {
            Err(format!("there is no command `{name}`"))
        } else {
            Ok(Said { text, value: Value::Null })
        }
    }

    pub(crate) fn at(&mut self) -> Option<At> {
        self.session.upcoming().map(|event| event.at)
    }

    /// The place of the group.
    fn place(&mut self) -> Said {
        let time = self.session.time();
        let fault = self.session.fault().map(ToString::to_string);
        let at = self.at();
        let position = self.session.positions().get(self.lane).copied().unwrap_or_default();
        let flow = self.session.flow(self.session.wave_of(self.lane));
        let executing = self.session.upcoming().map(|event| event.executing.clone()).unwrap_or_default();
        let state = flow.lane(self.lane);
        let mut text = match (&fault, at) {
            (Some(fault), _) => format!("time {time}: {fault}\n"),
            (None, None) => format!("time {time}: the program has ended\n"),
            (None, Some(at)) => {
                let place = self.listing.place(at);
                let place = if place.is_empty() { place } else { format!(", {place}") };
                let glsl = self.listing.glsl_of(at);
                let glsl = if glsl.is_empty() { glsl } else { format!("  {glsl}\n") };
                format!("time {time}, instruction {at}{place}: {}\n{glsl}", self.listing.text(at))
            }
        };
        let mask: String = (usize::from(flow.first_lane)..usize::from(flow.first_lane) + flow.lanes.len())
            .map(|lane| match flow.lane(lane) {
                Some(of) if !of.covered => '.',
                Some(of) if of.state == LaneState::Running && at.is_some() && !executing.contains(lane) => '-',
                Some(of) => of.state.letter(),
                None => '-',
            })
            .collect();
        let _ = writeln!(
            text,
            "  lanes {mask}  lane {} ({}, {}): {}",
            self.lane,
            position.i,
            position.j,
            state.map_or(String::new(), |of| of.state.to_string())
        );
        let displayed = self.displayed.clone();
        let values = self.values(&displayed);
        for (place, bits) in &values {
            let _ = writeln!(text, "  {place} = {}", shown(*place, *bits));
        }
        let values: Vec<Value> = values.iter().map(|(place, bits)| value_json(*place, *bits)).collect();
        let value = json!({
            "time": time,
            "pc": at.map(|at| at.pc),
            "item": at.and_then(|at| at.item),
            "program": self.listing.name,
            "line": at.and_then(|at| self.listing.line(at)),
            "glsl": self.listing.glsl.as_ref().map(|glsl| &glsl.name),
            "glsl_line": at.and_then(|at| self.listing.glsl.as_ref()?.line(at)),
            "text": at.map(|at| self.listing.text(at)),
            "lane": self.lane,
            "position": [position.i, position.j],
            "state": state.map(|of| of.state.to_string()),
            "executing": executing.iter().collect::<Vec<_>>(),
            "fault": fault,
            "ended": at.is_none(),
            "values": values,
        });
        Said { text, value }
    }

    fn values(&self, places: &[Place]) -> Vec<(Place, Option<u32>)> {
        places.iter().map(|&place| (place, self.session.value(self.lane, place))).collect()
    }

    /// The outcome of a move.
    pub(crate) fn moved(&mut self, stop: &Stop) -> Said {
        let mut said = self.place();
        let note = match stop {
            Stop::Start => "at the start: there is nothing before it\n",
            Stop::Reached | Stop::End | Stop::Fault(_) | Stop::Interrupted => "",
        };
        said.text.insert_str(0, note);
        said.value["stop"] = match stop {
            Stop::Reached => "reached",
            Stop::End => "end",
            Stop::Start => "start",
            Stop::Fault(_) => "fault",
            Stop::Interrupted => "interrupted",
        }
        .into();
        said
    }

    fn list(&mut self, argument: &str) -> Result<Said, String> {
        let here = self.at().and_then(|at| self.listing.line(at));
        let middle = if argument.is_empty() {
            here.unwrap_or(1)
        } else {
            argument.parse().map_err(|_| format!("`{argument}` is no line"))?
        };
        let first = middle.saturating_sub(5).max(1);
        let mut text = String::new();
        for line in first..(first + 11).min(self.listing.lines.len() + 1) {
            let mark = if Some(line) == here { ">" } else { " " };
            let _ = writeln!(text, "{mark}{line:>5}  {}", self.listing.lines[line - 1].text);
        }
        Ok(Said { text, value: Value::Null })
    }

    pub(crate) fn steps(&mut self, argument: &str, direction: Direction) -> Result<Said, String> {
        let n = count(argument)?;
        let mut stop = Stop::Reached;
        if n > 64 {
            let time = self.session.time();
            stop = match direction {
                Direction::Forward => self.session.go_to(time.saturating_add(n)),
                Direction::Backward => self.session.go_to(time.saturating_sub(n)),
            };
            return Ok(self.moved(&stop));
        }
        for _ in 0..n {
            stop = match direction {
                Direction::Forward => self.session.step(),
                Direction::Backward => self.session.back(),
            };
            if stop != Stop::Reached {
                break;
            }
        }
        Ok(self.moved(&stop))
    }

    pub(crate) fn next(&mut self, direction: Direction) -> Result<Said, String> {
        let lane = self.lane;
        // It is one of the last instructions mostly, which are kept.
        if direction == Direction::Backward {
            for _ in 0..KEPT {
                let stop = self.session.back();
                if stop != Stop::Reached || self.session.upcoming().is_none_or(|event| event.executing.contains(lane)) {
                    return Ok(self.moved(&stop));
                }
            }
        }
        let stop = self
            .run(direction, true, &mut |session| session.upcoming().is_none_or(|event| event.executing.contains(lane)));
        Ok(self.moved(&stop))
    }

    pub(crate) fn finish(&mut self, direction: Direction) -> Result<Said, String> {
        let wave = self.session.wave_of(self.lane);
        let depth = self.session.flow(wave).stack.len();
        if depth == 0 {
            return Err("the group is in no loop and no call".into());
        }
        let stop = self.run(direction, true, &mut |session| session.flow(wave).stack.len() < depth);
        Ok(self.moved(&stop))
    }

    fn goto(&mut self, argument: &str) -> Result<Said, String> {
        let time = argument.parse().map_err(|_| format!("`{argument}` is no time; it counts instructions from 0"))?;
        let stop = self.session.go_to(time);
        Ok(self.moved(&stop))
    }

    fn isa(&self) -> WatchedIsa {
        self.session.isa()
    }

    pub(crate) fn parse(&self, names: &str) -> Result<Vec<Place>, String> {
        let mut places = Vec::new();
        for name in names.split([' ', ',']).filter(|name| !name.is_empty()) {
            places.extend(Place::parse(self.isa(), name).map_err(|e| e.to_string())?);
        }
        if places.is_empty() { Err("which register? r3.x, o0, p, ...".into()) } else { Ok(places) }
    }

    fn add(&mut self, argument: &str) -> Result<Said, String> {
        if argument.is_empty() {
            let mut text = String::new();
            for breakpoint in &self.breakpoints {
                let _ = writeln!(text, "{}: {}", breakpoint.number, breakpoint.text);
            }
            if text.is_empty() {
                text.push_str("there are no breakpoints\n");
            }
            return Ok(Said { text, value: Value::Null });
        }
        let number = self.stop_at(argument)?.number;
        let text = self.breakpoints.last().map_or(String::new(), |b| b.text.clone());
        let said = format!("breakpoint {number}: {text}\n");
        Ok(Said { text: said, value: json!({ "breakpoint": number }) })
    }

    /// Adds a breakpoint as the command `break` writes it: `24`, `24 if r3.a > 4`, `write o0.r`.
    pub(crate) fn stop_at(&mut self, argument: &str) -> Result<&Breakpoint, String> {
        let (place, condition) = match argument.split_once(" if ") {
            Some((place, condition)) => {
                (place.trim(), Some((condition, BreakCondition::parse(condition, |places| self.parse(places))?)))
            }
            None => (argument, None),
        };
        let (kind, mut text) = self.kind(place)?;
        if let Some((written, _)) = &condition {
            let _ = write!(text, " if {}", written.trim());
        }
        self.made += 1;
        let breakpoint = Breakpoint { number: self.made, text, kind, condition: condition.map(|(_, read)| read) };
        let at = self.breakpoints.len();
        self.breakpoints.push(breakpoint);
        Ok(&self.breakpoints[at])
    }

    /// Takes a breakpoint away.
    pub(crate) fn forget(&mut self, number: u32) {
        self.breakpoints.retain(|b| b.number != number);
    }

    fn kind(&self, argument: &str) -> Result<(BreakpointKind, String), String> {
        let on = |at: At| {
            let line = self.listing.line(at).unwrap_or(0);
            let all = self.listing.lines.get(line.wrapping_sub(1)).map_or(vec![at], |line| line.at.clone());
            (BreakpointKind::At(all), format!("line {line}: {}", self.listing.text(at)))
        };
        if let Some(condition) = argument.strip_prefix("if ") {
            let read = BreakCondition::parse(condition, |places| self.parse(places))?;
            return Ok((BreakpointKind::If(read), format!("if {}", condition.trim())));
        }
        if let Some(places) = argument.strip_prefix("write ") {
            return Ok((BreakpointKind::Write(self.parse(places)?), format!("write {}", places.trim())));
        }
        if let Some(pc) = argument.strip_prefix("pc ") {
            let pc: u32 = pc.trim().parse().map_err(|_| format!("`{pc}` is no instruction"))?;
            let at = self.listing.instructions().find(|at| at.pc == pc);
            return at.map(on).ok_or_else(|| format!("there is no instruction {pc}"));
        }
        match argument {
            "divergence" => Ok((BreakpointKind::Divergence, "divergence".into())),
            "nan" => Ok((BreakpointKind::Nan, "nan".into())),
            line => match line.parse::<usize>() {
                Ok(n) => self
                    .listing
                    .at_line(n)
                    .map(on)
                    .ok_or_else(|| format!("there is no instruction on line {n} or behind it")),
                Err(_) => self.listing.at_label(line).map(on).ok_or_else(|| {
                    format!("`{line}` is no line, label, `pc N`, `if ...`, `write ...`, `divergence` or `nan`")
                }),
            },
        }
    }

    fn delete(&mut self, argument: &str) -> Result<Said, String> {
        let before = self.breakpoints.len();
        self.breakpoints.retain(|b| Ok(b.number) != argument.parse());
        if self.breakpoints.len() == before {
            return Err(format!("there is no breakpoint `{argument}`"));
        }
        Ok(Said { text: "deleted\n".into(), value: Value::Null })
    }

    /// Runs until a place is reached, or until an interrupt.
    fn run(
        &mut self,
        direction: Direction,
        values: bool,
        reached: &mut dyn FnMut(&mut Session<'u, 'a>) -> bool,
    ) -> Stop {
        let interrupt = Arc::clone(&self.interrupt);
        let mut interrupted = false;
        let stop = self.session.run(direction, values, &mut |session| {
            interrupted |= interrupt.load(Ordering::Relaxed);
            reached(session) || interrupted
        });
        if interrupted && stop == Stop::Reached { Stop::Interrupted } else { stop }
    }

    fn go(&mut self, direction: Direction) -> Result<Said, String> {
        let (stop, number) = self.proceed(direction);
        let mut said = self.moved(&stop);
        if let Some(number) = number {
            said.text.insert_str(0, &format!("breakpoint {number}\n"));
            said.value["breakpoint"] = number.into();
        }
        Ok(said)
    }

    /// Runs to a breakpoint, and says which one it is.
    pub(crate) fn proceed(&mut self, direction: Direction) -> (Stop, Option<u32>) {
        let (lane, breakpoints) = (self.lane, self.breakpoints.clone());
        if breakpoints.is_empty() && direction == Direction::Backward {
            self.session.go_to(0);
            return (Stop::Start, None);
        }
        // Slots alone need no values, which is faster; the clauses of R700 have no slots of their own here.
        let light = self.isa() == WatchedIsa::X1k && breakpoints.iter().all(Breakpoint::is_light);
        let mut before: Vec<bool> = breakpoints.iter().map(|b| b.state(&self.session, lane)).collect();
        let mut hit: Option<(u64, u32)> = None;
        let stop = self.run(direction, !light, &mut |session| {
            let at = if light { session.at() } else { session.upcoming().map(|event| event.at) };
            let mut any = false;
            for (breakpoint, before) in breakpoints.iter().zip(&mut before) {
                if breakpoint.stops(session, lane, direction, at, before) {
                    hit = Some((session.time(), breakpoint.number));
                    any = true;
                }
            }
            any
        });
        let here = self.session.time();
        let number = hit.filter(|(time, _)| *time == here && stop == Stop::Reached).map(|(_, number)| number);
        (stop, number)
    }

    fn lane(&mut self, argument: &str) -> Result<Said, String> {
        let positions = self.session.positions();
        let found = match argument.split_once(',') {
            Some(_) => {
                let at = super::position(argument)?;
                positions
                    .iter()
                    .position(|&p| p == at)
                    .ok_or_else(|| format!("({}, {}) is not in this group; `at` chooses another group", at.i, at.j))?
            }
            None => argument
                .parse()
                .ok()
                .filter(|&lane| lane < positions.len())
                .ok_or_else(|| format!("`{argument}` is no lane; there are 0 to {}", positions.len() - 1))?,
        };
        self.lane = found;
        Ok(self.place())
    }

    fn print(&mut self, argument: &str) -> Result<Said, String> {
        let places = self.parse(argument)?;
        // Values inside a clause want the next instruction to be known.
        self.session.upcoming();
        let values = self.values(&places);
        let mut text = String::new();
        for (place, bits) in &values {
            let _ = writeln!(text, "{place} = {}", shown(*place, *bits));
        }
        let values: Vec<Value> = values.iter().map(|(place, bits)| value_json(*place, *bits)).collect();
        Ok(Said { text, value: json!({ "values": values }) })
    }

    fn display(&mut self, argument: &str) -> Result<Said, String> {
        self.displayed = if argument.is_empty() { Vec::new() } else { self.parse(argument)? };
        Ok(self.place())
    }

    fn set(&mut self, argument: &str) -> Result<Said, String> {
        let (place, value) = argument.split_once('=').ok_or("write PLACE = VALUE")?;
        let places = self.parse(place)?;
        let (value, as_bits) = conditions::bits(value.trim())?;
        for place in places {
            let bits = if place.is_flag() && !as_bits { u32::from(value != 0) } else { value };
            self.session.set(self.lane, place, bits).map_err(|e| e.to_string())?;
        }
        self.print(place.trim())
    }
}
