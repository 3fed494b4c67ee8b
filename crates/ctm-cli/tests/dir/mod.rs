//! A directory with files, and `ctm` run in it.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory of its own for each test.
pub struct Dir(pub PathBuf);

impl Dir {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.0.join(name), contents).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Runs `ctm` here; exit code, stdout, stderr.
    pub fn ctm(&self, arguments: &[&str]) -> (i32, String, String) {
        self.ctm_under(&[], arguments)
    }

    /// As [`Self::ctm`], with these variables in its environment.
    pub fn ctm_under(&self, variables: &[(&str, &str)], arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctm"));
        command.args(arguments).envs(variables.iter().copied()).current_dir(&self.0);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// As [`Self::ctm`], for commands that must succeed.
    pub fn good(&self, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.ctm(arguments);
        assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}: {stdout}");
        stdout
    }

    /// As [`Self::good`], for commands that say something on stderr.
    pub fn good_noted(&self, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.ctm(arguments);
        assert_eq!(code, 0, "{arguments:?}: {stdout}{stderr}");
        stdout
    }

    /// As [`Self::ctm`], for commands that must end with `code` and say all of `parts`.
    pub fn bad(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let (found, stdout, stderr) = self.ctm(arguments);
        assert_eq!(found, code, "{arguments:?}\n{stdout}\n{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{arguments:?}: no `{part}` in\n{stderr}");
        }
    }
}

/// A `.npy` file of 32-bit floats.
pub fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let dict = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(format!("{dict:<width$}\n", width = length - 1).as_bytes());
    out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    out
}
