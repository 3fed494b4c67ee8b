//! Requests of a client while a group is stopped: threads, frames, scopes, values, moves.

use super::protocol::event;
use super::variables::{self, VariableGroup};
use super::{Adapter, Answered, MOVES, Phase};
use crate::debugger::{Answer, Debugger, Direction};
use ctm::trace::Stop;
use ctm::trace::observe::Place;
use ctm_exec::Position;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

impl Adapter {
    /// The lane that a request is about.
    pub(super) fn lane(arguments: &Value, debugger: &Debugger<'_, '_>) -> Result<usize, String> {
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

    pub(super) fn in_session(&mut self, command: &str, arguments: &Value, debugger: &mut Debugger<'_, '_>) -> Answered {
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
                // The running request was interrupted, or the group is stopped already.
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

    pub(super) fn moves(&mut self, command: &str, debugger: &mut Debugger<'_, '_>) {
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
            (Some(at), _) => {
                let glsl = debugger.listing.glsl_of(at);
                let glsl = if glsl.is_empty() { glsl } else { format!("  [{glsl}]") };
                format!("{at}: {}{glsl}", debugger.listing.text(at))
            }
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
        // The enclosing constructs of the group, the innermost first.
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
            let hint = if matches!(group, VariableGroup::Registers(_)) { "registers" } else { "locals" };
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
        let mut open = |group: VariableGroup| {
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
                Answer::Elsewhere(at) => {
                    return Err(format!("({}, {}) is in another group: launch with `at` to look there", at.i, at.j));
                }
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
            self.groups.push((lane, VariableGroup::Places(places)));
            reference = self.groups.len();
        }
        Ok(json!({ "result": result, "variablesReference": reference }))
    }
}

/// Numbers of frames: those of a lane are consecutive.
const FRAMES: usize = 1000;

fn frame(lane: usize, depth: usize) -> usize {
    lane * FRAMES + depth + 1
}

fn lane_of(frame: Option<u64>, debugger: &Debugger<'_, '_>) -> Result<usize, String> {
    let Some(frame) = frame else { return Ok(debugger.lane) };
    let lane = usize::try_from(frame).ok().and_then(|frame| frame.checked_sub(1)).map(|n| n / FRAMES);
    lane.filter(|&lane| lane < debugger.session.positions().len()).ok_or_else(|| format!("there is no frame {frame}"))
}

/// The reason of the stop, from a command's output.
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
