//! The environment variables by which `ctm radeon` and users control `libctm_radeon.so`.

use crate::Error;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// An environment variable of the preloaded library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its allowed values.
    pub values: &'static str,
    /// Its effect.
    pub about: &'static str,
}

/// A directory for captures.
pub const CAPTURE: Variable =
    Variable { name: "CTM_RADEON_CAPTURE", values: "a directory", about: "write a capture of each process there" };
/// A directory for pictures.
pub const FRAMES: Variable = Variable {
    name: "CTM_RADEON_FRAMES",
    values: "a directory",
    about: "write each picture that the card shows there",
};
/// Share the pictures of the card's display.
pub const SHOW: Variable = Variable {
    name: "CTM_RADEON_SHOW",
    values: "a file",
    about: "put the picture that the card shows into it, where a viewer reads it, 60 times a second at most",
};
/// Look for mistakes.
pub const CHECK: Variable =
    Variable { name: "CTM_RADEON_CHECK", values: "0 or 1", about: "look for mistakes in submissions and programs" };
/// Prints the counts.
pub const STATS: Variable =
    Variable { name: "CTM_RADEON_STATS", values: "0 or 1", about: "print what each process submitted when it ends" };
/// Whether submissions are executed.
pub const EXECUTE: Variable =
    Variable { name: "CTM_RADEON_EXECUTE", values: "0 or 1", about: "execute submissions; 1 without the variable" };
/// The engine.
pub const ENGINE: Variable =
    Variable { name: "CTM_RADEON_ENGINE", values: "interp, jit or verify", about: "the engine that runs programs" };
/// The chip.
pub const CHIP: Variable =
    Variable { name: "CTM_RADEON_CHIP", values: "rv770, rv530 or r580", about: "the chip that drivers see" };

/// All of them.
pub const VARIABLES: [Variable; 8] = [CAPTURE, FRAMES, SHOW, CHECK, STATS, EXECUTE, ENGINE, CHIP];

/// A chip that drivers can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chip {
    /// An R700: Radeon HD 4870.
    #[default]
    Rv770,
    /// An R500 with 2 pixel pipelines' worth of vertex hardware: Radeon X1600.
    Rv530,
    /// An R500: Radeon X1900.
    R580,
}

impl Chip {
    /// All of them, with the names that users give.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Rv770, "rv770"), (Self::Rv530, "rv530"), (Self::R580, "r580")];

    /// The device number on the PCI bus; the vendor's is 0x1002.
    #[must_use]
    pub const fn device(self) -> u16 {
        match self {
            Self::Rv770 => 0x9440,
            Self::Rv530 => 0x71c5,
            Self::R580 => 0x7249,
        }
    }

    /// Whether it is an R700.
    #[must_use]
    pub const fn is_r700(self) -> bool {
        matches!(self, Self::Rv770)
    }

    /// The chip with a name, in any case of letters.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, of)| of.eq_ignore_ascii_case(name)).map(|(chip, _)| *chip)
    }

    /// Its packets and registers.
    #[must_use]
    pub const fn streams(self) -> &'static crate::chip::Chip {
        match self {
            Self::Rv770 => &crate::packets::R700,
            Self::Rv530 => &crate::packets::r500::RV530,
            Self::R580 => &crate::packets::r500::R580,
        }
    }

    /// The name that users give.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(chip, _)| *chip == self).map_or("rv770", |(_, name)| name)
    }
}

/// The settings of the preloaded library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where captures go; none are made without it.
    pub capture: Option<PathBuf>,
    /// The folder for the frames of the card's display; none are written without it.
    pub frames: Option<PathBuf>,
    /// The existing file for the picture that the card's display shows ([`shared_picture`](crate::shared_picture)).
    pub show: Option<PathBuf>,
    /// Whether to look for mistakes.
    pub check: bool,
    /// Whether each process prints the counts of its submissions.
    pub stats: bool,
    /// Whether submissions are executed.
    pub execute: bool,
    /// The engine by name; the fastest of the host without one.
    pub engine: Option<String>,
    /// The chip that drivers see.
    pub chip: Chip,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            capture: None,
            frames: None,
            show: None,
            check: false,
            stats: false,
            execute: true,
            engine: None,
            chip: Chip::default(),
        }
    }
}

impl Settings {
    /// The settings that variables give. Empty ones are as absent.
    ///
    /// # Errors
    /// One for each variable with an illegal value; its setting keeps the default.
    pub fn read(get: impl Fn(&str) -> Option<OsString>) -> (Self, Vec<Error>) {
        let mut settings = Self::default();
        let mut errors = Vec::new();
        let value = |variable: Variable| get(variable.name).filter(|value| !value.is_empty());
        let mut wrong = |variable: Variable, found: &OsStr| {
            let Variable { name, values, .. } = variable;
            errors.push(Error::new("environment", format!("{name} is `{}`, {values} is wanted", found.display())));
        };
        settings.capture = value(CAPTURE).map(PathBuf::from);
        settings.frames = value(FRAMES).map(PathBuf::from);
        settings.show = value(SHOW).map(PathBuf::from);
        for (variable, to) in
            [(CHECK, &mut settings.check), (STATS, &mut settings.stats), (EXECUTE, &mut settings.execute)]
        {
            match value(variable) {
                None => {}
                Some(text) if text == "0" => *to = false,
                Some(text) if text == "1" => *to = true,
                Some(text) => wrong(variable, &text),
            }
        }
        if let Some(text) = value(ENGINE) {
            match text.to_str().filter(|name| ["interp", "jit", "verify"].contains(name)) {
                Some(name) => settings.engine = Some(name.to_owned()),
                None => wrong(ENGINE, &text),
            }
        }
        if let Some(text) = value(CHIP) {
            match Chip::ALL.iter().find(|(_, name)| text == *name) {
                Some(&(chip, _)) => settings.chip = chip,
                None => wrong(CHIP, &text),
            }
        }
        (settings, errors)
    }

    /// The variables that give these settings, with empty values for defaults.
    #[must_use]
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let flag = |set: bool| OsString::from(if set { "1" } else { "0" });
        vec![
            (CAPTURE.name, self.capture.clone().unwrap_or_default().into()),
            (FRAMES.name, self.frames.clone().unwrap_or_default().into()),
            (SHOW.name, self.show.clone().unwrap_or_default().into()),
            (CHECK.name, flag(self.check)),
            (STATS.name, flag(self.stats)),
            (EXECUTE.name, flag(self.execute)),
            (ENGINE.name, self.engine.clone().unwrap_or_default().into()),
            (CHIP.name, self.chip.name().into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_go_through_the_environment() {
        let settings = Settings {
            capture: Some("dir".into()),
            frames: Some("pictures".into()),
            show: Some("picture".into()),
            check: true,
            stats: true,
            execute: false,
            engine: Some("interp".to_owned()),
            chip: Chip::R580,
        };
        for settings in [settings, Settings::default()] {
            let variables = settings.variables();
            let get = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.clone());
            assert_eq!(Settings::read(get), (settings.clone(), vec![]));
            assert!(variables.iter().map(|(name, _)| *name).eq(VARIABLES.map(|v| v.name)));
        }
    }

    #[test]
    fn wrong_values_are_named() {
        let (settings, errors) =
            Settings::read(|name| (![CAPTURE, FRAMES, SHOW].map(|of| of.name).contains(&name)).then(|| "many".into()));
        assert_eq!(settings, Settings::default());
        let expected = "CTM_RADEON_ENGINE is `many`, interp, jit or verify is wanted";
        assert_eq!(errors.len(), 5);
        assert_eq!(errors[3].message, expected);
    }
}
