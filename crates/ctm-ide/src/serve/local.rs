//! The page's answers without a server: in one process, as in a browser. Files of the user lie in memory.

use super::context::AnswerContext;
use super::entries::{self, PageEntry};
use super::memory::HostMemory;
use super::{ANSWER, api, dropped};
use ctm::job::Folders;
use ctm_exec::{Control, Instant};
use ctm_files::MemoryFolder;
use serde_json::json;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of memory for an answer: an address of 32 bits has 4 GiB, and texts and results take theirs.
const MEMORY: u64 = 3 << 29;

/// The page's answers: the same as the server's, of the same examples, and of files that the user has put there.
///
/// ```
/// let mut page = ctm_ide::serve::Local::new();
/// let entries = page.put(&[("a.x1k".to_owned(), b"mov o0, r0\n".to_vec())])?;
/// let answer = page.ask("run", &format!(r#"{{"entry":"{}"}}"#, entries[0]));
/// assert!(answer.contains(r#""values":""#), "{answer}");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Local {
    entries: Vec<PageEntry>,
    files: MemoryFolder,
    folders: Folders,
    memory: Arc<HostMemory>,
}

impl Default for Local {
    fn default() -> Self {
        Self::new()
    }
}

impl Local {
    /// The page with the examples.
    #[must_use]
    pub fn new() -> Self {
        Self {
            entries: entries::all(&[]),
            files: MemoryFolder::new(),
            folders: Folders::default(),
            memory: HostMemory::new(MEMORY),
        }
    }

    /// Answers a question of the page: JSON, as its answer. An answer with `error` has the reason why there is none.
    #[must_use]
    pub fn ask(&self, name: &str, question: &str) -> String {
        self.answer(name, question, None)
    }

    /// The same, with the numbers of outputs apart: of each output of a run, in order, floats of 32 bits, little end first. They are empty where the output has none in its answer.
    #[must_use]
    pub fn ask_apart(&self, name: &str, question: &str) -> (String, Vec<Vec<u8>>) {
        let apart = RefCell::default();
        let answer = self.answer(name, question, Some(&apart));
        (answer, apart.take())
    }

    fn answer(&self, name: &str, question: &str, apart: Option<&RefCell<Vec<Vec<u8>>>>) -> String {
        let refused = |why: String| json!({ "error": why }).to_string();
        let question = match serde_json::from_str(question) {
            Ok(question) => question,
            Err(e) => return refused(format!("the question is no JSON: {e}")),
        };
        let now = Instant::now();
        let control = Control::new().until(now + ANSWER);
        let context = AnswerContext {
            entries: &self.entries,
            folders: &self.folders,
            memory: &self.memory,
            control: &control,
            // There are no other questions whose memory becomes free.
            deadline: now,
            shares: RefCell::default(),
            apart,
        };
        api::answer(name, &question, &context).unwrap_or_else(refused)
    }

    /// Puts files of the user, by their names, beside those that are there. Jobs, captures and recordings among them can be opened then; where there are none,
    /// a job for the programs among them. The names of what can be opened; none where there is nothing to open, which is no error: another file may name them.
    ///
    /// # Errors
    /// In words: a name leads out of the folder, or a program cannot be opened.
    pub fn put(&mut self, files: &[(String, Vec<u8>)]) -> Result<Vec<String>, String> {
        let mut places = Vec::new();
        for (name, bytes) in files {
            places.push(self.files.put(name, bytes.as_slice()).map_err(|e| format!("{name}: {e}"))?);
        }
        let mut opened: Vec<PathBuf> = places.into_iter().filter(|path| dropped::is_entry(path)).collect();
        if opened.is_empty()
            && let Some((name, text)) = dropped::job(files)?
        {
            opened.push(self.files.put(&name, text.into_bytes()).map_err(|e| format!("{name}: {e}"))?);
        }
        let mut names = Vec::new();
        for path in opened {
            let within = path.strip_prefix(self.files.path()).unwrap_or(&path);
            // As the user has named it, on every system.
            let parts: Vec<_> = within.iter().map(|part| part.to_string_lossy()).collect();
            let name = parts.join("/");
            self.entries.retain(|known| known.name != name);
            self.entries.insert(0, PageEntry::own(name.clone(), path));
            names.push(name);
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::numbers::OutputFloats;
    use serde_json::Value;

    fn asked(page: &Local, name: &str, question: &Value) -> Value {
        serde_json::from_str(&page.ask(name, &question.to_string())).unwrap()
    }

    fn file(name: &str, path: &str) -> (String, Vec<u8>) {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        (name.to_owned(), std::fs::read(root.join(path)).unwrap())
    }

    /// A folder of files with a job, a capture, a vertex program with its pixel program, a container; and files that cannot be opened.
    #[test]
    fn files_are_put_and_opened() {
        let mut page = Local::new();
        let job = [
            file("s/job.toml", "examples/saxpy/job.toml"),
            file("s/saxpy.x1k", "examples/saxpy/saxpy.x1k"),
            file("s/x.npy", "examples/saxpy/x.npy"),
            file("s/y.npy", "examples/saxpy/y.npy"),
        ];
        assert_eq!(page.put(&job).unwrap(), ["s/job.toml"]);
        let own = asked(&page, "run", &json!({ "entry": "s/job.toml" }));
        let built_in = asked(&page, "run", &json!({ "entry": "saxpy" }));
        assert!(own["outputs"][0]["values"].is_string(), "{own}");
        assert_eq!(own["outputs"], built_in["outputs"]);
        // The numbers apart are the same.
        let (text, numbers) = page.ask_apart("run", r#"{"entry":"saxpy"}"#);
        let mut apart: Value = serde_json::from_str(&text).unwrap();
        assert!(numbers.len() == 1 && apart["outputs"][0]["values"].is_null(), "{apart}");
        apart["outputs"][0]["values"] = json!(OutputFloats(numbers[0].clone()));
        assert_eq!(apart["outputs"], built_in["outputs"]);
        // A changed text, and one that cannot be assembled.
        let question = |text: &str| json!({ "entry": "s/job.toml", "files": { "saxpy.x1k": text } });
        assert_ne!(asked(&page, "run", &question("mov o0, r0\n"))["outputs"], own["outputs"]);
        let error = asked(&page, "run", &question("mov o0\n"));
        assert!(error["error"].as_str().is_some_and(|said| said.contains("saxpy.x1k")), "{error}");

        let capture = [file("plasma.capture", "crates/ctm-radeon/tests/captures/plasma.capture")];
        assert_eq!(page.put(&capture).unwrap(), ["plasma.capture"]);
        let opened = asked(&page, "open", &json!({ "entry": "plasma.capture" }));
        assert_eq!((&opened["given"], &opened["draws"]), (&json!("capture"), &json!(true)));
        let launches = asked(&page, "launches", &json!({ "entry": "plasma.capture" }));
        assert!(launches["launches"].as_array().is_some_and(|lines| !lines.is_empty()), "{launches}");

        let pair = [file("cube.vsh", "examples/draw/cube/cube.vsh"), file("cube.psh", "examples/draw/cube/cube.psh")];
        let name = page.put(&pair).unwrap();
        let opened = asked(&page, "open", &json!({ "entry": name[0] }));
        let names: Vec<&Value> = opened["files"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
        assert_eq!(names, ["cube.toml", "cube.vsh", "cube.psh"]);
        let r5xx = [file("lit.pvs", "examples/draw/lit/lit.pvs"), file("lit.x1k", "examples/draw/lit/lit.x1k")];
        assert_eq!(page.put(&r5xx).unwrap(), ["lit.toml"]);
        assert!(page.put(&[r5xx[0].clone(), pair[1].clone()]).unwrap_err().contains(".x1k for a .pvs"));

        let entries = asked(&page, "entries", &json!({}));
        let built_in = asked(&Local::new(), "entries", &json!({}));
        let count = |entries: &Value| entries["entries"].as_array().map_or(0, Vec::len);
        assert_eq!(count(&entries), count(&built_in) + 4);
        assert_eq!(entries["entries"][0]["part"], "own");
        assert!(page.put(&[("notes.txt".to_owned(), b"nothing".to_vec())]).unwrap().is_empty());
        assert!(page.put(&[("../a.x1k".to_owned(), Vec::new())]).unwrap_err().contains("no place in the folder"));
        assert!(page.put(&pair[..1]).unwrap_err().contains("pixel program"));
    }

    #[test]
    fn programs_of_each_kind_run() {
        let x1k = ("a.x1k".to_owned(), b".output o = o0\n mov o, r0\n".to_vec());
        for program in [x1k, file("hash.psh", "examples/r700/hash/hash.psh")] {
            let mut page = Local::new();
            let entries = page.put(std::slice::from_ref(&program)).unwrap();
            let run = asked(&page, "run", &json!({ "entry": entries[0] }));
            assert!(run["outputs"][0]["values"].is_string(), "{}: {run}", program.0);
        }
        // Values that the program declares are missing, and the job says so.
        let mut page = Local::new();
        let entries = page.put(&[file("a.x1k", "examples/mandelbrot/mandelbrot.x1k")]).unwrap();
        let run = asked(&page, "run", &json!({ "entry": entries[0] }));
        assert!(run["error"].as_str().is_some_and(|said| said.contains("`view`")), "{run}");
        let mut page = Local::new();
        let error = asked(&page, "run", &json!({ "entry": "nothing" }));
        assert_eq!(error["error"], "there is no job `nothing`");
        assert!(page.ask("run", "[").contains("the question is no JSON"));
        assert!(page.put(&[("broken.capture".to_owned(), b"CTM".to_vec())]).unwrap().is_empty());
    }
}
