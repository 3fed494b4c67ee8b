//! Findings about source text and programs.
//!
//! A [`Diagnostic`] is data: the found value, its place, the rule of the manual, the fix. Rendering with
//! source lines and carets, or as JSON, happens at the edge (the `ctm` crate), so that an editor can use the same findings.

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something worth knowing; nothing is wrong.
    Note,
    /// Legal, but very likely unintended.
    Warning,
    /// The program or text is wrong.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Byte offsets `start..end` into one source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place in the source text with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The message; may be empty for the primary label.
    pub message: String,
}

/// One finding about source text or a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// The rule's name in kebab-case, by which it can be allowed; stable.
    pub rule: &'static str,
    /// The found value and the allowed ones; lower case, no full stop.
    pub message: String,
    /// Places in the source, the primary one first. Empty for programs that came as words.
    pub labels: Vec<Label>,
    /// The instruction the finding is about.
    pub pc: Option<u32>,
    /// The manual's section, such as `CTM §3.3.2`.
    pub cite: Option<&'static str>,
    /// The fix, if one is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding without a place yet.
    #[must_use]
    pub fn new(severity: Severity, rule: &'static str, message: impl Into<String>) -> Self {
        Self { severity, rule, message: message.into(), labels: Vec::new(), pc: None, cite: None, help: None }
    }

    /// An error.
    #[must_use]
    pub fn error(rule: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, rule, message)
    }

    /// A warning.
    #[must_use]
    pub fn warning(rule: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, rule, message)
    }

    /// Adds a place; the first one added is the primary one.
    #[must_use]
    pub fn at(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Says which instruction it is about.
    #[must_use]
    pub fn pc(mut self, pc: u32) -> Self {
        self.pc = Some(pc);
        self
    }

    /// Cites the manual.
    #[must_use]
    pub fn cite(mut self, section: &'static str) -> Self {
        self.cite = Some(section);
        self
    }

    /// Adds the fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
