//! Files for editors that are generated from the tables.

use ctm_ide::grammar::Grammar;
use std::path::Path;

/// Writes the grammars.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    for grammar in Grammar::ALL {
        let path = root.join("editors/vscode/syntaxes").join(grammar.file_name());
        std::fs::write(&path, grammar.file()).map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
    }
    Ok(())
}
