//! The settings of the environment, and lines for the user.

use ctm_radeon::environment::Settings;
use std::io::{self, Write};
use std::sync::OnceLock;

/// The settings of the environment, read once, where this library was loaded.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let (settings, errors) = Settings::read(|name| std::env::var_os(name));
        for error in errors {
            report(&error.to_string());
        }
        settings
    })
}

/// Prints a line for the user.
pub(crate) fn report(message: &str) {
    let line = format!("ctm radeon: {message}\n");
    // A closed stream is no reason to stop.
    let _ = io::stderr().write_all(line.as_bytes());
}
