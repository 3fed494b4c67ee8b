//! The table of optional passes, with a switch for each.
//!
//! `CTM_PASSES=-joint,-waves` leaves those passes out, to find the one at fault where two engines differ. The variable is read once. Results never
//! depend on it; the differential tests run without each of them. `docs/engine/passes.md` has the gain of each.

use super::switches::{SwitchError, Switches};

/// The passes that the environment leaves out.
static LEFT_OUT: Switches = Switches::new("CTM_PASSES", "pass to leave out", "-");

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

fn left_out() -> &'static Result<u64, SwitchError> {
    LEFT_OUT.named(Pass::ALL.iter().map(|pass| pass.name()))
}

/// Whether all names in `CTM_PASSES` are passes.
///
/// # Errors
/// When they are not.
pub fn check() -> Result<(), SwitchError> {
    left_out().as_ref().map(drop).map_err(Clone::clone)
}

#[cfg(test)]
#[path = "../../tests/unit/passes/table.rs"]
mod tests;
