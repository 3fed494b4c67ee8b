//! Elements of 8 and 16 bits as numbers.

use ctm_exec::arrays::Form;

/// What has room for no fraction: the numbers added to it stand in its low bits.
pub const MAGIC: f32 = 8_388_608.0;

/// The first and the third channel change places.
pub const SWAP: Option<u8> = Some(0b11_00_01_10);

/// The largest whole number of a form: it stands for 1.
pub const fn largest(form: Form) -> f32 {
    match form {
        Form::Words => 65535.0,
        Form::Bytes { .. } | Form::Floats | Form::Square => 255.0,
    }
}

/// What makes numbers of whole ones. Instead of a division it is a multiplication by the reciprocal and by what that lacks, which rounds as the division does
/// for all whole numbers of 16 bits.
#[derive(Clone, Copy, Debug)]
pub struct Decoding {
    /// The nearest to the reciprocal of the largest.
    pub reciprocal: f32,
    /// What it lacks.
    pub lack: f32,
}

impl Decoding {
    /// Of elements of a form.
    #[allow(clippy::cast_possible_truncation, reason = "rounded")]
    pub fn of(form: Form) -> Self {
        let inverse = 1.0 / f64::from(largest(form));
        let reciprocal = inverse as f32;
        Self { reciprocal, lack: (inverse - f64::from(reciprocal)) as f32 }
    }

    /// A number of 0 to 1, as bytes.
    #[inline(always)]
    fn number(self, whole: u16) -> [u8; 4] {
        let whole = f32::from(whole);
        whole.mul_add(self.reciprocal, whole * self.lack).to_ne_bytes()
    }
}

/// Whole numbers as numbers of 0 to 1, as many as there are of both: loops that become vector code.
#[target_feature(enable = "avx2,fma")]
pub fn convert(form: Form, from: &[u8], to: &mut [u8]) {
    let decoding = Decoding::of(form);
    let (to, _) = to.as_chunks_mut::<4>();
    match form {
        Form::Words => {
            let (words, _) = from.as_chunks();
            words.iter().zip(to).for_each(|(&word, to)| *to = decoding.number(u16::from_le_bytes(word)));
        }
        Form::Bytes { swapped: false } => {
            from.iter().zip(to).for_each(|(&byte, to)| *to = decoding.number(byte.into()));
        }
        Form::Bytes { swapped: true } => {
            // Two elements: a vector.
            let (from, to) = (from.as_chunks::<8>().0, to.as_chunks_mut::<8>().0);
            let order = [2, 1, 0, 3, 6, 5, 4, 7];
            from.iter().zip(to).for_each(|(of, to)| *to = order.map(|channel| decoding.number(of[channel].into())));
        }
        Form::Floats | Form::Square => {}
    }
}
