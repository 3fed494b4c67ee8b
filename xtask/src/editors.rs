//! What editors need that is made from the tables.

use ctm_ide::grammar;
use ctm_ide::language::Language;
use std::path::Path;
use std::process::Command;

/// Writes the grammars.
pub(crate) fn grammars(root: &Path) -> Result<(), String> {
    for language in Language::ALL {
        let path = root.join("editors/vscode/syntaxes").join(grammar::file_name(language));
        std::fs::write(&path, grammar::file(language))
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
    }
    Ok(())
}

/// Bundles the script of the page. It needs npm, and the network for the packages that `package-lock.json` names.
pub(crate) fn page(root: &Path) -> Result<(), String> {
    let directory = root.join("editors/page");
    crate::run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&directory))?;
    crate::run(Command::new("npm").args(["run", "build"]).current_dir(&directory))
}
