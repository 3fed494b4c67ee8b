//! Whether an input is as large as the domain, where it is read at each processor's own place.

use ctm_exec::Domain;
use ctm_isa::x1k::Program;

/// The required size of an input that is read at the processors' own places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As large as the domain.
    Exact,
    /// At least as far as the domain reaches: the domain is a part of the array.
    Reaches,
}

/// The error of the size (`[rows, columns]`) of input `slot`: the program reads it at the processors' own places only
/// ([`Program::inputs_at_position`]), and it has another size than the domain, so that its edge would be repeated or some of it would not be read.
///
/// `None` for inputs that are also read elsewhere: they may have any size.
///
/// ```
/// use ctm_exec::Domain;
/// use ctm_launch::{Fit, misfit};
/// let program = ctm_isa::x1k::text::assemble("tex r1, s0, r0.rg\nmov o0, r1\n").program.unwrap();
/// let domain = Domain { i0: 0, j0: 0, i1: 3, j1: 0 };
/// assert!(misfit(&program, 0, [1, 4], domain, Fit::Exact).is_none());
/// assert!(misfit(&program, 0, [1, 2], domain, Fit::Reaches).is_some());
/// assert!(misfit(&program, 0, [1, 8], domain, Fit::Exact).is_some());
/// ```
#[must_use]
pub fn misfit(program: &Program, slot: u8, size: [usize; 2], domain: Domain, fit: Fit) -> Option<String> {
    let wrong = size_misfit(size, domain, fit)?;
    program.inputs_at_position().contains(&slot).then_some(wrong)
}

/// The error of the size of an input that is read at the processors' own places only.
#[must_use]
pub fn size_misfit([rows, columns]: [usize; 2], domain: Domain, fit: Fit) -> Option<String> {
    let needed = [domain.j1 as usize + 1, domain.i1 as usize + 1];
    let fits = match fit {
        Fit::Exact => [rows, columns] == needed,
        Fit::Reaches => rows >= needed[0] && columns >= needed[1],
    };
    let sides = |[rows, columns]: [usize; 2]| match rows {
        1 => format!("{columns} elements"),
        _ => format!("{columns} columns and {rows} rows"),
    };
    let domain = if fit == Fit::Exact { "the domain has" } else { "the domain reaches to" };
    (!fits).then(|| {
        format!(
            "it has {}, and the program reads it at each processor's own place only, of which {domain} {}",
            sides([rows, columns]),
            sides(needed)
        )
    })
}

/// Advice about an input of another size, for messages of runs.
pub const ANY_SIZE: &str = "an input with a sampler may have any size (`clamp` in C and Python)";
