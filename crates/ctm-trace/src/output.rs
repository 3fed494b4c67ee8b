//! A trace as text, JSON lines, a Perfetto trace, and one page of HTML.

use crate::number;
use crate::record::{Step, Trace};
use ctm_exec::observe::{Flow, LaneEvent, LaneState, Lanes, Place, WatchedIsa};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The colours of every page, as style rules: light ones for `:root`, dark ones for `:root.dark`.
pub const PALETTE: &str = include_str!("output/palette.css");

/// The page; `@PALETTE@` is replaced by [`PALETTE`], `@DATA@` by [`Trace::page_data`].
const PAGE: &str = include_str!("output/page.html");

/// A value of a place: yes or no, or a number with its bits.
fn shown(place: Place, bits: u32) -> String {
    if place.is_flag() { bits.to_string() } else { format!("{} (0x{bits:08x})", number(bits)) }
}

/// Places that tables leave out for instructions that do not write a program's own registers: previous results change with every group.
const fn is_passing(place: Place) -> bool {
    matches!(place, Place::Pv(_) | Place::Ps)
}

impl Trace {
    /// One character a lane: `#` executes; others as [`LaneState::letter`] says, `.` for lanes that are not covered.
    fn mask(&self, executing: &Lanes, flow: &[Flow]) -> String {
        let lane = |lane: usize| match flow.iter().find_map(|flow| flow.lane(lane)) {
            Some(of) if !of.covered => '.',
            _ if executing.contains(lane) => '#',
            Some(of) if of.state == LaneState::Running => '-',
            Some(of) => of.state.letter(),
            None => '-',
        };
        (0..self.positions.len()).map(lane).collect()
    }

    /// A line about the traced launch.
    #[must_use]
    pub fn title(&self) -> String {
        let at = self.positions.get(self.lane).copied().unwrap_or_default();
        format!(
            "processor ({}, {}): lane {} of {}, pass {}, {}: {} instructions",
            at.i,
            at.j,
            self.lane,
            self.positions.len(),
            self.pass,
            self.listing.name,
            self.executed
        )
    }

    /// Every instruction with the group's mask, and its writes for the lanes of `lanes`.
    #[must_use]
    pub fn text(&self, lanes: &Lanes) -> String {
        let mut out = format!("{}\n", self.title());
        let mut flows = self.start.clone();
        let several = lanes.count() > 1;
        for Step { time, event } in &self.steps {
            let line = self.listing.line(event.at).map_or(String::new(), |line| line.to_string());
            let mask = self.mask(&event.executing, &flows);
            let glsl = self.listing.glsl_of(event.at);
            let glsl = if glsl.is_empty() { glsl } else { format!("  [{glsl}]") };
            let _ = writeln!(
                out,
                "{time:>6} {:>6} {line:>5}  {mask}  {}{glsl}",
                event.at.to_string(),
                self.listing.text(event.at)
            );
            for lane in event.lanes.iter().filter(|lane| lanes.contains(lane.lane.into())) {
                self.lane_text(&mut out, lane, several);
            }
            if let (Some(flow), Some(known)) = (&event.flow, flows.get_mut(usize::from(event.wave))) {
                flow_text(&mut out, known, flow, lanes);
                *known = flow.clone();
            }
        }
        if let Some(fault) = &self.fault {
            let _ = writeln!(out, "fault: {fault}");
        }
        if self.cut {
            let _ = writeln!(out, "the limit of instructions is reached; --limit sets it");
        }
        out
    }

    fn lane_text(&self, out: &mut String, lane: &LaneEvent, several: bool) {
        for write in lane.writes.iter().filter(|write| !is_passing(write.place)) {
            let whose = if several { format!("lane {} ", lane.lane) } else { String::new() };
            let mark = if write.old == write.bits { " " } else { "*" };
            let _ = writeln!(out, "{:20}{mark} {whose}{} = {}", "", write.place, shown(write.place, write.bits));
        }
    }

    /// A header and one JSON object per instruction, each on a line of its own.
    #[must_use]
    pub fn json_lines(&self) -> String {
        let positions: Vec<_> = self.positions.iter().map(|p| [p.i, p.j]).collect();
        let mut out = json!({
            "kind": "trace",
            "isa": isa_name(self.isa),
            "program": self.listing.name,
            "pass": self.pass,
            "lane": self.lane,
            "positions": positions,
            "executed": self.executed,
            "cut": self.cut,
            "fault": self.fault.as_ref().map(ToString::to_string),
        })
        .to_string();
        out.push('\n');
        for step in &self.steps {
            out.push_str(&self.step_json(step).to_string());
            out.push('\n');
        }
        out
    }

    /// One instruction as JSON.
    #[must_use]
    pub fn step_json(&self, step: &Step) -> Value {
        let event = &step.event;
        let hex = |bits: u32| format!("0x{bits:08x}");
        let lanes: Vec<Value> = event
            .lanes
            .iter()
            .map(|lane| {
                let reads = lane.reads.iter().map(|r| json!([r.place.to_string(), hex(r.bits), r.lane, r.parts]));
                let writes = lane.writes.iter().map(|w| json!([w.place.to_string(), hex(w.old), hex(w.bits), w.part]));
                json!({
                    "lane": lane.lane,
                    "reads": reads.collect::<Vec<_>>(),
                    "writes": writes.collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "time": step.time,
            "pc": event.at.pc,
            "item": event.at.item,
            "line": self.listing.line(event.at),
            "text": self.listing.text(event.at),
            "wave": event.wave,
            "executing": event.executing.iter().collect::<Vec<_>>(),
            "lanes": lanes,
            "flow": event.flow.as_ref().map(flow_json),
        })
    }

    /// The trace in Chrome's JSON form, which Perfetto opens: one track of instructions, one of active lanes, one for each lane's state. An
    /// instruction takes one microsecond there.
    #[must_use]
    pub fn perfetto(&self) -> String {
        let mut events = vec![
            json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": self.title()}}),
            json!({"ph": "M", "pid": 1, "tid": 0, "name": "thread_name", "args": {"name": "instructions"}}),
        ];
        for (lane, at) in self.positions.iter().enumerate() {
            let name = format!("lane {lane} ({}, {})", at.i, at.j);
            events.push(json!({"ph": "M", "pid": 1, "tid": lane + 1, "name": "thread_name", "args": {"name": name}}));
        }
        let mut states: Vec<(u64, Option<LaneState>)> = vec![(0, None); self.positions.len()];
        for flow in &self.start {
            for (n, of) in flow.lanes.iter().enumerate() {
                if let Some(state) = states.get_mut(usize::from(flow.first_lane) + n) {
                    *state = (0, Some(of.state));
                }
            }
        }
        let span = |lane: usize, (from, state): (u64, Option<LaneState>), to: u64| {
            state.filter(|_| to > from).map(|state| {
                json!({"ph": "X", "pid": 1, "tid": lane + 1, "ts": from, "dur": to - from, "name": state.to_string()})
            })
        };
        for Step { time, event } in &self.steps {
            let line = self.listing.line(event.at);
            let args = json!({"pc": event.at.to_string(), "line": line});
            events.push(json!({"ph": "X", "pid": 1, "tid": 0, "ts": time, "dur": 1, "name": self.listing.text(event.at), "args": args}));
            events.push(json!({"ph": "C", "pid": 1, "ts": time, "name": "active lanes", "args": {"lanes": event.executing.count()}}));
            let Some(flow) = &event.flow else { continue };
            for (n, of) in flow.lanes.iter().enumerate() {
                let lane = usize::from(flow.first_lane) + n;
                if let Some(state) = states.get_mut(lane).filter(|state| state.1 != Some(of.state)) {
                    events.extend(span(lane, *state, time + 1));
                    *state = (time + 1, Some(of.state));
                }
            }
        }
        for (lane, state) in states.into_iter().enumerate() {
            events.extend(span(lane, state, self.executed));
        }
        json!({"traceEvents": events, "displayTimeUnit": "ns"}).to_string()
    }

    /// One page that needs nothing else: the program beside a slider over time, the group's lanes, registers.
    #[must_use]
    pub fn html(&self) -> String {
        // Nothing in the data may end the script element.
        let data = self.page_data().to_string().replace('<', "\\u003c");
        PAGE.replace("@PALETTE@", PALETTE).replace("@DATA@", &data)
    }

    /// The data of the page, as JSON: `places` are names; each step of `steps` is `[time, line, pc, executing, writes, flow]` with `writes` as
    /// `[lane, [place, old, bits], ...]` and `flow` as `[first lane, letters, stack]`.
    #[must_use]
    pub fn page_data(&self) -> Value {
        let mut places: Vec<String> = Vec::new();
        let mut known: HashMap<Place, usize> = HashMap::new();
        let mut number_of = |place: Place| {
            *known.entry(place).or_insert_with(|| {
                places.push(place.to_string());
                places.len() - 1
            })
        };
        let mut first: HashMap<(u16, usize), u32> = HashMap::new();
        let mut steps: Vec<Value> = Vec::with_capacity(self.steps.len());
        for Step { time, event } in &self.steps {
            let mut writes = Vec::new();
            for lane in &event.lanes {
                let mut of: Vec<Value> = vec![lane.lane.into()];
                for read in lane.reads.iter().filter(|r| !r.place.is_constant() && !r.place.is_memory()) {
                    first.entry((read.lane, number_of(read.place))).or_insert(read.bits);
                }
                for write in lane.writes.iter().filter(|w| !w.place.is_memory()) {
                    let place = number_of(write.place);
                    first.entry((lane.lane, place)).or_insert(write.old);
                    of.push(json!([place, write.old, write.bits]));
                }
                if of.len() > 1 {
                    writes.push(Value::from(of));
                }
            }
            let executing: Vec<usize> = event.executing.iter().collect();
            let flow = event.flow.as_ref().map(|flow| {
                let letters: String =
                    flow.lanes.iter().map(|of| if of.covered { of.state.letter() } else { '.' }).collect();
                let stack: Vec<String> = flow.stack.iter().map(ToString::to_string).collect();
                json!([flow.first_lane, letters, stack])
            });
            let line = self.listing.line(event.at).unwrap_or(0);
            steps.push(json!([time, line, event.at.to_string(), executing, writes, flow]));
        }
        let start: Vec<Value> = first.into_iter().map(|((lane, place), bits)| json!([lane, place, bits])).collect();
        let lines: Vec<&str> = self.listing.lines.iter().map(|line| line.text.as_str()).collect();
        json!({
            "title": self.title(),
            "isa": isa_name(self.isa),
            "name": self.listing.name,
            "lines": lines,
            "lane": self.lane,
            "positions": self.positions.iter().map(|p| [p.i, p.j]).collect::<Vec<_>>(),
            "places": places,
            "start": start,
            "steps": steps,
            "fault": self.fault.as_ref().map(ToString::to_string),
            "cut": self.cut,
        })
    }
}

/// An instruction's changes of stacks and of the lanes' states.
fn flow_text(out: &mut String, before: &Flow, now: &Flow, lanes: &Lanes) {
    if before.stack != now.stack {
        let stack: Vec<String> = now.stack.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "{:22}stack: {}", "", if stack.is_empty() { "empty".into() } else { stack.join(", ") });
    }
    for lane in lanes.iter() {
        if let (Some(before), Some(now)) = (before.lane(lane), now.lane(lane))
            && before != now
        {
            let covered = if now.covered { "" } else { ", not covered" };
            let _ = writeln!(out, "{:22}lane {lane}: {} -> {}{covered}", "", before.state, now.state);
        }
    }
}

/// `x1k` or `r700`.
#[must_use]
pub const fn isa_name(isa: WatchedIsa) -> &'static str {
    match isa {
        WatchedIsa::X1k => "x1k",
        WatchedIsa::R700 => "r700",
    }
}

/// The state of flow control as JSON.
#[must_use]
pub fn flow_json(flow: &Flow) -> Value {
    let lanes: Vec<Value> =
        flow.lanes.iter().map(|of| json!({"state": of.state.to_string(), "covered": of.covered})).collect();
    json!({
        "first_lane": flow.first_lane,
        "lanes": lanes,
        "stack": flow.stack.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "next": flow.next,
    })
}
