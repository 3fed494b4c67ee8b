//! Comparisons of new values with stored ones, without branches.

use crate::lanes::mask;
use crate::state::Compare;

/// All bits for each way in which a new value can compare with the stored one, where the test passes then: less, equal, greater, and none of these.
pub(super) type Ways = [u32; 4];

/// Of a comparison.
pub(super) fn ways(compare: Compare) -> Ways {
    let of = |new: f32| mask(compare.holds(&new, &1.0));
    [of(0.0), of(1.0), of(2.0), of(f32::NAN)]
}

/// All bits where the test passes.
#[inline(always)]
pub(super) fn compared(new: i32, stored: i32, [less, equal, greater, _]: Ways) -> u32 {
    mask(new < stored) & less | mask(new == stored) & equal | mask(new > stored) & greater
}

/// The same of floats.
#[inline(always)]
pub(super) fn compared_floats(new: f32, stored: f32, [less, equal, greater, none]: Ways) -> u32 {
    let [is_less, is_equal, is_greater] = [mask(new < stored), mask(new == stored), mask(new > stored)];
    let is_none = !(is_less | is_equal | is_greater);
    is_less & less | is_equal & equal | is_greater & greater | is_none & none
}
