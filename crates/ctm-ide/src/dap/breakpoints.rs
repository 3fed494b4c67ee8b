//! Where the client wants to stop: lines, labels, writes, NaN, divergence. Each becomes a breakpoint of the debugger, as the command `break` writes it.

use super::launch::PreparedLaunch;
use super::{Adapter, Answered, RequestedBreakpoint};
use crate::debugger::Debugger;
use crate::debugger::conditions::{BreakCondition, BreakpointKind, line_of};
use ctm::trace::observe::Place;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

impl Adapter {
    /// The client's breakpoints as the debugger's.
    pub(super) fn apply(&mut self, debugger: &mut Debugger<'_, '_>) {
        for (number, _) in self.numbers.drain(..) {
            debugger.forget(number);
        }
        for wanted in &self.wanted {
            if let Ok(breakpoint) = debugger.stop_at(&wanted.command) {
                self.numbers.push((breakpoint.number, wanted.by));
            }
        }
    }

    pub(super) fn want(&mut self, by: &'static str, commands: Vec<String>, debugger: Option<&mut Debugger<'_, '_>>) {
        self.wanted.retain(|wanted| wanted.by != by);
        self.wanted.extend(commands.into_iter().map(|command| RequestedBreakpoint { by, command }));
        if let Some(debugger) = debugger {
            self.apply(debugger);
        }
    }

    pub(super) fn set_breakpoints(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Value {
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
                    let kind = BreakpointKind::At(vec![at]);
                    let line = line_of(&kind, &prepared.listing).unwrap_or(line) + self.first_line - 1;
                    json!({ "verified": true, "line": line, "source": self.source() })
                }
                Err(why) => {
                    json!({ "verified": false, "line": line + self.first_line - 1, "message": why.to_string() })
                }
            });
        }
        if ours {
            self.want("breakpoint", commands, debugger);
        }
        json!({ "breakpoints": answers })
    }

    /// Labels.
    pub(super) fn set_named(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Value {
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

    pub(super) fn set_exceptions(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Answered {
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

    pub(super) fn set_data(&mut self, arguments: &Value, debugger: Option<&mut Debugger<'_, '_>>) -> Value {
        let (mut commands, mut answers) = (Vec::new(), Vec::new());
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let name = wanted["dataId"].as_str().unwrap_or("");
            let isa = self.prepared.as_ref().map(|p| p.listing.isa);
            match isa.map(|isa| Place::parse(isa, name)) {
                Some(Ok(_)) => {
                    commands.push(format!("write {name}"));
                    answers.push(json!({ "verified": true }));
                }
                Some(Err(why)) => answers.push(json!({ "verified": false, "message": why.to_string() })),
                None => answers.push(json!({ "verified": false, "message": "nothing was launched" })),
            }
        }
        self.want("data breakpoint", commands, debugger);
        json!({ "breakpoints": answers })
    }

    pub(super) fn locations(&self, arguments: &Value) -> Value {
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
}

fn check_condition(prepared: &PreparedLaunch, condition: &str) -> Result<(), String> {
    let isa = prepared.listing.isa;
    let parse = |names: &str| Place::parse(isa, names.trim()).map_err(|e| e.to_string());
    BreakCondition::parse(condition, parse).map(|_| ())
}
