//! Array files against bytes that other programs write.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_files::array::{Array, ArrayFileKind, RawFormat, RawShape, Values};
use proptest::prelude::*;

/// The header as `numpy.save` of NumPy 1.14 and later lays it out: version 1, padded with spaces to a multiple of 64.
fn numpy(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    let length = (10 + dict.len() + 1).div_ceil(64) * 64 - 10;
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(dict.as_bytes());
    out.resize(10 + length - 1, b' ');
    out.push(b'\n');
    out.extend_from_slice(data);
    out
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn written_npy_is_what_numpy_writes() {
    // numpy.save("a.npy", numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
    let array = Array { height: 2, width: 3, channels: 1, values: Values::F32(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]) };
    let expected = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\
        \x20                                                         \n\
        \x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40";
    assert_eq!(array.to_bytes(ArrayFileKind::Npy).unwrap(), expected);
    assert_eq!(Array::from_bytes(ArrayFileKind::Npy, expected, None).unwrap(), array);
}

#[test]
fn npy_of_every_kind_is_read() {
    let c_order = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 2), }";
    let values: Vec<f32> = (0..8u8).map(f32::from).collect();
    let a = Array::from_bytes(ArrayFileKind::Npy, &numpy(c_order, &f32_bytes(&values)), None).unwrap();
    assert_eq!((a.height, a.width, a.channels), (2, 2, 2));
    assert_eq!(a.values, Values::F32(values.clone()));

    // The same array after numpy.asfortranarray: the first index runs fastest.
    let fortran = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2, 2), }";
    let data = f32_bytes(&[0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0]);
    assert_eq!(Array::from_bytes(ArrayFileKind::Npy, &numpy(fortran, &data), None).unwrap(), a);

    let big: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    let dict = "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2, 2), }";
    assert_eq!(Array::from_bytes(ArrayFileKind::Npy, &numpy(dict, &big), None).unwrap(), a);

    let double: Vec<u8> = values.iter().flat_map(|&v| f64::from(v).to_le_bytes()).collect();
    let dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2), }";
    assert_eq!(Array::from_bytes(ArrayFileKind::Npy, &numpy(dict, &double), None).unwrap(), a);

    let dict = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }";
    let a = Array::from_bytes(ArrayFileKind::Npy, &numpy(dict, &[1, 0, 2, 0, 0xff, 0xff]), None).unwrap();
    assert_eq!((a.height, a.width, a.channels, a.value(2)), (1, 3, 1, 1.0));
    assert_eq!(a.values, Values::U16(vec![1, 2, 65535]));

    // Version 2 has four bytes of length.
    let mut v2 = b"\x93NUMPY\x02\x00\x40\x00\x00\x00".to_vec();
    v2.extend_from_slice(b"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }    \n");
    v2.extend_from_slice(&[7, 255]);
    assert_eq!(Array::from_bytes(ArrayFileKind::Npy, &v2, None).unwrap().values, Values::U8(vec![7, 255]));
}

#[test]
fn what_is_no_array_is_named() {
    let refused: &[(&[u8], &str)] = &[
        (b"PK\x03\x04", "this is no NPY file: it does not begin with \\x93NUMPY, at byte 0"),
        (b"\x93NUMPY\x09\x00", "the format version is 9, 1 to 3 can be read, at byte 6"),
        (b"\x93NUMPY\x01\x00\xff\x00{", "the file ends within its header, at byte 11"),
    ];
    for (bytes, message) in refused {
        assert_eq!(Array::from_bytes(ArrayFileKind::Npy, bytes, None).unwrap_err().to_string(), *message);
    }
    let dicts = [
        (
            "{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }",
            "elements are `<c8`; bool, int8 to int64, uint8 to uint64 and float16 to float64",
        ),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 5), }", "the shape is [1, 1, 5]"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (9, 9), }", "the file ends after 4 of the 324 bytes"),
        ("{'descr': '<f4', 'shape': (1, 1), }", "the header has no `fortran_order`"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999), }", "is too large"),
    ];
    for (dict, message) in dicts {
        let error = Array::from_bytes(ArrayFileKind::Npy, &numpy(dict, &[0; 4]), None).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn pfm_rows_go_from_the_bottom_up() {
    let file = [b"PF\n1 2\n-1.0\n".as_slice(), &f32_bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])].concat();
    let a = Array::from_bytes(ArrayFileKind::Pfm, &file, None).unwrap();
    assert_eq!((a.height, a.width, a.channels), (2, 1, 3));
    assert_eq!(a.values, Values::F32(vec![4.0, 5.0, 6.0, 1.0, 2.0, 3.0]));
    assert_eq!(a.to_bytes(ArrayFileKind::Pfm).unwrap(), file);
    // Big-endian data has a positive scale.
    let file = [b"Pf 1 1 1.0\n".as_slice(), &2.5f32.to_be_bytes()].concat();
    assert_eq!(Array::from_bytes(ArrayFileKind::Pfm, &file, None).unwrap().value(0), 2.5);
}

#[test]
fn png_clamps_and_comes_back() {
    let values = vec![0.0, 0.5, 1.0, 2.0, -1.0, f32::NAN, 0.2, 1.0];
    let a = Array { height: 1, width: 2, channels: 4, values: Values::F32(values) };
    let back = Array::from_bytes(ArrayFileKind::Png, &a.to_bytes(ArrayFileKind::Png).unwrap(), None).unwrap();
    assert_eq!(back.values, Values::U8(vec![0, 128, 255, 255, 0, 0, 51, 255]));
    let gray = Array { height: 2, width: 1, channels: 1, values: Values::U8(vec![3, 9]) };
    let back = Array::from_bytes(ArrayFileKind::Png, &gray.to_bytes(ArrayFileKind::Png).unwrap(), None).unwrap();
    // Grey comes back as equal red, green and blue.
    assert_eq!(back, Array { channels: 3, values: Values::U8(vec![3, 3, 3, 9, 9, 9]), ..gray });
}

/// Grey pictures arrive as equal red, green and blue, those with alpha with theirs, in 8 and in 16 bits.
#[test]
#[cfg(feature = "png")]
fn grey_pictures_arrive_as_grey() {
    use png::{BitDepth, ColorType};
    for (color, bits, data, channels, values) in [
        (ColorType::Grayscale, BitDepth::Eight, vec![7, 200], 3, Values::U8(vec![7, 7, 7, 200, 200, 200])),
        (
            ColorType::GrayscaleAlpha,
            BitDepth::Eight,
            vec![7, 100, 200, 255],
            4,
            Values::U8(vec![7, 7, 7, 100, 200, 200, 200, 255]),
        ),
        (
            ColorType::GrayscaleAlpha,
            BitDepth::Sixteen,
            vec![1, 2, 3, 4, 0xff, 0xff, 0, 1],
            4,
            Values::U16(vec![0x102, 0x102, 0x102, 0x304, 0xffff, 0xffff, 0xffff, 1]),
        ),
        // Four bits a pixel become eight.
        (ColorType::Grayscale, BitDepth::Four, vec![0xf1], 3, Values::U8(vec![255, 255, 255, 17, 17, 17])),
    ] {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(bits);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&data).unwrap();
        writer.finish().unwrap();
        let found = Array::from_bytes(ArrayFileKind::Png, &file, None).unwrap();
        assert_eq!(found, Array { height: 1, width: 2, channels, values }, "{color:?}");
    }
}

#[test]
fn raw_bytes_must_have_the_stated_size() {
    let shape = RawShape { width: 2, height: 1, format: RawFormat::Float32(1) };
    let a = Array::from_bytes(ArrayFileKind::Raw, &f32_bytes(&[1.0, 2.0]), Some(shape)).unwrap();
    assert_eq!(a.to_bytes(ArrayFileKind::Raw).unwrap(), f32_bytes(&[1.0, 2.0]));
    let error = Array::from_bytes(ArrayFileKind::Raw, &[0; 7], Some(shape)).unwrap_err().to_string();
    assert_eq!(error, "the file has 7 bytes, 2 elements per row and 1 rows of 4 bytes take 8");
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..128) {
        for kind in [ArrayFileKind::Npy, ArrayFileKind::Png, ArrayFileKind::Pfm] {
            let _ = Array::from_bytes(kind, &bytes, None);
        }
        let good = numpy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", &[0; 24]);
        let mut bad = good[..cut.min(good.len())].to_vec();
        bad.extend_from_slice(&bytes);
        let _ = Array::from_bytes(ArrayFileKind::Npy, &bad, None);
        let _ = Array::from_bytes(ArrayFileKind::Pfm, &[b"PF 3 3 -1 ".as_slice(), &bytes].concat(), None);
    }
}

#[test]
fn npy_takes_every_type_of_number() {
    for (descr, bytes, wanted) in [
        ("<i4", &[0xfe, 0xff, 0xff, 0xff][..], -2.0),
        (">i4", &[0, 0, 1, 0], 256.0),
        ("<i8", &[0xff; 8], -1.0),
        ("<u8", &[0, 0, 0, 0, 1, 0, 0, 0], 4_294_967_296.0),
        ("|i1", &[0x80], -128.0),
        ("<i2", &[0, 0x80], -32768.0),
        ("|b1", &[1], 1.0),
        ("<f2", &[0x00, 0x3e], 1.5),
        ("<f2", &[0x01, 0x00], 2f32.powi(-24)),
        ("<f2", &[0x00, 0xfc], f32::NEG_INFINITY),
    ] {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((dict.len() as u16).to_le_bytes());
        file.extend(dict.as_bytes());
        file.extend(bytes);
        let array = Array::from_bytes(ArrayFileKind::Npy, &file, None).unwrap();
        assert_eq!(array.values, Values::F32(vec![wanted]), "{descr}");
    }
}
