//! A job in parts of its domain, for batch systems, and the parts' files together again.

use super::program::AnyProgram;
use super::r700;
use crate::job::located::Located;
use crate::job::model::{Job, OwnPass, OwnSaves};
use ctm_exec::Domain;
use ctm_files::array::{Array, ArrayError, ArrayFileKind, Items, Values};
use ctm_files::error::JobError;
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use std::fmt;
use std::path::{Path, PathBuf};

/// A part of a domain: number `part`, from 1, of `parts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// 1 to `parts`.
    pub part: u32,
    /// At least 1.
    pub parts: u32,
}

impl Shard {
    /// `K/N`, with 1 <= K <= N.
    ///
    /// ```
    /// use ctm::job::Shard;
    /// assert_eq!(Shard::parse("2/4"), Some(Shard { part: 2, parts: 4 }));
    /// assert_eq!(Shard::parse("5/4"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (part, parts) = text.split_once('/')?;
        let number = |t: &str| t.parse::<u32>().ok().filter(|_| t.bytes().all(|b| b.is_ascii_digit()));
        let shard = Self { part: number(part)?, parts: number(parts)? };
        (1..=shard.parts).contains(&shard.part).then_some(shard)
    }

    /// Its rows of a domain. Parts begin at even rows, because lanes come as quads of two rows; `None` where there are fewer pairs of rows than parts.
    fn of(self, domain: Domain) -> Option<Domain> {
        let (first, last) = (u64::from(domain.j0 / 2), u64::from(domain.j1 / 2) + 1);
        let pairs = last - first;
        let cut = |k: u32| u32::try_from(first + (pairs * u64::from(k)).div_ceil(u64::from(self.parts))).ok();
        let (begin, end) = (cut(self.part - 1)?, cut(self.part)?);
        let (j0, j1) = ((2 * begin).max(domain.j0), (2 * end).checked_sub(1)?.min(domain.j1));
        (u64::from(self.parts) <= pairs).then_some(Domain { j0, j1, ..domain })
    }

    /// The file of this part: `sum.npy` is `sum.2-of-4.npy`.
    fn file(self, path: &Path) -> PathBuf {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{}-of-{}", self.part, self.parts));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        path.with_file_name(name)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

impl Job {
    /// The job over a part of its domain, writing files that are named for the part ([`merge`] puts them together). It gives the same bits as that part
    /// of the whole.
    ///
    /// # Errors
    /// The job is invalid; and `shard` for jobs that cannot be cut: several passes or repetitions, uncached writes (UMRT), memories, emitted
    /// vertices, outputs with a `size` of their own, files with `flip_y`, domains of fewer pairs of rows.
    pub fn shard(&self, shard: Shard) -> Result<Self, JobError> {
        let refuse = |why: String| {
            JobError::Wrong(vec![Report::bare(Diagnostic::error("shard", why).help(
                "a job is cut into shards of rows if every processor writes its own elements only, in one launch",
            ))])
        };
        let [pass] = self.passes.as_slice() else {
            return Err(refuse(format!("the job has {} passes, and a later one may read any row", self.passes.len())));
        };
        if pass.repeat > 1 || self.repeat > 1 {
            return Err(refuse(
                "the job repeats its pass, which may read any row that the one before wrote".to_owned(),
            ));
        }
        for loaded in self.programs()? {
            let scatters = match &loaded.program {
                AnyProgram::X1k(program) => program.uncached,
                AnyProgram::R700(program) => r700::uses_memory(program),
            };
            if scatters {
                let why = "the program writes elements that are not its processors' own (uncached writes, memories or emitted vertices)";
                return Err(refuse(why.to_owned()));
            }
        }
        if let Some(output) = pass.outputs.iter().find(|output| output.size.is_some()) {
            return Err(refuse(format!("output {} has a `size`, so that it is not the domain's", output.slot.value)));
        }
        let mut job = self.clone();
        let domain = shard.of(pass.domain).ok_or_else(|| {
            refuse(format!(
                "the domain has {} rows, which are {} pairs, and {} shards are wanted",
                pass.domain.height(),
                pass.domain.j1 / 2 - pass.domain.j0 / 2 + 1,
                shard.parts
            ))
        })?;
        job.passes[0].domain = domain;
        let rename = |path: &mut Located<PathBuf>| path.value = shard.file(&path.value);
        let saves = job.passes[0].outputs.iter_mut().flat_map(|output| &mut output.saves).chain(&mut job.saves);
        for save in saves {
            if save.flip_y {
                return Err(refuse(format!(
                    "{} has `flip_y`, and parts follow each other in the order of rows",
                    save.path.value.display()
                )));
            }
            rename(&mut save.path);
        }
        if let OwnSaves::X1k(Some(path)) = &mut job.own_saves {
            rename(path);
        }
        if let OwnPass::X1k(Some(conditional)) = &mut job.passes[0].own {
            conditional.save.iter_mut().for_each(rename);
        }
        Ok(job)
    }
}

/// Why parts cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// A file or directory cannot be read or written.
    Io {
        /// Which.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
    /// There is no part of this file.
    NoParts {
        /// A part's name, as it would be.
        example: PathBuf,
    },
    /// Parts are missing.
    Missing(Vec<PathBuf>),
    /// There are parts of several cuts; the numbers of parts.
    Several(Vec<u32>),
    /// A part is no array, or not like the others.
    Array {
        /// Which.
        path: PathBuf,
        /// The error.
        error: ArrayError,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, message } => write!(f, "{}: {message}", path.display()),
            Self::NoParts { example } => {
                write!(f, "there are no parts, which would be named as {}", example.display())
            }
            Self::Missing(paths) => {
                let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "parts are missing: {}", names.join(", "))
            }
            Self::Several(parts) => {
                let parts: Vec<String> = parts.iter().map(u32::to_string).collect();
                write!(f, "there are parts of cuts into {}; remove those that are old", parts.join(" and "))
            }
            Self::Array { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for MergeError {}

/// Puts the parts of a file that jobs of [`Job::shard`] have written together, below each other, and writes the file; gives the parts.
///
/// # Errors
/// When parts are missing or do not fit, or a file cannot be read or written.
pub fn merge(path: &Path) -> Result<Vec<PathBuf>, MergeError> {
    let io = |path: &Path, e: &dyn fmt::Display| MergeError::Io { path: path.to_owned(), message: e.to_string() };
    let (parts, kind) = (find(path)?, ArrayFileKind::file_kind(path));
    let mut whole: Option<Whole> = None;
    for part in &parts {
        let bytes = ctm_files::read(part, kind).map_err(|e| io(part, &e.problem))?;
        let wrong = |error| MergeError::Array { path: part.clone(), error };
        let read = Whole::read(ArrayFileKind::of(path), &bytes).map_err(wrong)?;
        match &mut whole {
            None => whole = Some(read),
            Some(whole) => whole.append(read).map_err(wrong)?,
        }
    }
    let Some(whole) = whole else { return Err(MergeError::NoParts { example: path.to_owned() }) };
    let bytes = whole.bytes(path).map_err(|error| MergeError::Array { path: path.to_owned(), error })?;
    ctm_files::save(path, &bytes).map_err(|e| io(path, &e))?;
    Ok(parts)
}

/// The parts of a file, in order.
fn find(path: &Path) -> Result<Vec<PathBuf>, MergeError> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory)
        .map_err(|e| MergeError::Io { path: directory.to_owned(), message: e.to_string() })?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut counts: Vec<u32> = Vec::new();
    for entry in entries.flatten() {
        let found = PathBuf::from(entry.file_name());
        if found.extension() != path.extension() {
            continue;
        }
        let name = found.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let numbers = name.strip_prefix(&format!("{stem}.")).and_then(|rest| rest.split_once("-of-"));
        let shard = numbers.and_then(|(part, parts)| Shard::parse(&format!("{part}/{parts}")));
        counts.extend(shard.map(|shard| shard.parts));
    }
    counts.sort_unstable();
    counts.dedup();
    match *counts.as_slice() {
        [] => Err(MergeError::NoParts { example: Shard { part: 1, parts: 2 }.file(path) }),
        [parts] => {
            // A shard's number may be out of a million: all files are expected, and a few missing ones are reported.
            let files = (1..=parts).map(|part| Shard { part, parts }.file(path));
            let missing: Vec<PathBuf> = files.clone().filter(|file| !file.exists()).take(10).collect();
            if missing.is_empty() { Ok(files.collect()) } else { Err(MergeError::Missing(missing)) }
        }
        _ => Err(MergeError::Several(counts)),
    }
}

/// Parts while they are put together: nothing is converted.
enum Whole {
    /// Rows of an `.npy` file.
    Items(Items),
    /// A picture.
    Picture(Array),
    /// Raw bytes.
    Bytes(Vec<u8>),
}

impl Whole {
    fn read(kind: Option<ArrayFileKind>, bytes: &[u8]) -> Result<Self, ArrayError> {
        match kind {
            Some(ArrayFileKind::Npy) => Items::from_npy(bytes).map(Self::Items),
            Some(kind @ (ArrayFileKind::Png | ArrayFileKind::Pfm)) => Array::samples(kind, bytes).map(Self::Picture),
            Some(ArrayFileKind::Raw) | None => Ok(Self::Bytes(bytes.to_vec())),
        }
    }

    fn append(&mut self, next: Self) -> Result<(), ArrayError> {
        let differs = || ArrayError::new("its rows are not like those of the parts before it");
        match (self, next) {
            (Self::Items(all), Self::Items(next)) => {
                let fits = (all.class, all.item_bytes) == (next.class, next.item_bytes)
                    && all.shape.len() == next.shape.len()
                    && !all.shape.is_empty()
                    && all.shape[1..] == next.shape[1..];
                if !fits {
                    return Err(differs());
                }
                all.shape[0] += next.shape[0];
                all.bytes.extend(next.bytes);
            }
            (Self::Picture(all), Self::Picture(next)) => {
                if (all.width, all.channels) != (next.width, next.channels) {
                    return Err(differs());
                }
                match (&mut all.values, next.values) {
                    (Values::U8(all), Values::U8(next)) => all.extend(next),
                    (Values::U16(all), Values::U16(next)) => all.extend(next),
                    (Values::F32(all), Values::F32(next)) => all.extend(next),
                    _ => return Err(differs()),
                }
                all.height += next.height;
            }
            (Self::Bytes(all), Self::Bytes(next)) => all.extend(next),
            _ => return Err(differs()),
        }
        Ok(())
    }

    fn bytes(self, path: &Path) -> Result<Vec<u8>, ArrayError> {
        match self {
            Self::Items(items) => Ok(items.to_npy()),
            Self::Picture(array) => array.to_bytes(ArrayFileKind::of(path).unwrap_or(ArrayFileKind::Png)),
            Self::Bytes(bytes) => Ok(bytes),
        }
    }
}
