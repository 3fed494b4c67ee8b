//! Tests of `src/shadow.rs`.

use super::*;
use ctm_exec::r700::Tiles;
use ctm_exec::x1k::Form;

#[test]
fn only_what_may_be_written_is() {
    let shape =
        Elements { bytes: (), pitch: 5, width: 3, height: 2, form: Form::Floats, channels: 2, mask: 0b01, tiles: None };
    let array: Vec<u8> = (0..5 * 2 * 2 * 4).collect();
    let mut shadow = Shadow::of(&shape, &array);
    assert_eq!(shadow.difference(&array), None);
    for (i, j, written) in [(3, 0, 0xf), (0, 2, 0xf), (1, 1, 0b10)] {
        assert_eq!(shadow.store(Position { i, j }, &[7; 4], written), Written::default());
        assert_eq!(shadow.difference(&array), None, "a column, a row, a channel that are not to be written");
    }
    let written = shadow.store(Position { i: 2, j: 1 }, &[7; 4], 0b11);
    assert_eq!(written, Written { elements: 1, bytes: 4 });
    let place = FirstDifference { element: Position { i: 2, j: 1 }, channel: 0, found: 7, expected: 0x3b3a_3938 };
    assert_eq!(shadow.difference(&array), Some(place));
    assert_eq!(shadow.lend().bytes[56..64], [7, 0, 0, 0, 60, 61, 62, 63]);
}

#[test]
fn elements_of_every_form() {
    let [one, half] = [1f32, 0.5].map(f32::to_bits);
    let tiles = Tiles { columns: [0, 4, 32].into(), rows: [0, 16 + 4].into(), tile_bytes: 32 };
    let (bytes, words) = (Form::Bytes { swapped: true }, Form::Words);
    let at = Position { i: 2, j: 1 };
    for (form, channels, tiles, channel, found, first) in [
        (bytes, 4, Some(tiles), 0, 128, 32 + 16 + 4 + 2),
        (bytes, 4, None, 2, 255, 20 + 8),
        (words, 1, None, 0, 32768, 14),
    ] {
        let shape = Elements { bytes: (), pitch: 5, width: 3, height: 2, form, channels, mask: 0xf, tiles };
        let array = vec![0; 64];
        let mut shadow = Shadow::of(&shape, &array);
        let size = if form == words { 2 } else { 1 };
        assert_eq!(shadow.store(at, &[half, 0, one, 0], 1 << channel), Written { elements: 1, bytes: size });
        assert_eq!(shadow.difference(&array), Some(FirstDifference { element: at, channel, found, expected: 0 }));
        assert_eq!(shadow.bytes().iter().position(|&byte| byte != 0), Some(first + usize::from(form == words)));
    }
}
