//! The keys of a job as flags: one row each, and how their values become values of the tree.

use super::slots::{BEYOND, Slots, is_beyond, register_number};
use super::tree::{NOT_BUILT, Origin, PlacedValue, Table, Tree, Value};

/// One flag of `ctm run`.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name without the dashes.
    pub name: &'static str,
    /// The value after it; empty for switches.
    pub value: &'static str,
    /// Its text in the help.
    pub summary: &'static str,
    /// Whether it may be given several times.
    pub many: bool,
    way: Way,
}

/// How a flag becomes a value of the tree.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Sets `section.key` (or `key` at the top) to the value.
    Key(&'static str, &'static str),
    /// Sets `section.key` to true.
    Switch(&'static str, &'static str),
    /// `WxH`.
    Size,
    /// `i0,j0,i1,j1`.
    Domain,
    /// `key=value,key=value` into a section.
    Pairs(&'static str),
    /// `NAME=value` into `constants.KIND`.
    Constant(&'static str),
    /// `NAME=value` into a table.
    Entry(&'static str),
    /// `NAME=MAIN[:key=value]...` or `NAME:key=value...` into the element of `section` whose `slot` it is: (section, key of the slot, key of MAIN).
    Element(&'static str, &'static str, &'static str),
    /// `key.key=value` in TOML's words.
    Set,
}

const fn flag(name: &'static str, value: &'static str, many: bool, way: Way, summary: &'static str) -> Flag {
    Flag { name, value, summary, many, way }
}

/// All flags that say the same as a key of the job file.
#[rustfmt::skip]
pub const FLAGS: &[Flag] = &[
    flag("size",   "WxH|W",       false, Way::Size,   "The domain from (0, 0): columns and rows; one number: one row, whose arrays are saved with one side"),
    flag("domain", "I0,J0,I1,J1", false, Way::Domain, "The domain, inclusive"),
    flag("in",     "NAME=FILE[:KEY=VALUE]...", true, Way::Element("texture", "slot", "data"),
         "An input: `s0=photo.png`, `map=a.npy:filter=linear:wrap=repeat,repeat`, `s1=a.raw:size=64,64:format=float32_4`"),
    flag("out",    "NAME=FILE[:KEY=VALUE]...", true, Way::Element("output", "slot", "save"),
         "An output: `o0=result.png`, `colour=a.npy:clear=0,0,0,1:format=float32_1`, `o0=frame-%03d.png` for each repetition; again for another file"),
    flag("const",  "NAME=R,G,B,A", true, Way::Constant("float"), "A floating-point constant: `c0=1,2,3,4`, `view=0x3F800000,0,0,0`; eight, twelve ... numbers: four for each repetition, or for each column of a matrix that a container (.gsh) declares"),
    flag("int",    "NAME=COUNT,AL,STEP", true, Way::Constant("int"), "An integer constant: `i0=255,0,0`"),
    flag("bool",   "NAME=true|false", true, Way::Constant("bool"), "A boolean constant: `b3=true`"),
    flag("register", "NAME=R,G,B,A[:di=..][:dj=..][:bits]", true, Way::Element("register", "index", "origin"),
         "What a register holds at the start: value at (0, 0), change per column and per row"),
    flag("conditional", "KEY=VALUE[:KEY=VALUE]...", false, Way::Pairs("conditional"),
         "The conditional unit: `test=less:value=0.5:location=pe:buffer=cond.npy:save=out.npy`"),
    flag("program-info", "KEY=VALUE[:KEY=VALUE]...", false, Way::Pairs("program_info"),
         "What bare words do not say: `first=0:last=14:full_flow_control=true`"),
    flag("repeat", "N", false, Way::Key("", "repeat"), "How often all passes run"),
    flag("engine", "NAME", false, Way::Key("run", "engine"), "The engine: jit, interp or verify"),
    flag("threads", "N", false, Way::Key("run", "threads"), "Worker threads; 0: all cores"),
    flag("group", "LANES", false, Way::Key("run", "group"), "Lanes that decide a jump together: a multiple of 4 up to 1024"),
    flag("budget-instructions", "N", false, Way::Key("run", "budget_instructions"), "Instructions that a group may issue; 0: no limit"),
    flag("budget-seconds", "S", false, Way::Key("run", "budget_seconds"), "Wall time that a launch may take; 0: no limit"),
    flag("check", "", false, Way::Switch("run", "check"), "Look for hazards, uninitialised reads, bounds and stale caches while running"),
    flag("stage", "STAGE", false, Way::Key("", "stage"), "R700: vertex, geometry, export, pixel, fetch, copy or compute"),
    flag("program", "NAME", false, Way::Key("", "which"), "R700: the program of a container with several, by number or name"),
    flag("chip", "NAME", false, Way::Key("", "chip"), "R700: rv710, rv730, rv740 or rv770"),
    flag("fetch-program", "FILE", false, Way::Key("", "fetch_program"), "R700: the fetch subroutine that CALL_FS calls"),
    flag("group-threads", "N", false, Way::Key("", "group_threads"), "R700: threads of a group, which share the local data share"),
    flag("global-gprs", "N", false, Way::Key("", "global_gprs"), "R700: SIMD-global registers"),
    flag("semantic", "ID=REGISTER", true, Way::Entry("semantics"), "R700: the register of a semantic number: `3=R2`"),
    flag("constant-buffer", "BANK=FILE[:KEY=VALUE]...", true, Way::Element("constant_buffer", "bank", "data"),
         "R700: a constant buffer: `0=cb0.npy:fetch_resource=0`, `0=1,2,3,4,5,6,7,8`"),
    flag("buffer", "NAME=FILE[:KEY=VALUE]...", true, Way::Element("buffer", "slot", "data"),
         "R700: a buffer of vertex fetches: `b160=vertices.npy:stride_bytes=12`"),
    flag("memory", "KIND=FILE[:KEY=VALUE]...", true, Way::Element("memory", "kind", "data"),
         "R700: a memory: `scatter:size_bytes=65536:save=out.npy`, `ring=in.npy:item_dwords=16`"),
    flag("vertices", "FILE", false, Way::Key("", "vertices"), "R700: where the list of emitted vertices goes"),
    flag("set", "KEY=VALUE", true, Way::Set, "Any key of the job file: `run.group=64`, `pass.0.repeat=10`, `output.0.clear=[0, 0, 0, 1]`"),
];

/// Keys whose values are file names or other bare words, commas and all.
const BARE: [&str; 9] = ["data", "save", "buffer", "program", "name", "mask", "fetch_program", "vertices", "which"];

impl Tree {
    /// Puts a flag's value in its place.
    ///
    /// # Errors
    /// When the text does not have the flag's form; says which it is.
    pub(super) fn apply(&mut self, flag: &Flag, text: &str) -> Result<(), String> {
        let origin = Origin::Flag(self.flags.len());
        self.flags.push(if flag.value.is_empty() {
            format!("--{}", flag.name)
        } else {
            format!("--{} {text}", flag.name)
        });
        let form = || format!("`--{}` takes {}", flag.name, flag.value);
        let node = |value| PlacedValue { value, origin };
        match flag.way {
            Way::Key("", key) => self.root.set(key, value_of(key, text, origin)),
            Way::Key(section, key) => self.root.table(section, origin).set(key, scalar_or_list(text, origin)),
            Way::Switch(section, key) => self.root.table(section, origin).set(key, node(Value::Boolean(true))),
            Way::Size => {
                // One number is a domain of one dimension.
                let (w, h) = text.split_once(['x', 'X']).unwrap_or((text, "1"));
                let number = |t: &str| t.trim().parse::<i64>().ok();
                let side = |t: &str| number(t).filter(|n| (1..=4096).contains(n));
                let (Some(w), Some(h)) = (side(w), side(h)) else {
                    if number(w).is_none() || number(h).is_none() {
                        return Err(form());
                    }
                    let large = [w, h].into_iter().any(|t| number(t).is_some_and(|n| n > 4096));
                    let beyond = if large { format!("; {BEYOND}") } else { String::new() };
                    return Err(format!("the size is `{text}`, columns and rows are 1 to 4096{beyond}"));
                };
                let corner: &[i64] = if text.contains(['x', 'X']) { &[0, 0, w - 1, h - 1] } else { &[0, w - 1] };
                let corner = corner.iter().map(|&n| node(Value::Integer(n.into()))).collect();
                self.root.set("domain", node(Value::Array(corner)));
            }
            Way::Domain => self.root.set("domain", scalar_or_list(text, origin)),
            Way::Pairs(section) => {
                let table = self.root.table(section, origin);
                pairs(table, text, origin).map_err(|_| form())?;
            }
            Way::Constant(kind) => {
                let (name, value) = text.split_once('=').ok_or_else(form)?;
                let table = self.root.table("constants", origin).table(kind, origin);
                table.set(name.trim(), scalar_or_list(value, origin));
            }
            Way::Entry(section) => {
                let (name, value) = text.split_once('=').ok_or_else(form)?;
                self.root.table(section, origin).set(name.trim(), scalar_or_list(value, origin));
            }
            Way::Element(section, slot_key, main_key) => {
                // Without a file the first key follows the name.
                let bare = text.split_once(':').filter(|(name, _)| !name.contains('='));
                let (name, main, options) = match bare {
                    Some((name, options)) => (name, "", options),
                    None => {
                        let (name, rest) = text.split_once('=').ok_or_else(form)?;
                        let (main, options) = split_options(rest);
                        (name, main, options)
                    }
                };
                let slot = scalar(name.trim(), origin);
                let list = self.root.list(section, origin);
                let same = |n: &PlacedValue| match &n.value {
                    Value::Table(t) => t.get(slot_key).is_some_and(|s| same_slot(section, &s.value, &slot.value)),
                    _ => false,
                };
                let at = list.iter().position(same).unwrap_or_else(|| {
                    let mut table = Table::default();
                    table.set(slot_key, slot.clone());
                    list.push(node(Value::Table(table)));
                    list.len() - 1
                });
                if let Value::Table(table) = &mut list[at].value {
                    let main_value = value_of(main_key, main, origin);
                    let earlier = table.get(main_key).filter(|node| matches!(node.origin, Origin::Flag(_)));
                    match (main, earlier, rows_of(main, origin)) {
                        ("", ..) => {}
                        // A repeated flag adds a file.
                        (_, Some(earlier), _) if main_key == "save" => {
                            let mut all = match &earlier.value {
                                Value::Array(list) => list.clone(),
                                _ => vec![earlier.clone()],
                            };
                            all.push(main_value);
                            table.set(main_key, node(Value::Array(all)));
                        }
                        (_, _, Some(rows)) if section == "constant_buffer" => table.set("values", rows),
                        _ => table.set(main_key, main_value),
                    }
                    pairs(table, options, origin).map_err(|_| form())?;
                }
            }
            Way::Set => {
                let (path, value) = text.split_once('=').ok_or_else(form)?;
                let value = toml_value(value.trim(), origin)?;
                set_path(&mut self.root, path.trim(), value, origin)?;
            }
        }
        Ok(())
    }
}

/// `s0` and 0 name the same input.
fn same_slot(section: &str, a: &Value, b: &Value) -> bool {
    let letters: &[char] = match section {
        "texture" => Slots::RESOURCE.letters,
        "output" => Slots::X1K_OUTPUT.letters,
        "register" => Slots::REGISTER.letters,
        "buffer" => Slots::BUFFER.letters,
        _ => &[],
    };
    let canonical = |v: &Value| match v {
        Value::Integer(n) => n.to_string(),
        Value::String(s) => register_number(s, letters).map_or_else(|| s.clone(), |n| n.to_string()),
        _ => String::new(),
    };
    canonical(a) == canonical(b)
}

/// Splits `FILE:key=value:switch` before the first colon that a lower-case key follows: a drive letter or an address does not end a name.
fn split_options(text: &str) -> (&str, &str) {
    let mut at = 0;
    while let Some(colon) = text[at..].find(':').map(|n| n + at) {
        let rest = &text[colon + 1..];
        let end = rest.find([':', '=']).unwrap_or(rest.len());
        let key = &rest[..end];
        let known = super::keys::SECTIONS.iter().any(|s| s.keys.iter().any(|k| k.name == key));
        let key_like = !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if key_like && (known || rest[end..].starts_with('=')) {
            return (&text[..colon], rest);
        }
        at = colon + 1;
    }
    (text, "")
}

/// `key=value:key=value:switch` into a table.
pub(crate) fn pairs(table: &mut Table, text: &str, origin: Origin) -> Result<(), ()> {
    let mut rest = text;
    while !rest.is_empty() {
        let (one, more) = split_options(rest);
        rest = more;
        match one.split_once('=') {
            Some((key, value)) => table.set(key.trim(), value_of(key.trim(), value, origin)),
            None if one.trim().is_empty() => return Err(()),
            None => table.set(one.trim(), PlacedValue { value: Value::Boolean(true), origin }),
        }
    }
    Ok(())
}

/// Numbers, four by four, as rows; `None`: it is something else.
fn rows_of(text: &str, origin: Origin) -> Option<PlacedValue> {
    let Value::Array(list) = scalar_or_list(text, origin).value else { return None };
    let is_number = |n: &PlacedValue| match &n.value {
        Value::Integer(_) | Value::Float(_) => true,
        Value::String(s) => s.starts_with("0x"),
        _ => false,
    };
    let whole = list.len().is_multiple_of(4) && list.iter().all(is_number);
    let rows = list.chunks(4).map(|row| PlacedValue { value: Value::Array(row.to_vec()), origin });
    whole.then(|| PlacedValue { value: Value::Array(rows.collect()), origin })
}

fn value_of(key: &str, text: &str, origin: Origin) -> PlacedValue {
    if BARE.contains(&key) {
        PlacedValue { value: Value::String(text.to_owned()), origin }
    } else {
        scalar_or_list(text, origin)
    }
}

pub(crate) fn scalar_or_list(text: &str, origin: Origin) -> PlacedValue {
    if text.contains(',') {
        let list = text.split(',').map(|part| scalar(part.trim(), origin)).collect();
        PlacedValue { value: Value::Array(list), origin }
    } else {
        scalar(text.trim(), origin)
    }
}

fn scalar(text: &str, origin: Origin) -> PlacedValue {
    let value = match text {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        _ => match (text.parse::<i128>(), text.parse::<f64>()) {
            (Ok(n), _) => Value::Integer(n),
            (_, Ok(f)) if !is_beyond(text) => Value::Float(f),
            _ => Value::String(text.to_owned()),
        },
    };
    PlacedValue { value, origin }
}

/// A value in TOML's words, or a bare word.
fn toml_value(text: &str, origin: Origin) -> Result<PlacedValue, String> {
    let (tree, errors) = Tree::parse(&format!("value = {text}"));
    match (tree.root.get("value"), errors.first()) {
        (Some(node), None) => Ok(relocate(node, origin)),
        (_, Some(error)) if error.rule == NOT_BUILT => Err(error.message.clone()),
        _ => Ok(scalar_or_list(text, origin)),
    }
}

fn relocate(node: &PlacedValue, origin: Origin) -> PlacedValue {
    let value = match &node.value {
        Value::Array(list) => Value::Array(list.iter().map(|n| relocate(n, origin)).collect()),
        Value::Table(table) => {
            let mut out = Table::default();
            for entry in &table.entries {
                out.set(&entry.key, relocate(&entry.node, origin));
            }
            Value::Table(out)
        }
        other => other.clone(),
    };
    PlacedValue { value, origin }
}

/// `pass.0.repeat`: names are keys, numbers after a list's name are its elements, counted from 0.
fn set_path(table: &mut Table, path: &str, value: PlacedValue, origin: Origin) -> Result<(), String> {
    let Some((key, rest)) = path.split_once('.') else {
        table.set(path, value);
        return Ok(());
    };
    let (head, tail) = rest.split_once('.').unwrap_or((rest, ""));
    if let (Ok(index), false) = (head.parse::<usize>(), matches!(key, "float" | "int" | "bool")) {
        let list = table.list(key, origin);
        if index > list.len() {
            return Err(format!("`{key}` has {} elements, element {index} cannot be set", list.len()));
        }
        if index == list.len() {
            list.push(PlacedValue { value: Value::Table(Table::default()), origin });
        }
        return match &mut list[index].value {
            Value::Table(inner) if !tail.is_empty() => set_path(inner, tail, value, origin),
            other => {
                *other = value.value;
                Ok(())
            }
        };
    }
    set_path(table.table(key, origin), rest, value, origin)
}
