//! The allowed folders of a job's files, for a program that opens jobs of others.

use ctm_files::real_path;
use std::path::{Component, Path, PathBuf};

/// Folders whose files a job may name, besides the job's own folder. Symbolic links are followed first: the place that a link leads to counts.
///
/// ```
/// use ctm::job::{Folders, Reader};
/// let textures = std::env::temp_dir();
/// let reader = Reader::for_job("program = \"a.x1k\"", "job.toml", "jobs".as_ref());
/// let reader = reader.within(&Folders::new(&[textures]));
/// assert!(reader.finish().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    folders: Vec<PathBuf>,
    /// The job's own.
    own: Option<PathBuf>,
}

impl Folders {
    /// These folders. One that is not there has no files.
    #[must_use]
    pub fn new(folders: &[PathBuf]) -> Self {
        Self { folders: folders.iter().filter_map(|folder| real_path(folder).ok()).collect(), own: None }
    }

    /// The same for a job in a folder.
    pub(super) fn with(&self, own: &Path) -> Self {
        let own = if own.as_os_str().is_empty() { Path::new(".") } else { own };
        Self { folders: self.folders.clone(), own: real_path(own).ok() }
    }

    /// The reason why a file may not be opened, if it may not: the end of a sentence.
    pub(super) fn refused(&self, path: &Path) -> Option<String> {
        let real = resolved(path);
        let lies = |folder: &PathBuf| real.as_ref().is_some_and(|real| real.starts_with(folder));
        if self.own.iter().chain(&self.folders).any(lies) {
            return None;
        }
        let folder = real.as_deref().unwrap_or(path).parent().unwrap_or(path).display();
        let own = self.own.as_ref().map_or_else(String::new, |own| format!(" {}", own.display()));
        Some(format!("which lies outside of the job's folder{own}; `ctm serve --allow {folder}` lets jobs name it"))
    }
}

/// A path without links: of a file that is not there, its nearest folder that is, and the rest. `None` where a link leads nowhere, or the rest goes up.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = real_path(path) {
        return Some(real);
    }
    // A link that leads nowhere now may lead anywhere later.
    if path.symlink_metadata().is_ok() {
        return None;
    }
    let name = match path.components().next_back()? {
        Component::Normal(name) => name,
        _ => return None,
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(resolved(parent)?.join(name))
}

#[cfg(test)]
mod tests {
    use super::super::{JobError, Reader};
    use super::*;

    /// A folder with a job's own folder in it, and a file beside that.
    fn places(name: &str) -> (PathBuf, PathBuf) {
        let all = std::env::temp_dir().join(format!("ctm-folders-{name}-{}", std::process::id()));
        let own = all.join("own");
        std::fs::create_dir_all(own.join("deep")).unwrap();
        std::fs::write(all.join("secret.txt"), "no program").unwrap();
        std::fs::write(own.join("a.x1k"), "mov o0, r0\n").unwrap();
        (all, own)
    }

    #[test]
    fn files_lie_in_the_jobs_folder_or_in_one_that_is_allowed() {
        let (all, own) = places("lie");
        #[cfg(unix)]
        for (to, link) in
            [("../secret.txt", "link.x1k"), ("../nowhere", "dangling.x1k"), ("..", "up"), ("a.x1k", "in.x1k")]
        {
            std::os::unix::fs::symlink(to, own.join(link)).unwrap();
        }
        let none = Folders::new(&[]).with(&own);
        let inside = |path: &str| none.refused(&own.join(path)).is_none();
        for path in ["a.x1k", "./deep/../a.x1k", "new.npy", "none/new.npy", "../own/a.x1k"] {
            assert!(inside(path), "{path}");
        }
        let mut outside =
            vec!["../secret.txt", "../nowhere.txt", "/etc/passwd", "/dev/zero", "none/../../secret.txt", "/"];
        if cfg!(unix) {
            assert!(inside("in.x1k"));
            outside.extend(["link.x1k", "dangling.x1k", "up/secret.txt", "up/new.txt"]);
        }
        for path in outside {
            assert!(!inside(path), "{path}");
        }
        let allowed = Folders::new(std::slice::from_ref(&all)).with(&own);
        assert!(allowed.refused(&own.join("../secret.txt")).is_none());
        assert!(allowed.refused(Path::new("/etc/passwd")).is_some());
        let _ = std::fs::remove_dir_all(&all);
    }

    /// Every key that names a file, in jobs of both machines and in draw jobs.
    #[test]
    fn every_key_that_names_a_file_is_bound() {
        let (all, own) = places("keys");
        let jobs = [
            "program = \"FILE\"\ndomain = [8, 8]\n[[output]]\nslot = 0\n",
            "program = \"a.x1k\"\ndomain = [8, 8]\n[[output]]\nslot = 0\nsave = \"FILE\"\n",
            "program = \"a.x1k\"\ndomain = [8, 8]\n[[output]]\nslot = 0\nsave = [\"o.npy\", \"FILE\"]\n",
            "program = \"a.x1k\"\ndomain = [8, 8]\n[[texture]]\nslot = 0\ndata = \"FILE\"\n[[output]]\nslot = 0\n",
            "program = \"a.x1k\"\ndomain = [8, 8]\n[conditional]\nsave = \"FILE\"\n[[output]]\nslot = 0\n",
            "isa = \"r700\"\nprogram = \"a.psh\"\nfetch_program = \"FILE\"\ndomain = [8, 8]\n[[output]]\nslot = 0\n",
            "isa = \"r700\"\nprogram = \"a.psh\"\ndomain = [8, 8]\n[[memory]]\nkind = \"scatter\"\ndata = \"FILE\"\n",
            "isa = \"r700\"\nprogram = \"a.psh\"\ndomain = [8, 8]\n[[memory]]\nkind = \"scatter\"\nsave = \"FILE\"\n",
            "programs = [\"a.vsh\", \"FILE\"]\n",
            "programs = [\"a.vsh\", \"a.psh\"]\nmesh = \"FILE.obj\"\n",
            "programs = [\"a.vsh\", \"a.psh\"]\n[[texture]]\nname = \"t0\"\ndata = \"FILE\"\n",
            "programs = [\"a.vsh\", \"a.psh\"]\n[[target]]\nsave = \"FILE\"\n",
            "programs = [\"a.vsh\", \"a.psh\"]\n[depth]\nsave = \"FILE\"\nsave_stencil = \"FILE\"\n",
        ];
        for text in jobs {
            for file in ["../secret.txt", "/etc/passwd"] {
                let text = text.replace("FILE", file);
                let reader = Reader::for_job(&text, "job.toml", &own).within(&Folders::new(&[]));
                let error = if crate::draw::Drawing::is_job(&text) {
                    crate::draw::Drawing::from_reader(reader).map(|_| ()).unwrap_err()
                } else {
                    reader.finish().map(|_| ()).unwrap_err()
                };
                let JobError::Wrong(reports) = &error else { panic!("{text}: {error}") };
                let found = reports.iter().find(|report| report.diagnostic.rule == "outside-folder");
                let found = found.unwrap_or_else(|| panic!("{text}: {error}"));
                assert!(found.diagnostic.message.contains(file), "{}", found.diagnostic.message);
                assert!(found.diagnostic.message.contains("--allow"), "{}", found.diagnostic.message);
            }
        }
        let _ = std::fs::remove_dir_all(&all);
    }
}
