//! A whole job made smaller: its keys, domain, numbers, arrays, meshes and programs, as files that run on their own.

use super::files::{JOB, JobFiles, NamedFile, PROGRAMS, extension, program_text, wrong};
use super::tree::{self, PathStep, ValuePath, at_mut, key, node};
use super::{items, narrowed, reduce, textures, thinned};
use ctm_draw::state::Topology;
use ctm_exec::Control;
use ctm_files::FileKind;
use ctm_files::array::Items;
use ctm_files::render::{Report, Source};
use ctm_files::save::scratch;
use ctm_isa::{r700, x1k};
use ctm_jobs::draw::{Drawing, Mesh, TOPOLOGIES};
use ctm_jobs::job::tree::{PlacedValue, Table, Tree, Value};
use ctm_jobs::job::{JobError, Reader, read_file};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files at a test.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// The job file.
    pub job: &'a Path,
    /// The program that the job names last.
    pub program: &'a Path,
}

/// The reduced job.
#[derive(Clone, Debug, Default)]
pub struct Reduced {
    /// The job file.
    pub job: PathBuf,
    /// How often the test was asked.
    pub tries: u64,
    /// Bytes of all files, before and now.
    pub bytes: [u64; 2],
    /// Lines of program texts that are not empty, before and now.
    pub lines: [usize; 2],
}

/// Keys whose numbers choose something, or limit the time of a run.
const CHOICES: [&str; 10] = [
    "slot",
    "index",
    "bank",
    "number",
    "sampler",
    "fetch_resource",
    "threads",
    "group",
    "budget_instructions",
    "budget_seconds",
];
/// Rounds over everything.
const ROUNDS: usize = 4;
/// Tries at emptying parts of one array.
const EMPTYINGS: usize = 200;

/// Makes a job, or a draw job, smaller while a test holds. The directory, which is there and empty, has the files that are left at the end: they need
/// nothing else. When `control` is cancelled these are the smallest so far.
///
/// The test runs with the files in that directory; files that it adds are removed. Tries that the reader refuses are not tested; the answer to the
/// try that was cancelled is ignored.
///
/// # Errors
/// The job is wrong or names files that cannot be read, the directory cannot be written, or the test does not hold for the unchanged job, or was
/// cancelled before it did.
pub fn reduce_job(
    job: &Path,
    directory: &Path,
    control: &Control,
    holds: &mut dyn FnMut(Kept<'_>) -> bool,
) -> Result<Reduced, JobError> {
    let text = String::from_utf8_lossy(&read_file(job, FileKind::Job, None)?).into_owned();
    let (tree, errors) = Tree::parse(&text);
    if !errors.is_empty() {
        let source: Arc<Source> = Source::new(job.display().to_string(), text).into();
        let report = |diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) };
        return Err(JobError::Wrong(errors.into_iter().map(report).collect()));
    }
    let is_drawing = Drawing::is_job(&text);
    // Errors of the job itself are reported with their places.
    if is_drawing {
        Drawing::read(job)?;
    } else {
        Reader::for_file(job)?.finish()?.programs()?;
    }
    let mut state = JobFiles { root: tree.root, files: BTreeMap::new() };
    state.collect(job.parent().unwrap_or(Path::new("")))?;
    let none = JobFiles { root: Table::default(), files: BTreeMap::new() };
    let mut work = Work { directory, control, is_drawing, state: none, holds, tries: 0, failed: None };
    work.put(&state).map_err(|error| wrong("cannot-write", error))?;
    work.state = state;
    work.reads().map_err(|error| {
        let message = format!("the job does not stand on its own when its files are copied: {}", first_message(&error));
        wrong("not-self-contained", message)
    })?;
    if !work.asked() {
        if control.is_cancelled() {
            return Err(wrong("cancelled", "it was cancelled before the command had succeeded once"));
        }
        let message = "the command does not succeed for the job as it is, so there is nothing to keep";
        return Err(wrong("nothing-to-reduce", message));
    }
    let (bytes, lines) = work.state.size();
    work.convert();
    for _ in 0..ROUNDS {
        let before = work.state.clone();
        work.round();
        if before.root.print() == work.state.root.print()
            && before.files.len() == work.state.files.len()
            && before.files.iter().zip(&work.state.files).all(|((_, a), (_, b))| a.is(b))
        {
            break;
        }
    }
    if let Some(failed) = work.failed {
        return Err(wrong("cannot-write", failed));
    }
    work.take_away();
    work.tidy();
    work.keep().map_err(|error| wrong("cannot-write", error))?;
    let now = work.state.size();
    Ok(Reduced { job: directory.join(JOB), tries: work.tries, bytes: [bytes, now.0], lines: [lines, now.1] })
}

fn first_message(error: &JobError) -> String {
    error.reports().first().map_or_else(String::new, |report| report.diagnostic.message.clone())
}

struct Work<'a> {
    directory: &'a Path,
    control: &'a Control,
    is_drawing: bool,
    /// The smallest state that passed the test; the directory has its files.
    state: JobFiles,
    holds: &'a mut dyn FnMut(Kept<'_>) -> bool,
    tries: u64,
    /// Why a file could not be written.
    failed: Option<String>,
}

impl Work<'_> {
    /// Writes a state to the directory, for a try.
    fn put(&self, state: &JobFiles) -> Result<(), String> {
        let cannot =
            |name: &str, e: std::io::Error| format!("{} cannot be written: {e}", self.directory.join(name).display());
        for (name, file) in &state.files {
            if !self.state.files.get(name).is_some_and(|there| there.is(file)) {
                scratch(&self.directory.join(name), &file.bytes()).map_err(|e| cannot(name, e))?;
            }
        }
        for name in self.state.files.keys().filter(|name| !state.files.contains_key(*name)) {
            let _ = std::fs::remove_file(self.directory.join(name));
        }
        scratch(&self.directory.join(JOB), state.root.print().as_bytes()).map_err(|e| cannot(JOB, e))
    }

    /// Saves the reduced job.
    fn keep(&self) -> Result<(), String> {
        let job = (JOB, self.state.root.print().into_bytes());
        let files = self.state.files.iter().map(|(name, file)| (name.as_str(), file.bytes()));
        for (name, bytes) in files.chain([job]) {
            let path = self.directory.join(name);
            ctm_files::save(&path, &bytes).map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
        }
        Ok(())
    }

    /// Removes the files that runs of the test have added.
    fn tidy(&self) {
        for entry in std::fs::read_dir(self.directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != JOB && !self.state.files.contains_key(&name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Whether the reader takes the files of the directory.
    fn reads(&self) -> Result<(), JobError> {
        let job = self.directory.join(JOB);
        if self.is_drawing {
            let drawing = Drawing::read(&job)?;
            drawing.prepare().map(|_| ()).map_err(|error| wrong("draw", error.to_string()))
        } else {
            Reader::for_file(&job)?.finish()?.programs().map(|_| ())
        }
    }

    fn asked(&mut self) -> bool {
        self.tries += 1;
        self.tidy();
        let job = self.directory.join(JOB);
        let program = self.program().map_or_else(|| job.clone(), |name| self.directory.join(name));
        (self.holds)(Kept { job: &job, program: &program }) && !self.control.is_cancelled()
    }

    /// The program that the job names last.
    fn program(&self) -> Option<String> {
        let all = tree::all(&self.state.root);
        let mut named = all.into_iter().rev().filter(|(place, _)| PROGRAMS[..2].contains(&key(place)));
        named.find_map(|(_, node)| if let Value::String(name) = &node.value { Some(name.clone()) } else { None })
    }

    /// Goes over to another state if the test holds for it.
    fn attempt(&mut self, mut next: JobFiles) -> bool {
        if self.failed.is_some() || self.control.is_cancelled() {
            return false;
        }
        next.forget();
        if let Err(failed) = self.put(&next) {
            self.failed = Some(failed);
            return false;
        }
        let before = std::mem::replace(&mut self.state, next);
        if self.reads().is_ok() && self.asked() {
            return true;
        }
        // `put` compares with the state that is there.
        match self.put(&before) {
            Ok(()) => self.state = before,
            Err(failed) => self.failed = Some(failed),
        }
        false
    }

    /// The same with a value changed.
    fn change(&mut self, place: &[PathStep], value: Value) -> bool {
        let mut next = self.state.clone();
        match at_mut(&mut next.root, place) {
            Some(there) => *there = value,
            None => return false,
        }
        self.attempt(next)
    }

    /// The same with a file changed.
    fn exchange(&mut self, name: &str, file: NamedFile) -> bool {
        let mut next = self.state.clone();
        next.files.insert(name.to_owned(), file);
        self.attempt(next)
    }

    fn value(&mut self, place: &[PathStep]) -> Option<&Value> {
        at_mut(&mut self.state.root, place).map(|value| &*value)
    }

    fn places(&self, wanted: impl Fn(&ValuePath, &PlacedValue) -> bool) -> Vec<ValuePath> {
        tree::all(&self.state.root).into_iter().filter(|(place, node)| wanted(place, node)).map(|(p, _)| p).collect()
    }

    /// Meshes become arrays of vertices, textures arrays of texels, and programs texts, where the test holds for that.
    fn convert(&mut self) {
        self.convert_textures();
        let is_mesh =
            |place: &ValuePath, node: &PlacedValue| key(place) == "mesh" && matches!(node.value, Value::String(_));
        for (number, place) in self.places(is_mesh).into_iter().enumerate() {
            let Some(Value::String(name)) = self.value(&place).cloned() else { continue };
            if matches!(self.state.files.get(&name), Some(NamedFile::Items(..))) {
                continue;
            }
            let path = self.directory.join(&name);
            let mesh = if path.is_file() { Mesh::of(&path.display().to_string()) } else { Mesh::of(&name) };
            let Ok(mesh) = mesh else { continue };
            let mut next = self.state.clone();
            let file = format!("mesh{number}.npy");
            let rows = rows_of(mesh.topology);
            next.files.insert(file.clone(), NamedFile::Items(items::of_mesh(&mesh).into(), Some(rows)));
            if let Some(table) = tree::table_of(&mut next.root, &place) {
                table.set("mesh", node(Value::String(file)));
                let topology = TOPOLOGIES.iter().find(|row| row.1 == mesh.topology).map(|row| row.0);
                if let (None, Some(topology)) = (table.get("topology"), topology.filter(|name| *name != "triangles")) {
                    table.set("topology", node(Value::String(topology.to_owned())));
                }
            }
            self.attempt(next);
        }
        let images: Vec<String> =
            self.programs().filter(|(_, file)| matches!(file, NamedFile::Other(_))).map(|p| p.0).collect();
        for name in images {
            let Ok((text, extension)) = program_text(&self.directory.join(&name), None) else { continue };
            let file = Path::new(&name).with_extension(extension).display().to_string();
            let mut next = self.state.clone();
            next.files.insert(file.clone(), NamedFile::Text(text.into()));
            let named = |_: &ValuePath, node: &PlacedValue| matches!(&node.value, Value::String(text) if *text == name);
            for place in self.places(named) {
                if let Some(value) = at_mut(&mut next.root, &place) {
                    *value = Value::String(file.clone());
                }
            }
            self.attempt(next);
        }
    }

    fn convert_textures(&mut self) {
        let is_texture = |place: &ValuePath, _: &PlacedValue| {
            let file = textures::named(&self.state, place).and_then(|name| self.state.files.get(&name));
            key(place) == "data" && matches!(file, Some(NamedFile::Other(_)))
        };
        for place in self.places(is_texture) {
            let mut states = textures::as_arrays(&self.state, &place, self.is_drawing).into_iter();
            if states.any(|next| self.attempt(next)) {
                continue;
            }
            // Its numbers can be emptied; files that the reader of textures refuses are not tested.
            if let Some(name) = textures::named(&self.state, &place)
                && let Some(file) = self.state.files.get_mut(&name)
                && let NamedFile::Other(bytes) = file
            {
                *file = NamedFile::Raw(Arc::clone(bytes));
            }
        }
    }

    /// Files that the job names as programs.
    fn programs(&self) -> impl Iterator<Item = (String, NamedFile)> {
        let all = tree::all(&self.state.root).into_iter();
        let named = all.filter(|(place, _)| PROGRAMS.contains(&key(place)));
        let found = named.filter_map(|(_, node)| match &node.value {
            Value::String(name) => self.state.files.get(name).map(|file| (name.clone(), file.clone())),
            _ => None,
        });
        found.collect::<BTreeMap<_, _>>().into_iter()
    }

    fn round(&mut self) {
        self.shrink_domains();
        self.take_away();
        self.shrink_arrays();
        self.shrink_numbers();
        let texts: Vec<(String, NamedFile)> = self.programs().collect();
        for (name, file) in texts {
            let NamedFile::Text(text) = file else { continue };
            let is_x1k = extension(&name) == "x1k";
            let same = Arc::clone(&text);
            let small = reduce(&text, self.control, &mut |text| {
                if *text == *same {
                    return true;
                }
                assembles(text, is_x1k) && self.exchange(&name, NamedFile::Text(text.into()))
            });
            // The last tried text may differ from the remaining one.
            if small != *text {
                self.exchange(&name, NamedFile::Text(small.into()));
            }
        }
    }

    /// Domains and sizes become as small as they can.
    fn shrink_domains(&mut self) {
        let domains = self.places(|place, node| key(place) == "domain" && matches!(node.value, Value::Array(_)));
        for place in domains {
            let sides = |list: &[PlacedValue]| -> Option<Vec<i128>> {
                list.iter().map(|n| if let Value::Integer(n) = n.value { Some(n) } else { None }).collect()
            };
            let Some(Value::Array(list)) = self.value(&place) else { continue };
            let Some(sides) = sides(list).filter(|sides| matches!(sides.len(), 2 | 4)) else { continue };
            let half = sides.len() / 2;
            let mut sides = sides;
            for axis in 0..half {
                let (first, last) = (sides[axis], sides[axis + half]);
                let Ok(length) = usize::try_from(last - first + 1) else { continue };
                let range = narrowed(length.clamp(1, 1 << 16), &mut |range| {
                    let mut tried = sides.clone();
                    (tried[axis], tried[axis + half]) = (first + range.start as i128, first + range.end as i128 - 1);
                    self.change(&place, Value::Array(tried.into_iter().map(|n| node(Value::Integer(n))).collect()))
                });
                (sides[axis], sides[axis + half]) = (first + range.start as i128, first + range.end as i128 - 1);
            }
        }
    }

    /// Removes keys, and members of lists of tables or of rows, where the test holds without them.
    fn take_away(&mut self) {
        let has_members = |node: &PlacedValue| match &node.value {
            Value::Array(list) => {
                list.len() > 1 && list.iter().all(|n| matches!(n.value, Value::Table(_) | Value::Array(_)))
            }
            _ => false,
        };
        let mut at = 0;
        while let Some(place) = self.places(|_, node| has_members(node)).into_iter().nth(at) {
            at += 1;
            let Some(Value::Array(list)) = self.value(&place).cloned() else { continue };
            thinned(list.len(), &mut |stay| {
                self.change(&place, Value::Array(stay.iter().map(|&n| list[n].clone()).collect()))
            });
        }
        let mut at = 0;
        // Without a size a picture would be larger.
        let can_go = |place: &ValuePath, _: &PlacedValue| match &place[..] {
            [PathStep::Key(key)] => key != "size",
            [.., last] => matches!(last, PathStep::Key(_)),
            [] => false,
        };
        while let Some(place) = self.places(can_go).into_iter().nth(at) {
            let mut next = self.state.clone();
            tree::remove(&mut next.root, &place);
            at += usize::from(!self.attempt(next));
        }
    }

    /// Numbers become 0, 1, or shorter.
    fn shrink_numbers(&mut self) {
        let free = |place: &ValuePath| !CHOICES.contains(&key(place)) && key(place) != "domain";
        let is_number = |node: &PlacedValue| match &node.value {
            Value::Integer(_) | Value::Float(_) => true,
            Value::String(text) => text.starts_with("0x"),
            _ => false,
        };
        let is_row = |node: &PlacedValue| matches!(&node.value, Value::Array(list) if list.len() > 1 && list.iter().all(is_number));
        for place in self.places(|place, node| free(place) && is_row(node)) {
            let Some(Value::Array(list)) = self.value(&place) else { continue };
            let (length, zero) = (list.len(), |node: &PlacedValue| matches!(node.value, Value::Integer(0)));
            if !list.iter().all(zero) {
                self.change(&place, Value::Array((0..length).map(|_| node(Value::Integer(0))).collect()));
            }
        }
        for place in self.places(|place, node| free(place) && is_number(node)) {
            let Some(value) = self.value(&place).cloned() else { continue };
            match value {
                Value::Integer(n) => {
                    let _ = n == 0
                        || self.change(&place, Value::Integer(0))
                        || n == 1
                        || self.change(&place, Value::Integer(1))
                        || self.halve(&place, n);
                }
                Value::Float(x) => {
                    let candidates = [0.0, 1.0, x.trunc(), (x * 10.0).round() / 10.0];
                    let simpler =
                        |candidate: f64| candidate != x && format!("{candidate}").len() <= format!("{x}").len();
                    let _ = x == 0.0
                        || x == 1.0
                        || candidates
                            .into_iter()
                            .filter(|&candidate| simpler(candidate))
                            .any(|candidate| self.change(&place, Value::Float(candidate)));
                }
                _ => {
                    self.change(&place, Value::Integer(0));
                }
            }
        }
    }

    /// The smallest number between 1, which is too small, and `n`, as far as halving finds it.
    fn halve(&mut self, place: &[PathStep], n: i128) -> bool {
        let sign = n.signum();
        let (mut low, mut high) = (1, n.abs());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.change(place, Value::Integer(sign * middle)) { high = middle } else { low = middle }
        }
        high != n.abs()
    }

    /// Inputs without a `wrap` say the default, which allows arrays smaller than the domain.
    fn state_wraps(&mut self) {
        let is_input = |place: &ValuePath, _: &PlacedValue| {
            key(place) == "data" && place.iter().any(|step| matches!(step, PathStep::Key(list) if list == "texture"))
        };
        for place in self.places(is_input) {
            let mut next = self.state.clone();
            let table = tree::table_of(&mut next.root, &place).filter(|table| table.get("wrap").is_none());
            let Some(table) = table else { continue };
            table.set("wrap", node(Value::String("clamp".to_owned())));
            self.attempt(next);
        }
    }

    /// Arrays are cut, thinned and emptied.
    fn shrink_arrays(&mut self) {
        if !self.is_drawing {
            self.state_wraps();
        }
        let names: Vec<String> = self.state.files.keys().cloned().collect();
        for name in names {
            match self.state.files.get(&name) {
                Some(NamedFile::Items(items, None)) => {
                    let items = Arc::clone(items);
                    self.cut(&name, &items);
                }
                Some(NamedFile::Items(items, Some(rows))) => {
                    let (items, rows) = (Arc::clone(items), *rows);
                    let count = items.shape.first().map_or(0, |&n| n / rows);
                    thinned(count, &mut |stay| {
                        let stay = stay.iter().flat_map(|&n| n * rows..(n + 1) * rows);
                        self.exchange(&name, NamedFile::Items(items::chosen(&items, 0, stay).into(), Some(rows)))
                    });
                }
                _ => {}
            }
            self.empty(&name);
        }
    }

    fn cut(&mut self, name: &str, whole: &Arc<Items>) {
        let mut now = Arc::clone(whole);
        for axis in items::axes(whole) {
            let length = now.shape.get(axis).copied().unwrap_or(1);
            let of = |range: std::ops::Range<usize>| -> Arc<Items> { items::chosen(&now, axis, range).into() };
            let range = narrowed(length, &mut |range| self.exchange(name, NamedFile::Items(of(range), None)));
            if range.len() != length {
                now = of(range);
            }
        }
    }

    /// Parts of a file's numbers become zeros: all of them, halves, and so on.
    fn empty(&mut self, name: &str) {
        let Some(file) = self.state.files.get(name).cloned() else { return };
        let (length, unit) = match &file {
            NamedFile::Items(items, _) => (items.bytes.len(), items.item_bytes),
            NamedFile::Raw(bytes) => (bytes.len(), 4),
            NamedFile::Text(_) | NamedFile::Other(_) => return,
        };
        let mut parts: VecDeque<_> = std::iter::once(0..length.div_ceil(unit)).collect();
        for _ in 0..EMPTYINGS {
            let Some(part) = parts.pop_front() else { return };
            let range = part.start * unit..(part.end * unit).min(length);
            let next = match self.state.files.get(name) {
                Some(NamedFile::Items(items, rows)) => items::emptied(&items.bytes, range).map(|bytes| {
                    NamedFile::Items(Items { bytes, shape: items.shape.clone(), ..**items }.into(), *rows)
                }),
                Some(NamedFile::Raw(bytes)) => items::emptied(bytes, range).map(|bytes| NamedFile::Raw(bytes.into())),
                _ => return,
            };
            let Some(next) = next else { continue };
            if !self.exchange(name, next) && part.len() > 1 {
                let middle = part.start + part.len() / 2;
                parts.extend([part.start..middle, middle..part.end]);
            }
        }
    }
}

/// Vertices of a primitive that can be removed separately.
const fn rows_of(topology: Topology) -> usize {
    match topology {
        Topology::Triangles | Topology::Rectangles => 3,
        Topology::Lines => 2,
        Topology::Quads => 4,
        _ => 1,
    }
}

fn assembles(text: &str, is_x1k: bool) -> bool {
    let words = if is_x1k {
        x1k::text::assemble(text).program.map(|program| program.words.len())
    } else {
        r700::text::assemble(text, &r700::text::TextOptions::default()).program.map(|program| program.words.len())
    };
    words.is_some_and(|words| words > 0)
}
