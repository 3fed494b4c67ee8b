//! Parts shared by the run-time checks of both instruction sets.

/// One check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRule {
    /// Its name in kebab-case; stable.
    pub name: &'static str,
    /// The finding it reports.
    pub doc: &'static str,
    /// Where the manual speaks of it.
    pub cite: &'static str,
}

macro_rules! rules {
    ($( $(#[doc = $doc:literal])+ $id:ident $name:literal $cite:literal; )+) => {
        $( $(#[doc = $doc])+ pub const $id: $crate::checks::RunRule = $crate::checks::RunRule { name: $name, doc: concat!($($doc),+), cite: $cite }; )+

        /// Every check.
        pub const RULES: &[$crate::checks::RunRule] = &[ $( $id ),+ ];
    };
}
pub(crate) use rules;

/// Findings that one launch keeps.
pub const LIMIT: usize = 1000;
