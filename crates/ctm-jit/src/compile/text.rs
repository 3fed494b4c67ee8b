//! The text of strips and of machine code.

/// The strips of each block, as a comment.
pub fn strips_text(strips: &[Vec<std::ops::Range<usize>>]) -> String {
    let of_block = |(block, strips): (usize, &Vec<std::ops::Range<usize>>)| {
        let lines: Vec<String> = strips.iter().map(|of| format!("{}..{}", of.start, of.end)).collect();
        format!("; strips of b{block}: {}\n", lines.join(" "))
    };
    strips.iter().enumerate().map(of_block).collect()
}

/// Machine code as text: disassembled with the feature `iced-x86`, else bytes with their offsets.
#[cfg(all(target_arch = "x86_64", feature = "iced-x86"))]
pub fn code_text(bytes: &[u8]) -> String {
    use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
    let mut formatter = IntelFormatter::new();
    let mut text = String::new();
    for inst in Decoder::new(64, bytes, DecoderOptions::NONE) {
        text.push_str(&format!("{:6x}  ", inst.ip()));
        formatter.format(&inst, &mut text);
        text.push('\n');
    }
    text
}

/// Machine code as text: disassembled with the feature `iced-x86`, else bytes with their offsets.
#[cfg(not(all(target_arch = "x86_64", feature = "iced-x86")))]
pub fn code_text(bytes: &[u8]) -> String {
    let line = |(number, bytes): (usize, &[u8])| {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:6x}  {}\n", 16 * number, bytes.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect()
}
