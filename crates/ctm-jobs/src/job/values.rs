//! Tables and values of the tree into a job's values; each function reports its errors and returns `None` then.

use super::keys::{self, For, Section};
use super::names::name_of_text;
use super::read::Reader;
use super::slots::{BEYOND, SINGLE, Slots, hex, is_beyond, is_name, register_number, single};
use super::tree::{Origin, PlacedValue, Table, Value};
use crate::job::frames::Varying;
use crate::job::located::{Data, Located};
use ctm_exec::Domain;
use ctm_files::load::Isa;
use ctm_isa::diag::Diagnostic;
use ctm_isa::suggest::closest;
use ctm_launch::Ref;
use std::path::PathBuf;
use std::time::Duration;

impl Reader {
    pub(crate) fn section<'t>(&mut self, node: &'t PlacedValue, section: &Section) -> Option<&'t Table> {
        match &node.value {
            Value::Table(table) => {
                self.known_keys(table, section);
                Some(table)
            }
            other => {
                let message = format!("{} is {}, it must be a table", section.name, other.kind());
                self.error(node.origin, "bad-type", message);
                None
            }
        }
    }

    pub(crate) fn known_keys(&mut self, table: &Table, section: &Section) {
        for entry in &table.entries {
            let Some(key) = section.keys.iter().find(|k| k.name == entry.key) else {
                let mut diagnostic =
                    Diagnostic::error("unknown-key", format!("{} has no key `{}`", section.name, entry.key));
                let names = section.keys.iter().map(|k| k.name);
                diagnostic = match closest(&entry.key, names.clone()) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => {
                        let home = keys::SECTIONS.iter().find(|s| s.keys.iter().any(|k| k.name == entry.key));
                        match home {
                            Some(home) => diagnostic.help(format!("`{}` is a key of {}", entry.key, home.name)),
                            None => diagnostic.help(format!("its keys are {}", names.collect::<Vec<_>>().join(", "))),
                        }
                    }
                };
                self.push(entry.origin, diagnostic);
                continue;
            };
            let wrong = match (key.isa, self.isa) {
                (For::R700, None | Some(Isa::X1k)) => Some(("an R700", "an X1K")),
                (For::X1k, Some(Isa::R700)) => Some(("an X1K", "an R700")),
                _ => None,
            };
            if let Some((of, is)) = wrong {
                let message = format!("`{}` is a key of {of} job ({}), and this is {is} job", key.name, key.summary);
                self.error(entry.origin, "wrong-isa", message);
            }
        }
    }

    /// The elements of a list of tables.
    pub(crate) fn tables<'t>(&mut self, table: &'t Table, key: &str) -> Vec<&'t PlacedValue> {
        match table.get(key) {
            None => Vec::new(),
            Some(PlacedValue { value: Value::Array(list), .. }) => list.iter().collect(),
            Some(node) => {
                let message = format!("`{key}` is {}, it must be a list of tables: [[{key}]]", node.value.kind());
                self.error(node.origin, "bad-type", message);
                Vec::new()
            }
        }
    }

    pub(crate) fn required<'t>(
        &mut self,
        node: &PlacedValue,
        table: &'t Table,
        key: &str,
        what: &str,
    ) -> Option<&'t PlacedValue> {
        let found = table.get(key);
        if found.is_none() {
            self.error(node.origin, "missing-key", format!("{what} has no `{key}`"));
        }
        found
    }

    pub(crate) fn wrong_kind(&mut self, key: &str, node: &PlacedValue, allowed: &str) {
        self.error(node.origin, "bad-type", format!("`{key}` is {}, it must be {allowed}", node.value.kind()));
    }

    pub(crate) fn string(&mut self, key: &str, node: &PlacedValue) -> Option<String> {
        match &node.value {
            Value::String(s) => Some(s.clone()),
            // A flag's bare word may look like a number.
            Value::Integer(n) if matches!(node.origin, Origin::Flag(_)) => Some(n.to_string()),
            _ => {
                self.wrong_kind(key, node, "a string");
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, key: &str, node: &PlacedValue) -> Option<bool> {
        match node.value {
            Value::Boolean(b) => Some(b),
            Value::Integer(n @ (0 | 1)) if matches!(node.origin, Origin::Flag(_)) => Some(n == 1),
            _ => {
                self.wrong_kind(key, node, "true or false");
                None
            }
        }
    }

    /// Paths in the file are relative to it, paths in flags to the current directory.
    pub(crate) fn path(&mut self, key: &str, node: &PlacedValue) -> Option<Located<PathBuf>> {
        let text = self.string(key, node)?;
        if text.is_empty() {
            self.error(node.origin, "bad-value", format!("`{key}` is empty, it must name a file"));
            return None;
        }
        let path = match node.origin {
            Origin::File(_) => self.directory.join(text),
            Origin::Flag(0) if key == "program" && self.given.path.is_some() => {
                self.given.path.clone().unwrap_or_default()
            }
            Origin::Flag(_) => name_of_text(&text),
        };
        self.may_open(key, &path, node.origin).then(|| self.located(path, node.origin))
    }

    /// One file, or several.
    pub(crate) fn paths(&mut self, key: &str, node: &PlacedValue) -> Vec<Located<PathBuf>> {
        match &node.value {
            Value::Array(list) => list.iter().filter_map(|node| self.path(key, node)).collect(),
            _ => self.path(key, node).into_iter().collect(),
        }
    }

    /// A constant that differs from launch to launch: rows of four numbers, one for each, or `{ start, step }`; or, of a `uniform`, any numbers.
    pub(crate) fn varying(&mut self, what: &str, node: &PlacedValue, uniform: bool) -> Option<Varying> {
        match &node.value {
            Value::Array(rows) if rows.first().is_some_and(|row| matches!(row.value, Value::Array(_))) => {
                let rows: Option<Vec<_>> = rows.iter().map(|row| self.four_bits(what, row)).collect();
                rows.map(Varying::Rows)
            }
            Value::Array(numbers) if numbers.len() > 4 && numbers.len().is_multiple_of(4) => {
                let rows = numbers.chunks(4).map(|four| {
                    let row = PlacedValue { value: Value::Array(four.to_vec()), origin: node.origin };
                    self.four_bits(what, &row)
                });
                rows.collect::<Option<Vec<_>>>().map(Varying::Rows)
            }
            // A uniform of a container has as many numbers as its type.
            Value::Array(numbers) if uniform && numbers.len() != 4 && !numbers.is_empty() => {
                numbers.iter().map(|number| self.bits(what, number)).collect::<Option<Vec<_>>>().map(Varying::Numbers)
            }
            Value::Integer(_) | Value::Float(_) if uniform => {
                self.bits(what, node).map(|bits| Varying::Numbers(vec![bits]))
            }
            Value::Table(table) => {
                let [start, step] = ["start", "step"].map(|key| table.get(key));
                let (Some(start), Some(step)) = (start, step) else {
                    let message = format!(
                        "{what} is a table, it must be four numbers, rows of them, or {{ start = [...], step = [...] }}"
                    );
                    self.error(node.origin, "bad-type", message);
                    return None;
                };
                Some(Varying::Line {
                    start: self.doubles("start", start, false)?,
                    step: self.doubles("step", step, false)?,
                })
            }
            _ => None,
        }
    }

    pub(crate) fn data(&mut self, key: &str, node: &PlacedValue) -> Option<Located<Data>> {
        self.path(key, node).map(|path| Located { value: Data::File(path.value), place: path.place })
    }

    pub(crate) fn choice<T: Copy>(&mut self, key: &str, node: &PlacedValue, allowed: &[(&str, T)]) -> Option<T> {
        let text = self.string(key, node)?;
        if let Some((_, value)) = allowed.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
        let mut diagnostic =
            Diagnostic::error("bad-value", format!("`{key}` is \"{text}\", it must be one of {}", names.join(", ")));
        if let Some(near) = closest(&text, names) {
            diagnostic = diagnostic.help(format!("did you mean \"{near}\"?"));
        }
        self.push(node.origin, diagnostic);
        None
    }

    pub(crate) fn integer(
        &mut self,
        key: &str,
        node: &PlacedValue,
        range: std::ops::RangeInclusive<i128>,
    ) -> Option<i128> {
        let value = match &node.value {
            Value::Integer(n) => Some(*n),
            Value::String(s) => hex(s).map(i128::from),
            _ => None,
        };
        let Some(value) = value else {
            self.wrong_kind(key, node, "an integer");
            return None;
        };
        if !range.contains(&value) {
            let shown = if value == i128::MAX { "too large".to_owned() } else { value.to_string() };
            let message = format!("`{key}` is {shown}, it must be {} to {}", range.start(), range.end());
            self.error(node.origin, "bad-value", message);
            return None;
        }
        Some(value)
    }

    pub(crate) fn repeat(&mut self, node: &PlacedValue) -> Option<u32> {
        self.integer("repeat", node, 1..=1_000_000).and_then(|n| u32::try_from(n).ok())
    }

    pub(crate) fn number(&mut self, key: &str, node: &PlacedValue) -> Option<f64> {
        match &node.value {
            #[allow(clippy::cast_precision_loss, reason = "rounded once")]
            Value::Integer(n) if *n != i128::MAX => Some(*n as f64),
            Value::Float(f) => Some(*f),
            Value::Integer(_) => {
                self.error(node.origin, "bad-value", format!("`{key}` is too large for a number"));
                None
            }
            Value::String(s) if is_beyond(s) => {
                self.error(node.origin, "bad-value", format!("`{key}` is {s}, which is too large for a number"));
                None
            }
            _ => {
                self.wrong_kind(key, node, "a number");
                None
            }
        }
    }

    /// A single-precision number, rounded once.
    pub(crate) fn real(&mut self, key: &str, node: &PlacedValue) -> Option<f32> {
        let value = self.number(key, node)?;
        let single = single(value);
        if single.is_none() {
            self.error(node.origin, "bad-value", format!("`{key}` is {value:e}, {SINGLE}"));
        }
        single
    }

    /// A time in seconds; 0: no limit.
    pub(crate) fn seconds(&mut self, key: &str, node: &PlacedValue) -> Option<Option<Duration>> {
        let value = self.number(key, node)?;
        match Duration::try_from_secs_f64(value) {
            Ok(time) => Some((!time.is_zero()).then_some(time)),
            Err(_) => {
                let message = format!("`{key}` is {value}, it must be a number of seconds, 0 for no limit");
                self.error(node.origin, "bad-value", message);
                None
            }
        }
    }

    /// The bits of a single-precision number: a number, rounded once, or a string with a bit pattern.
    pub(crate) fn bits(&mut self, what: &str, node: &PlacedValue) -> Option<u32> {
        match &node.value {
            #[allow(clippy::cast_precision_loss, reason = "rounded once")]
            Value::Integer(n) if *n != i128::MAX => Some((*n as f32).to_bits()),
            Value::Float(f) if let Some(value) = single(*f) => Some(value.to_bits()),
            Value::String(s) if hex(s).is_some() => hex(s),
            Value::Float(_) | Value::Integer(_) => {
                let shown = if let Value::Float(f) = node.value { format!("{f:e}") } else { "an integer".to_owned() };
                self.error(node.origin, "bad-value", format!("{what} has {shown}, {SINGLE}"));
                None
            }
            Value::String(s) if is_beyond(s) => {
                self.error(node.origin, "bad-value", format!("{what} has {s}, {SINGLE}"));
                None
            }
            Value::String(s) => {
                let message = format!("{what} has \"{s}\", a bit pattern is written \"0x3F800000\"");
                self.error(node.origin, "bad-value", message);
                None
            }
            other => {
                let message =
                    format!("{what} has {}, it must be a number or a bit pattern \"0x3F800000\"", other.kind());
                self.error(node.origin, "bad-type", message);
                None
            }
        }
    }

    pub(crate) fn four<'t>(&mut self, what: &str, node: &'t PlacedValue) -> Option<&'t [PlacedValue; 4]> {
        if let Value::Array(list) = &node.value
            && let Ok(four) = <&[PlacedValue; 4]>::try_from(list.as_slice())
        {
            return Some(four);
        }
        let found = match &node.value {
            Value::Array(list) => format!("a list of {}", list.len()),
            other => other.kind().to_owned(),
        };
        self.error(node.origin, "bad-value", format!("{what} is {found}, it must have four numbers r, g, b, a"));
        None
    }

    pub(crate) fn four_bits(&mut self, what: &str, node: &PlacedValue) -> Option<[u32; 4]> {
        let [r, g, b, a] = self.four(what, node)?;
        let [r, g, b, a] = [r, g, b, a].map(|n| self.bits(what, n));
        Some([r?, g?, b?, a?])
    }

    /// Four numbers in double precision; a bit pattern is the integer or the single-precision number that it is.
    pub(crate) fn doubles(&mut self, key: &str, node: &PlacedValue, bits: bool) -> Option<[f64; 4]> {
        let [r, g, b, a] = self.four(&format!("`{key}`"), node)?;
        let [r, g, b, a] = [r, g, b, a].map(|n| match &n.value {
            Value::String(s) if hex(s).is_some() => {
                hex(s).map(|word| if bits { f64::from(word) } else { f64::from(f32::from_bits(word)) })
            }
            _ => self.number(key, n),
        });
        Some([r?, g?, b?, a?])
    }

    /// A slot by number (`0`, `s0`) or by the program's name for it. A register of another kind is taken for a name, which few programs have.
    pub(crate) fn slot(&mut self, key: &str, node: &PlacedValue, slots: Slots) -> Option<Ref> {
        let Slots { limit, what, letters } = slots;
        let number = match &node.value {
            Value::Integer(n) => *n,
            Value::String(s) => match register_number(s, letters) {
                Some(n) => n,
                None if is_name(s) => return Some(Ref::Name(s.clone())),
                None => {
                    self.error(
                        node.origin,
                        "bad-value",
                        format!("`{key}` is \"{s}\", it must be a number 0 to {} or a name of the program", limit - 1),
                    );
                    return None;
                }
            },
            _ => {
                self.wrong_kind(key, node, &format!("a number 0 to {} or a name of the program", limit - 1));
                return None;
            }
        };
        match u8::try_from(number) {
            Ok(n) if usize::from(n) < limit => Some(Ref::Index(n)),
            _ => {
                self.error(node.origin, "bad-value", format!("`{key}` is {number}, {what} are 0 to {}", limit - 1));
                None
            }
        }
    }

    /// A column or row of the domain: at most 4095, as in the device's commands.
    fn index(&mut self, name: &str, node: &PlacedValue) -> Option<i128> {
        if let Value::Integer(n) = node.value
            && n > 4095
        {
            let message = format!("`{name}` is {n}, a launch has columns and rows 0 to 4095");
            self.push(node.origin, Diagnostic::error("bad-value", message).help(BEYOND));
            return None;
        }
        self.integer(name, node, 0..=4095)
    }

    pub(crate) fn domain(&mut self, node: &PlacedValue) -> Option<Domain> {
        let corners = match &node.value {
            Value::Array(list) if matches!(list.len(), 2 | 4) => list,
            _ => {
                let message =
                    "`domain` must be four integers i0, j0, i1, j1, inclusive, or two, i0 and i1, for one row";
                self.error(node.origin, "bad-value", message);
                return None;
            }
        };
        let names: &[&str] = if corners.len() == 2 { &["i0", "i1"] } else { &["i0", "j0", "i1", "j1"] };
        let mut out = Vec::with_capacity(4);
        for (name, node) in names.iter().zip(corners) {
            out.push(u32::try_from(self.index(name, node)?).ok()?);
        }
        let (i0, j0, i1, j1) = match *out {
            [i0, i1] => (i0, 0, i1, 0),
            [i0, j0, i1, j1] => (i0, j0, i1, j1),
            _ => return None,
        };
        if i1 < i0 || j1 < j0 {
            self.error(node.origin, "bad-value", format!(
                "the domain [{i0}, {j0}, {i1}, {j1}] is empty: it is i0, j0, i1, j1, inclusive, and i1 >= i0, j1 >= j0"
            ));
            return None;
        }
        Some(Domain { i0, j0, i1, j1 })
    }

    pub(crate) fn size(&mut self, node: &PlacedValue) -> Option<[u32; 2]> {
        match &node.value {
            Value::Array(list) if list.len() == 2 => {
                let w = self.integer("size", &list[0], 1..=4096)?;
                let h = self.integer("size", &list[1], 1..=4096)?;
                Some([u32::try_from(w).ok()?, u32::try_from(h).ok()?])
            }
            _ => {
                self.wrong_kind("size", node, "[columns, rows]");
                None
            }
        }
    }
}
