//! The formats of textures that show targets, against the targets' stored values: a reference value that is converted to such a format (R700 §9.4) is
//! the number that a target of it gives back.

use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{ColourFormat, Colours, NumberType, Swap};
use ctm_exec::r700::formats::{Format, in_format};
use ctm_isa::r700::ops::DataFormat;

/// Within and outside every range, none half-way between two steps.
const VALUES: [f32; 9] = [-3.0, -0.6, 0.0, 0.1, 0.300_781_25, 0.77, 1.0, 1.5, 6.0];

#[test]
fn references_are_what_targets_store() {
    let numbers = [NumberType::Unorm, NumberType::Snorm, NumberType::Uscaled, NumberType::Sscaled, NumberType::Float];
    let mut formats = 0;
    for &data in DataFormat::ALL {
        for number in numbers {
            for swap in [Swap::Std, Swap::Alt, Swap::StdRev, Swap::AltRev] {
                let Ok(colours) = Colours::new(ColourFormat { data, number, swap }) else { continue };
                let red =
                    |value: f32| f32::from_bits(colours.unpack(colours.pack([value.to_bits(), 0, 0, 0], false))[0]);
                // Formats without red give nothing to compare, and the largest numbers of 32 bits are no singles.
                if red(1.0) == red(0.0) || data.name().starts_with("FMT_32") && number != NumberType::Float {
                    continue;
                }
                let stencil_is_red = match data {
                    DataFormat::Fmt8_24Float | DataFormat::FmtX24_8_32Float => swap != Swap::Std && swap != Swap::Alt,
                    DataFormat::Fmt24_8Float => swap == Swap::Std || swap == Swap::Alt,
                    _ => false,
                };
                // An integer among floats, and a float that is not the first element.
                if stencil_is_red || data == DataFormat::Fmt24_8Float {
                    assert_eq!(colours.texel_format(), Format::default());
                    continue;
                }
                // No format begins with 3 or 6 bits.
                let reversed = matches!(swap, Swap::StdRev | Swap::AltRev);
                if matches!(data, DataFormat::Fmt3_3_2 | DataFormat::Fmt6_5_5) && reversed {
                    assert_eq!(colours.texel_format(), Format::default());
                    continue;
                }
                formats += 1;
                for value in VALUES {
                    let (found, stored) = (in_format(&colours.texel_format(), value), red(value));
                    assert_eq!(found, stored, "{} {number:?} {swap:?}: {value}", data.name());
                }
            }
        }
    }
    assert!(formats > 100, "{formats}");
}

#[test]
fn references_are_what_depth_targets_store() {
    for format in DepthFormat::ALL {
        for value in VALUES.into_iter().filter(|value| (0.0..=1.0).contains(value)) {
            let stored = format.number(format.quantised(value.into())) as f32;
            assert_eq!(in_format(&format.texel_format(), value), stored, "{format:?}: {value}");
        }
    }
}
