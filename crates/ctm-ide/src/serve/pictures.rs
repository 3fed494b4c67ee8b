//! Outputs as numbers and as pictures.

use super::numbers::{OutputFloats, base64};
use super::wire;
use ctm::array::{Array, ArrayFileKind, Values};

/// Elements of all channels up to which the numbers go along.
const MOST_VALUES: usize = 4 << 20;
/// The longest side of a thumbnail.
const THUMBNAIL: usize = 144;

/// The address of an array as a PNG.
pub(super) fn picture(array: &Array) -> Result<String, String> {
    let bytes = array.to_bytes(ArrayFileKind::Png).map_err(|e| e.to_string())?;
    Ok(format!("data:image/png;base64,{}", base64(&bytes)))
}

/// An output as the page shows it; column and row of its first element.
pub(super) fn shown(name: &str, array: &Array, left: u32, top: u32) -> Result<wire::Output, String> {
    let count = array.width * array.height * array.channels;
    let values = (count <= MOST_VALUES).then(|| OutputFloats::of(&array.to_f32()));
    // The page makes pictures of numbers itself.
    let picture = if values.is_some() { None } else { Some(picture(array)?) };
    Ok(wire::Output {
        name: name.to_owned(),
        width: array.width,
        height: array.height,
        channels: array.channels,
        left,
        top,
        picture,
        values,
    })
}

/// Whether an array looks like a picture: numbers from 0 to 1, and not all the same.
pub(super) fn is_picture(array: &Array) -> bool {
    let values = array.to_f32();
    let within = values.iter().filter(|value| (-0.01..=1.01).contains(*value)).count();
    within * 20 >= values.len() * 19 && values.windows(2).any(|pair| pair[0].to_bits() != pair[1].to_bits())
}

/// A small picture of an output: numbers from the least to the largest where they leave 0 to 1.
#[allow(clippy::cast_precision_loss, reason = "a picture")]
pub(super) fn thumbnail(output: &Array) -> Option<String> {
    let values = output.to_f32();
    let step = output.width.max(output.height).div_ceil(THUMBNAIL).max(1);
    let (width, height) = (output.width / step, output.height / step);
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let beyond = finite().filter(|value| !(-0.01..=1.01).contains(value)).count() * 20 > values.len();
    let (low, high) = if beyond {
        finite().fold((f32::MAX, f32::MIN), |(low, high), value| (low.min(value), high.max(value)))
    } else {
        (0.0, 1.0)
    };
    let scale = if high > low { 1.0 / (high - low) } else { 1.0 };
    let mut small = Vec::with_capacity(width * height * output.channels);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..output.channels {
                let mut sum = 0.0;
                for (dx, dy) in (0..step).flat_map(|dy| (0..step).map(move |dx| (dx, dy))) {
                    let at = ((y * step + dy) * output.width + x * step + dx) * output.channels + channel;
                    sum += values.get(at).copied().unwrap_or(0.0);
                }
                // The fourth channel is opacity.
                let opaque = channel == 3;
                small.push(if opaque { 1.0 } else { (sum / (step * step) as f32 - low) * scale });
            }
        }
    }
    if width * height == 0 {
        return None;
    }
    picture(&Array { width, height, channels: output.channels, values: Values::F32(small) }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_outputs_are_pictures() {
        let array = |width| Array { width, height: 2048, channels: 1, values: Values::F32(vec![0.5; width * 2048]) };
        let small = shown("o", &array(2), 0, 0).unwrap();
        assert!(small.picture.is_none() && small.values.is_some_and(|numbers| numbers.0.len() == 4 * 4096));
        let large = shown("o", &array(2049), 0, 0).unwrap();
        assert!(
            large.values.is_none() && large.picture.is_some_and(|of| of.starts_with("data:image/png;base64,iVBOR"))
        );
    }
}
