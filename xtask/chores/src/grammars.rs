//! Files for editors that are generated from the tables.

use ctm_ide::grammar;
use ctm_ide::language::Language;
use std::path::Path;

/// Writes the grammars.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    for language in Language::ALL {
        let path = root.join("editors/vscode/syntaxes").join(grammar::file_name(language));
        std::fs::write(&path, grammar::file(language))
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
    }
    Ok(())
}
