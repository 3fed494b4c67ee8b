//! Numbers for readers.

use std::fmt;

/// A float as the shortest decimal number that is the same float: with an exponent where plain digits would be mostly zeros.
///
/// ```
/// use ctm_isa::number::Short;
/// let shown: Vec<String> = [1.0, -0.5, f32::MIN, 1e-38, 0.0].map(|x| Short(x).to_string()).into();
/// assert_eq!(shown, ["1", "-0.5", "-3.4028235e38", "1e-38", "0"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Short(pub f32);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || !size.is_finite() || (1e-7..1e10).contains(&size) {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:e}", self.0)
        }
    }
}
