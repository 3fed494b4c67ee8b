//! The table of optional passes, with a switch for each.
//!
//! `CTM_PASSES=-joint,-waves` leaves those passes out, to find the one at fault where two engines differ. The variable is read once. Results never
//! depend on it; the differential tests run without each of them. `docs/engine/passes.md` has the gain of each.

use std::fmt;
use std::sync::OnceLock;

/// The environment variable that names passes to leave out.
const PASSES: &str = "CTM_PASSES";

/// Makes the enum and the table of it. A row of three,
///
/// ```text
/// /// Flow control is decided for all groups of a pass at once.
/// Joint "joint" "X1K: a group that stays with no lane running comes to where it would have jumped; nothing is counted";
/// ```
///
/// becomes `Pass::Joint`, with [`Pass::name`] and [`Pass::precondition`].
macro_rules! passes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $precondition:literal;)*) => {
        /// A pass that may be left out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Pass {
            $($(#[$doc])* $variant,)*
        }

        impl Pass {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name that `CTM_PASSES` uses.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The precondition of the pass.
            pub const fn precondition(self) -> &'static str {
                match self {
                    $(Self::$variant => $precondition,)*
                }
            }
        }
    };
}

passes! {
    /// Launches run tile by tile.
    Streams "streams" "every processor does the same, and coordinates are whole linear functions of the index pair";
    /// The four channels of a processor are side by side in a vector of a stream.
    Packed "packed" "streams: operations do the same to the four channels of a register";
    /// Columns that all rows of tiles read are copied side by side.
    Panels "panels" "streams: an input whose rows lie far apart is read again and again";
    /// Groups that are covered to their end run code of their own.
    Covered "covered" "X1K: flow control leaves uncovered lanes out, and nothing is killed";
    /// Flow control is decided for all groups of a pass at once.
    Joint "joint" "X1K: a group that stays with no lane running comes to where it would have jumped; nothing is counted";
    /// Lanes leave two loops at once.
    Breaks "breaks" "X1K, joint: the comparison behind an inner loop is the one by which lanes have left it";
    /// Products of constants are not tested for zero times infinity.
    Ordinary "ordinary" "the uniform value was a number other than zero in the program's first launch, and is in this one";
    /// Dot products with a term of constants are not tested for terms below the range.
    Moderate "moderate" "X1K: the constants of such a term are numbers from 2^-24 to 2^24";
    /// Literals and constants have registers.
    Kept "kept" "streams, and loops of other programs: registers are left, or on AVX2 constants are read";
    /// Values that depend on uniform values alone are computed once for each launch.
    Computed "computed" "an operation reads nothing but uniform values and literals";
    /// Operations on masks with known results are left out.
    Masks "masks" "a mask is always empty, or the same as another";
    /// Wavefronts follow one another in one call.
    Waves "waves" "machine code: exports go to arrays, and wavefronts are groups by themselves";
    /// Comparisons are made into the active lanes, sums under the mask of their store.
    Fused "fused" "machine code: nobody else reads the result";
    /// Wavefronts are narrower than the program's.
    Narrow "narrow" "more vectors are live than there are registers, or lanes go different ways; lanes share nothing, and nothing is counted";
    /// Textures with levels, layers and faces are looked up on vectors.
    Levels "levels" "R700: memory offers texels, and the filters are nearest or linear";
}

impl Pass {
    /// Whether the pass runs.
    pub fn is_on(self) -> bool {
        left_out().as_ref().map_or(true, |left_out| left_out >> (self as u32) & 1 == 0)
    }
}

/// The passes that `CTM_PASSES` may leave out: names and preconditions.
pub fn passes() -> impl Iterator<Item = (&'static str, &'static str)> {
    Pass::ALL.iter().map(|pass| (pass.name(), pass.precondition()))
}

/// The passes that the environment leaves out, as bits.
fn left_out() -> &'static Result<u64, PassesError> {
    static LEFT_OUT: OnceLock<Result<u64, PassesError>> = OnceLock::new();
    LEFT_OUT.get_or_init(|| match std::env::var_os(PASSES) {
        None => Ok(0),
        Some(names) => parse(&names.to_string_lossy()),
    })
}

/// Whether all names in the environment are passes.
///
/// # Errors
/// When it does not.
pub fn check() -> Result<(), PassesError> {
    left_out().as_ref().map(drop).map_err(Clone::clone)
}

fn parse(names: &str) -> Result<u64, PassesError> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(0, |bits, given| {
        let found = given.strip_prefix('-').and_then(|name| Pass::ALL.iter().find(|pass| pass.name() == name));
        found.map(|&pass| bits | 1 << (pass as u32)).ok_or_else(|| PassesError { given: given.to_owned() })
    })
}

/// `CTM_PASSES` names something else than passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassesError {
    given: String,
}

impl fmt::Display for PassesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = Pass::ALL.iter().map(|pass| format!("`-{}`", pass.name())).collect();
        write!(f, "{PASSES}: `{}` is no pass to leave out; there are {}", self.given, names.join(", "))
    }
}

impl std::error::Error for PassesError {}

#[cfg(test)]
#[path = "../../tests/unit/passes/table.rs"]
mod tests;
