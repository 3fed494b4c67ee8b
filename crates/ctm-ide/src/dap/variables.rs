//! The state of a lane, by scope.

use crate::debugger::Debugger;
use ctm::trace::number;
use ctm::trace::observe::{Place, WatchedIsa};
use ctm_exec::r700::Target;
use serde_json::{Value, json};

/// A value of a lane with parts.
#[derive(Clone, Debug)]
pub(super) enum VariableGroup {
    /// Registers, each with its channels: the name, and the places.
    Registers(Vec<(String, Vec<Place>)>),
    /// Single places.
    Places(Vec<Place>),
    /// The reads and writes of the next instruction.
    Instruction,
    /// The state of flow control.
    Flow,
    /// Every lane of the group and why it runs or not.
    Lanes,
}

/// A scope: its name and its variables.
pub(super) type Scope = (&'static str, VariableGroup);

fn register(name: String, make: impl Fn(u8) -> Place) -> (String, Vec<Place>) {
    (name, (0..4).map(make).collect())
}

/// The scopes of a program; `registers` is how many of them there are.
pub(super) fn scopes(isa: WatchedIsa, registers: u8, constants: &[u8]) -> Vec<Scope> {
    match isa {
        WatchedIsa::X1k => vec![
            ("Next instruction", VariableGroup::Instruction),
            (
                "Temporaries",
                VariableGroup::Registers(
                    (0..registers).map(|n| register(format!("r{n}"), |c| Place::Temp(n, c))).collect(),
                ),
            ),
            (
                "Outputs",
                VariableGroup::Registers((0..4).map(|n| register(format!("o{n}"), |c| Place::Output(n, c))).collect()),
            ),
            (
                "Predicates and results",
                VariableGroup::Places(
                    (0..4)
                        .map(Place::Predicate)
                        .chain([Place::AluResult, Place::ConditionalValue, Place::Covered])
                        .collect(),
                ),
            ),
            (
                "Constants",
                VariableGroup::Registers(
                    constants.iter().map(|&n| register(format!("c{n}"), |c| Place::Constant(n, c))).collect(),
                ),
            ),
            ("Flow control", VariableGroup::Flow),
            ("Lanes", VariableGroup::Lanes),
        ],
        WatchedIsa::R700 => {
            let pixel = |n: u8| register(format!("PIX{n}"), move |c| Place::Export(Target::Pixel(n), c));
            let position = |n: u8| register(format!("POS{n}"), move |c| Place::Export(Target::Position(n), c));
            let parameter = |n: u8| register(format!("PARAM{n}"), move |c| Place::Export(Target::Parameter(n), c));
            let exports = (0..8).map(pixel).chain((0..4).map(position)).chain((0..8).map(parameter));
            let of_clause = (0..4).map(Place::Pv).chain([Place::Ps]).chain((0..4).map(Place::Ar));
            let masks = [Place::ClausePredicate, Place::Execute, Place::Killed, Place::Valid];
            vec![
                ("Next instruction", VariableGroup::Instruction),
                (
                    "Registers",
                    VariableGroup::Registers(
                        (0..registers).map(|n| register(format!("R{n}"), |c| Place::Gpr(n, c))).collect(),
                    ),
                ),
                ("Previous results and address register", VariableGroup::Places(of_clause.collect())),
                ("Predicates", VariableGroup::Places(masks.to_vec())),
                ("Exports", VariableGroup::Registers(exports.collect())),
                (
                    "Constants",
                    VariableGroup::Registers(
                        constants
                            .iter()
                            .map(|&n| register(format!("C{n}"), |c| Place::ConstantFile(u16::from(n), c)))
                            .collect(),
                    ),
                ),
                ("Flow control", VariableGroup::Flow),
                ("Lanes", VariableGroup::Lanes),
            ]
        }
    }
}

/// A value as the adapter shows it.
pub(super) fn shown(place: Place, bits: Option<u32>, hex: bool) -> String {
    match bits {
        Some(bits) if hex => format!("0x{bits:08x}"),
        _ => crate::debugger::shown(place, bits),
    }
}

/// One variable; `reference` requests its parts, 0 without any.
fn variable(name: &str, value: String, evaluate: Option<&str>, reference: usize) -> Value {
    json!({ "name": name, "value": value, "evaluateName": evaluate, "variablesReference": reference })
}

/// The parts of a group. `open` gives numbers to groups that are parts themselves.
pub(super) fn parts(
    debugger: &mut Debugger<'_, '_>,
    lane: usize,
    group: &VariableGroup,
    hex: bool,
    open: &mut dyn FnMut(VariableGroup) -> usize,
) -> Vec<Value> {
    // Values inside a clause want the next instruction to be known.
    let upcoming = debugger.session.upcoming().cloned();
    let session = &debugger.session;
    match group {
        VariableGroup::Registers(registers) => {
            let mut found = Vec::new();
            for (name, places) in registers {
                let bits: Vec<Option<u32>> = places.iter().map(|&place| session.value(lane, place)).collect();
                if bits.iter().all(Option::is_none) {
                    continue;
                }
                let text: Vec<String> = bits
                    .iter()
                    .map(|bits| match bits {
                        None => "-".into(),
                        Some(bits) if hex => format!("0x{bits:08x}"),
                        Some(bits) => number(*bits),
                    })
                    .collect();
                let reference = open(VariableGroup::Places(places.clone()));
                found.push(variable(name, format!("({})", text.join(", ")), Some(name), reference));
            }
            found
        }
        VariableGroup::Places(places) => {
            let held = places.iter().filter_map(|&place| session.value(lane, place).map(|bits| (place, bits)));
            held.map(|(place, bits)| {
                let name = place.to_string();
                variable(&name, shown(place, Some(bits), hex), Some(&name), 0)
            })
            .collect()
        }
        VariableGroup::Instruction => {
            let Some(event) = upcoming else { return Vec::new() };
            let text = debugger.listing.text(event.at).to_owned();
            let mut found = vec![variable("text", text, None, 0)];
            let Some(of) = event.lanes.iter().find(|of| usize::from(of.lane) == lane) else {
                found.push(variable("this lane", "does not execute it".into(), None, 0));
                return found;
            };
            for read in &of.reads {
                let whose =
                    if usize::from(read.lane) == lane { String::new() } else { format!(" of lane {}", read.lane) };
                let name = format!("reads {}{whose}", read.place);
                found.push(variable(&name, shown(read.place, Some(read.bits), hex), None, 0));
            }
            for write in &of.writes {
                let name = format!("writes {}", write.place);
                let (old, new) = (shown(write.place, Some(write.old), hex), shown(write.place, Some(write.bits), hex));
                found.push(variable(&name, format!("{new}, was {old}"), None, 0));
            }
            found
        }
        VariableGroup::Flow => {
            let flow = session.flow(session.wave_of(lane));
            let state = flow.lane(lane);
            let mut found = vec![
                variable("lane", state.map_or("-".into(), |of| of.state.to_string()), None, 0),
                variable("covered", state.is_some_and(|of| of.covered).to_string(), None, 0),
                variable("time", session.time().to_string(), None, 0),
            ];
            for (depth, frame) in flow.stack.iter().enumerate() {
                found.push(variable(&format!("stack {depth}"), frame.to_string(), None, 0));
            }
            found
        }
        VariableGroup::Lanes => {
            let flow = session.flow(session.wave_of(lane));
            let first = usize::from(flow.first_lane);
            let of = |(n, of): (usize, &ctm::trace::observe::LaneFlow)| {
                let at = session.positions().get(first + n).copied().unwrap_or_default();
                let covered = if of.covered { "" } else { ", not covered" };
                variable(&format!("lane {} ({}, {})", first + n, at.i, at.j), format!("{}{covered}", of.state), None, 0)
            };
            flow.lanes.iter().enumerate().map(of).collect()
        }
    }
}
