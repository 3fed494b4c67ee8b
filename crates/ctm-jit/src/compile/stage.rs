//! The stages, and the masked form between them.

use crate::passes::masked::VarSet;
use ctm_ir::masked::Code;

/// Makes the enum of stages. A row of two,
///
/// ```text
/// /// Instructions become the masked form.
/// Lower "lower" "lowered";
/// ```
///
/// becomes `Stage::Lower`, with its name in `CTM_DUMP` and that of its result in `ctm emit`.
macro_rules! stages {
    ($($(#[$doc:meta])* $variant:ident $name:literal $result:literal;)*) => {
        /// A stage of the compiler.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stage {
            $($(#[$doc])* $variant,)*
        }

        impl Stage {
            /// All of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in `CTM_DUMP`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The name of its result, as `ctm emit --stage` takes it.
            #[must_use]
            pub const fn result(self) -> &'static str {
                match self { $(Self::$variant => $result,)* }
            }
        }
    };
}

stages! {
    /// Instructions become micro-operations on lane vectors, flow control becomes operations on masks.
    Lower "lower" "lowered";
    /// Mask propagation: operations on masks with known results become copies.
    Masks "masks" "masks";
    /// Live variables, backward: dead operations and stores go, stores without a reader in other lanes lose their mask.
    Liveness "liveness" "liveness";
    /// Tiling: a launch without divergence runs tile by tile, without masks, with fetches at linear functions of the index pair.
    Tile "tile" "tiled";
    /// Instruction selection: operations become vector instructions on virtual registers.
    Select "select" "selected";
    /// Instructions that are emitted as one: comparison and mask, sum and masked store, loop count and branch.
    Fuse "fuse" "fused";
    /// Instructions are grouped into strips, each of which is emitted for one register part after the other.
    Strips "strips" "strips";
    /// Live ranges, then registers and spill slots; the width of a wavefront.
    Allocate "allocate" "allocated";
    /// The layout of the frame.
    Frame "frame" "framed";
    /// Machine code.
    Emit "emit" "code";
}

/// A program in the masked form, the input of all back ends.
#[derive(Default)]
pub struct Form {
    /// Its blocks.
    pub code: Code,
    /// The variables that are live at the beginning of each block.
    pub live: Vec<VarSet>,
}

/// Checks the rules of a form after a stage, in debug builds and tests.
pub fn checked<E: std::fmt::Display>(
    stage: Stage,
    verify: impl FnOnce() -> Result<(), E>,
    text: impl FnOnce() -> String,
) {
    if cfg!(debug_assertions)
        && let Err(error) = verify()
    {
        panic!("after `{}`: {error}\n{}", stage.name(), text());
    }
}
