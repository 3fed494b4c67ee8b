//! The keys of a draw job as flags: one row each, and how their values become values of the tree.
//!
//! Flags about a draw go to every `[[draw]]` of a job, or to the top where it has none; so they override the file.

use crate::job::Reader;
use crate::job::flags::{pairs, scalar_or_list};
use crate::job::names::text_of_name;
use crate::job::tree::{Origin, PlacedValue, Table, Value};
use std::ffi::OsStr;
use std::path::PathBuf;

/// One flag of `ctm draw`.
#[derive(Clone, Copy, Debug)]
pub struct DrawFlag {
    /// Its name without the dashes.
    pub name: &'static str,
    /// The value after it; empty for switches.
    pub value: &'static str,
    /// Its text in the help.
    pub summary: &'static str,
    /// Whether it may be given several times.
    pub many: bool,
    way: FlagTarget,
}

impl DrawFlag {
    /// Whether it only says where a result goes.
    #[must_use]
    pub const fn saves(&self) -> bool {
        matches!(self.way, FlagTarget::Depth)
    }
}

/// How a flag becomes values of the tree.
#[derive(Clone, Copy, Debug)]
enum FlagTarget {
    /// `key` at the top: the picture's.
    Picture(&'static str),
    /// `WxH` as `size`.
    Size,
    /// Of the first target.
    Clear,
    /// Where depths go.
    Depth,
    /// `run.key`.
    Run(&'static str),
    /// `run.key` is true.
    RunSwitch(&'static str),
    /// `key` of each draw.
    Draw(&'static str),
    /// `key` of each draw: two files.
    Pair(&'static str),
    /// No depth test, and no depth is written.
    NoDepth,
    /// `NAME=value` into a table of each draw.
    Entry(&'static str),
    /// `NAME=FILE[:key=value]...` as an element of a list of each draw, in place of one of the same name.
    Named(&'static str),
    /// `NAME[:key=value]...` the same.
    Camera,
}

const fn flag(name: &'static str, value: &'static str, many: bool, way: FlagTarget, summary: &'static str) -> DrawFlag {
    DrawFlag { name, value, summary, many, way }
}

/// All flags that say the same as keys of a draw job.
#[rustfmt::skip]
pub const DRAW_FLAGS: &[DrawFlag] = &[
    flag("mesh",   "NAME", false, FlagTarget::Draw("mesh"), "triangle, quad, grid, cube, sphere, torus, or a file (.obj, .gltf, .glb, .npy) [default: quad]"),
    flag("glsl",   "VERTEX,FRAGMENT", false, FlagTarget::Pair("glsl"), "The shaders that the programs were compiled from; `why`, `trace` and `debug` name their lines"),
    flag("size",   "WxH",  false, FlagTarget::Size, "Columns and rows [default: 256x256]"),
    flag("samples", "N",   false, FlagTarget::Picture("samples"), "Samples of a pixel: 1, 2, 4 or 8 [default: 1]"),
    flag("in",     "NAME=FILE[:KEY=VALUE]...", true, FlagTarget::Named("texture"),
         "A texture: `Texture=photo.png`, `t0=noise.dds:filter=nearest:wrap=clamp:mip=linear:aniso=8`"),
    flag("const",  "NAME=NUMBERS", true, FlagTarget::Entry("constants"),
         "Constants, four numbers each: `tint=1,0,0,1`, `c3=...`, `cb0[2]=...`, `ps:c0=...`; `weights[3]=...` is one element of an array"),
    flag("buffer", "NAME=FILE", true, FlagTarget::Named("buffer"),
         "A uniform block, a constant buffer or an attribute from an array: `Bones=bones.npy`, `cb1=lights.npy`, `weight=weights.npy`"),
    flag("camera", "NAME[:KEY=VALUE]...", true, FlagTarget::Camera,
         "The matrix of a viewer goes to these constants: `mvp`, `c0:eye=0,1,4:at=0,0,0:fov=45:turn=20,30,0:spin=0,360,0:rows`, `V:matrix=view`; to others by their usual names: model, view, projection, normalMatrix"),
    flag("attribute", "NAME=CHANNEL", true, FlagTarget::Entry("attributes"), "The source of an attribute, by name or location: position, normal, texcoord, colour, joints, weights, morph0 ..., morph_normal0 ..."),
    flag("clear",  "R,G,B,A", false, FlagTarget::Clear, "The colour before the first draw, four numbers"),
    flag("instances", "N", false, FlagTarget::Draw("instances"), "How often the mesh is drawn"),
    flag("cull",   "FACE", false, FlagTarget::Draw("cull"), "Faces that are not drawn: none, front or back; front faces are counter-clockwise"),
    flag("no-depth", "",   false, FlagTarget::NoDepth, "Farther pixels are drawn over nearer ones"),
    flag("blend",  "WAY",  false, FlagTarget::Draw("blend"), "Blending of colours: none, alpha, premultiplied, add or multiply"),
    flag("depth",  "FILE", false, FlagTarget::Depth, "Where the depths go, as .npy or .pfm"),
    flag("engine", "NAME", false, FlagTarget::Run("engine"), "The engine: jit, interp or verify"),
    flag("threads", "N",   false, FlagTarget::Run("threads"), "1: one thread; otherwise all cores"),
    flag("budget-seconds", "SECONDS", false, FlagTarget::Run("budget_seconds"), "Wall time of each draw, in seconds; a longer draw ends with a fault"),
    flag("check",  "",     false, FlagTarget::RunSwitch("check"), "Check for mismatches, and for legal but suspicious behaviour of programs"),
];

const fn node(value: Value, origin: Origin) -> PlacedValue {
    PlacedValue { value, origin }
}

fn word(text: &str, origin: Origin) -> PlacedValue {
    node(Value::String(text.to_owned()), origin)
}

/// The tables of a draw job that its draws are read from: each `[[draw]]`, or the top.
fn draws(root: &mut Table, mut each: impl FnMut(&mut Table)) {
    let Some(Value::Array(list)) = root.entries.iter_mut().find(|e| e.key == "draw").map(|e| &mut e.node.value) else {
        return each(root);
    };
    for node in list {
        if let Value::Table(table) = &mut node.value {
            each(table);
        }
    }
}

/// Puts a table into a list of tables, in place of one whose `key` is the same.
fn element(table: &mut Table, list: &str, key: &str, new: Table, origin: Origin) {
    let list = table.list(list, origin);
    let name = |table: &Table| match table.get(key).map(|node| &node.value) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let wanted = name(&new);
    list.retain(|node| !matches!(&node.value, Value::Table(table) if name(table) == wanted));
    list.push(node(Value::Table(new), origin));
}

/// A name with its prefix `vs:` or `ps:`, and the rest after the next colon.
fn prefixed(text: &str) -> (&str, &str) {
    let prefix = if text.starts_with("vs:") || text.starts_with("ps:") { 3 } else { 0 };
    let end = text[prefix..].find(':').map_or(text.len(), |at| prefix + at);
    (&text[..end], text[end..].trim_start_matches(':'))
}

/// `FILE:key=value...` at the first colon that a key follows.
fn file_and_options(text: &str) -> (&str, &str) {
    let is_key = |rest: &str| {
        let key = rest.split(['=', ':']).next().unwrap_or("");
        !key.is_empty()
            && rest[key.len()..].starts_with('=')
            && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let colon = text.match_indices(':').map(|(at, _)| at).find(|&at| is_key(&text[at + 1..]));
    colon.map_or((text, ""), |at| (&text[..at], &text[at + 1..]))
}

impl DrawFlag {
    fn apply(&self, root: &mut Table, text: &str, origin: Origin) -> Result<(), String> {
        let form = || format!("`--{}` takes {}", self.name, self.value);
        match self.way {
            FlagTarget::Picture(key) => root.set(key, scalar_or_list(text, origin)),
            FlagTarget::Size => {
                let (columns, rows) = text.split_once(['x', 'X']).ok_or_else(form)?;
                let side =
                    |side: &str| side.trim().parse().map(|n| node(Value::Integer(n), origin)).map_err(|_| form());
                root.set("size", node(Value::Array(vec![side(columns)?, side(rows)?]), origin));
            }
            FlagTarget::Clear => {
                let targets = root.list("target", origin);
                if targets.is_empty() {
                    targets.push(node(Value::Table(Table::default()), origin));
                }
                if let Some(PlacedValue { value: Value::Table(first), .. }) = targets.first_mut() {
                    first.set("clear", scalar_or_list(text, origin));
                }
            }
            FlagTarget::Depth => root.table("depth", origin).set("save", word(text, origin)),
            FlagTarget::Run(key) => root.table("run", origin).set(key, scalar_or_list(text, origin)),
            FlagTarget::RunSwitch(key) => root.table("run", origin).set(key, node(Value::Boolean(true), origin)),
            FlagTarget::Draw("instances") => draws(root, |draw| draw.set("instances", scalar_or_list(text, origin))),
            FlagTarget::Draw(key) => draws(root, |draw| draw.set(key, word(text, origin))),
            FlagTarget::Pair(key) => {
                let (first, second) = text.split_once(',').ok_or_else(form)?;
                let files = [first, second].map(|file| word(file.trim(), origin)).to_vec();
                draws(root, |draw| draw.set(key, node(Value::Array(files.clone()), origin)));
            }
            FlagTarget::NoDepth => draws(root, |draw| {
                draw.set("depth_test", word("none", origin));
                draw.set("depth_write", node(Value::Boolean(false), origin));
            }),
            FlagTarget::Entry(section) => {
                let (name, value) = text.split_once('=').ok_or_else(form)?;
                let value = match section {
                    "constants" => scalar_or_list(value, origin),
                    _ => word(value, origin),
                };
                draws(root, |draw| draw.table(section, origin).set(name.trim(), value.clone()));
            }
            FlagTarget::Named(section) => {
                let (name, rest) = text.split_once('=').ok_or_else(form)?;
                let (file, options) = file_and_options(rest);
                let mut new = Table::default();
                new.set("name", word(name.trim(), origin));
                new.set("data", word(file, origin));
                pairs(&mut new, &options.replace("aniso=", "anisotropy="), origin).map_err(|()| form())?;
                draws(root, |draw| element(draw, section, "name", new.clone(), origin));
            }
            FlagTarget::Camera => {
                let (name, options) = prefixed(text);
                let mut new = Table::default();
                new.set("constant", word(name, origin));
                pairs(&mut new, options, origin).map_err(|()| form())?;
                draws(root, |draw| element(draw, "camera", "constant", new.clone(), origin));
            }
        }
        Ok(())
    }
}

impl Reader {
    /// Begins a draw job with programs alone; [`Self::draw_flag`] says the rest.
    ///
    /// ```
    /// use ctm::Drawing;
    /// use ctm::job::Reader;
    ///
    /// let mut reader = Reader::for_draw(&["cube.vsh".into(), "cube.psh".into()]);
    /// reader.draw_flag("mesh", "cube");
    /// reader.draw_flag("camera", "mvp:fov=45");
    /// reader.draw_flag("const", "tint=1,0,0,1");
    /// let drawing = Drawing::from_reader(reader)?;
    /// assert_eq!((drawing.draws[0].cameras[0].1.fov, drawing.draws[0].constants.len()), (45.0, 1));
    /// # Ok::<(), ctm::JobError>(())
    /// ```
    #[must_use]
    pub fn for_draw(programs: &[PathBuf]) -> Self {
        let mut reader = Self::empty();
        let list = programs.iter().map(|path| {
            let name = text_of_name(path.as_os_str());
            let origin = reader.flag_text(name.clone());
            word(&name, origin)
        });
        let list: Vec<PlacedValue> = list.collect();
        let origin = list.first().map_or(Origin::Flag(0), |node| node.origin);
        reader.tree_mut().root.set("programs", node(Value::Array(list), origin));
        reader
    }

    /// Adds a flag of [`DRAW_FLAGS`] with its value (empty for switches) to a draw job. Its errors are reported when the job is read.
    pub fn draw_flag(&mut self, name: &str, value: &str) {
        let Some(flag) = DRAW_FLAGS.iter().find(|flag| flag.name == name) else {
            self.error(Origin::Flag(0), "unknown-flag", format!("there is no flag `--{name}` of draws"));
            return;
        };
        let shown = if flag.value.is_empty() { format!("--{name}") } else { format!("--{name} {value}") };
        let origin = self.flag_text(shown);
        if let Err(message) = flag.apply(&mut self.tree_mut().root, value, origin) {
            self.error(origin, "bad-flag", message);
        }
    }

    /// As [`Self::draw_flag`]; file names in the value need not be text.
    pub fn draw_flag_os(&mut self, name: &str, value: &OsStr) {
        self.draw_flag(name, &text_of_name(value));
    }
}
