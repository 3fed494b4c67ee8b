//! Bare words as text and as bytes.

use ctm_image::{ByteOrder, hex};
use ctm_testkit::seeded::Random;

#[test]
fn what_is_written_is_read() {
    let mut random = Random::new(3);
    for text in [include_str!("corpus/x1k/absneg_sat.hex"), include_str!("corpus/x1k/mandelbrot.hex")] {
        let program = hex::read(text).unwrap();
        assert_eq!(hex::write(&program), text);
        assert_eq!(hex::read_binary(&hex::write_binary(&program)).unwrap(), program);
    }
    for _ in 0..50 {
        let words: Vec<u32> = (0..random.below(40) * 2).map(|_| random.word()).collect();
        assert_eq!(hex::read_words(&hex::write_words(&words, 2), 2).unwrap(), words);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            assert_eq!(hex::read_binary_words(&hex::write_binary_words(&words, order), 2, order).unwrap(), words);
        }
    }
}

#[test]
fn comments_blanks_and_prefixes_are_accepted() {
    let text = "; head\r\n\n  # more\n0x5, 0,\t0 0 0X0 ffffFFFF // tail\r\n// end";
    assert_eq!(hex::read(text).unwrap().words, [[5, 0, 0, 0, 0, 0xffff_ffff]]);
    assert_eq!(hex::read("").unwrap().words, [[0u32; 6]; 0]);
}

#[test]
fn errors_say_line_and_column() {
    for (text, message) in [
        (
            "1 2 3 4 5",
            "line 1, column 10: found the end of a line of 5 words; allowed: 6 words, the dwords of one instruction",
        ),
        (
            "; \u{e4}\n1 2 3 4 5 6 7",
            "line 2, column 14: found the end of a line of 7 words; allowed: 6 words, the dwords of one instruction",
        ),
        ("\n1 2 3 x 5 6", "line 2, column 7: found `x`; allowed: words of 1 to 8 hexadecimal digits"),
        ("\u{e4} 1", "line 1, column 1: found `\u{e4}`; allowed: words of 1 to 8 hexadecimal digits"),
        ("1 2 +3 4 5 6", "line 1, column 5: found `+3`; allowed: words of 1 to 8 hexadecimal digits"),
        ("1 2 123456789 4 5 6", "line 1, column 5: found `123456789`; allowed: words of 1 to 8 hexadecimal digits"),
    ] {
        assert_eq!(hex::read(text).unwrap_err().to_string(), message);
    }
    assert_eq!(hex::read("; \u{e4}\n1 z").unwrap_err().offset(), Some(7));
    assert_eq!(
        hex::read(&"0 0 0 0 0 0\n".repeat(513)).unwrap_err().to_string(),
        "the program has 513 instructions; the format holds 512"
    );
    assert_eq!(
        hex::read_binary(&[0; 25]).unwrap_err().to_string(),
        "the last instruction at byte 24 (0x18) has 24 bytes and reaches beyond the end at byte 25"
    );
}

#[test]
fn random_text_does_not_panic() {
    let alphabet: Vec<char> = "0123456789abcdefx ,;#/\n\r\t\u{e4}\u{1f600}\0".chars().collect();
    let mut random = Random::new(4);
    for _ in 0..20_000 {
        let text: String = (0..random.below(80)).map(|_| alphabet[random.below(alphabet.len())]).collect();
        let _ = hex::read(&text);
        let _ = hex::read_words(&text, 2);
    }
}
