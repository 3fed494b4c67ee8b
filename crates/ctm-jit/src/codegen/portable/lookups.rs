//! Lookups in mapped arrays, in the portable machine.

use crate::codegen::portable::rows::{LANES, Row, canonical, fused, lanes_where, map, map2, store};
use crate::launch::wavefronts::bindings::{BYTES, Texels, is_plain_sample};
use ctm_exec::float::{ONE, flush, number};
use ctm_exec::r700::Texels as Data;
use ctm_exec::r700::resources::{Wrap, texel_of_bytes};
use ctm_exec::sample::coordinate;
use ctm_exec::x1k::Form;
use ctm_ir::masked::Fetch;
use ctm_isa::r700::inst::texel_offset;
use ctm_isa::r700::ops::TexOp;
use ctm_isa::x1k::ops::Omod;

/// The values read by lanes from floats in rows. `None` where the fetch or the array is of another kind, or a repeated
/// coordinate is very large. Lanes that do not work get 0.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn lookup<const FUSED: bool>(fetch: &Fetch, texels: &Texels<'_>, at: [&Row; 4], working: u64) -> Option<[Row; 4]> {
    if !matches!(texels.form, Form::Floats | BYTES) || texels.tiles.is_some() || texels.wrap.contains(&Wrap::Border) {
        return None;
    }
    let (mut found, inside) = match fetch {
        Fetch::Input { unscaled, .. } => (sampled::<FUSED>(texels, at, [*unscaled; 2], [0.0; 2])?, u64::MAX),
        Fetch::Texture(inst) => {
            let in_texels = [!inst.word1.coord_type_x, !inst.word1.coord_type_y];
            let offset = [inst.word2.offset_x, inst.word2.offset_y].map(texel_offset);
            match inst.word0.op {
                TexOp::Ld => loaded(texels, at, offset)?,
                op if is_plain_sample(op) => (sampled::<FUSED>(texels, at, in_texels, offset)?, u64::MAX),
                _ => return None,
            }
        }
        _ => return None,
    };
    let working = working & inside;
    if working != u64::MAX {
        for row in &mut found {
            let all = *row;
            *row = [0; LANES];
            store(row, &all, working);
        }
    }
    Some(found)
}

/// The elements at integer coordinates, and the lanes inside of the array.
#[inline(always)]
fn loaded(texels: &Texels<'_>, [s, t, ..]: [&Row; 4], offset: [f32; 2]) -> Option<([Row; 4], u64)> {
    let [dx, dy] = offset.map(|offset| (offset.floor() as i32).cast_unsigned());
    let (x, y) = (map(s, |x| x.wrapping_add(dx)), map(t, |y| y.wrapping_add(dy)));
    let inside = lanes_where(&x, |x| x < texels.width) & lanes_where(&y, |y| y < texels.height);
    let (x, y) = (map(&x, |x| x.min(texels.width - 1)), map(&y, |y| y.min(texels.height - 1)));
    Some((gather(texels, &x, &y)?, inside))
}

/// The nearest elements, or the mean of four; `in_texels`: which coordinates count elements.
#[inline(always)]
fn sampled<const FUSED: bool>(
    texels: &Texels<'_>,
    [s, t, ..]: [&Row; 4],
    in_texels: [bool; 2],
    offset: [f32; 2],
) -> Option<[Row; 4]> {
    let column = |floored: &Row| indices(floored, texels.width, texels.wrap[0]);
    let row = |floored: &Row| indices(floored, texels.height, texels.wrap[1]);
    let u = add(&in_elements(s, texels.width, in_texels[0]), offset[0]);
    let v = add(&in_elements(t, texels.height, in_texels[1]), offset[1]);
    if !texels.linear {
        return gather(texels, &column(&floor(&u))?, &row(&floor(&v))?);
    }
    let (u, v) = (add(&u, -0.5), add(&v, -0.5));
    let (left, top) = (floor(&u), floor(&v));
    let (along_x, along_y) = (weights(&u, &left), weights(&v, &top));
    let columns = [column(&left)?, column(&add(&left, 1.0))?];
    let row_of = |y: &Row| -> Option<[Row; 4]> {
        let [a, b] = [gather(texels, &columns[0], y)?, gather(texels, &columns[1], y)?];
        Some(std::array::from_fn(|c| mix::<FUSED>(&along_x, &a[c], &b[c])))
    };
    let (top, bottom) = (row_of(&row(&top)?)?, row_of(&row(&add(&top, 1.0))?)?);
    Some(std::array::from_fn(|c| mix::<FUSED>(&along_y, &top[c], &bottom[c])))
}

/// As `ctm_exec::sample::in_elements`.
#[inline(always)]
#[allow(clippy::cast_precision_loss, reason = "dimensions are at most 2^23")]
fn in_elements(coordinates: &Row, size: u32, unscaled: bool) -> Row {
    let scale = size as f32;
    map(coordinates, |bits| {
        let own = coordinate(bits);
        let scaled = coordinate(canonical(own * scale));
        (if unscaled { own } else { scaled }).to_bits()
    })
}

#[inline(always)]
fn floor(row: &Row) -> Row {
    map(row, |x| f32::from_bits(x).floor().to_bits())
}

#[inline(always)]
fn add(row: &Row, more: f32) -> Row {
    map(row, |x| (f32::from_bits(x) + more).to_bits())
}

/// The fractions of coordinates between elements; 0 for infinities.
#[inline(always)]
fn weights(coordinates: &Row, floored: &Row) -> Row {
    map2(coordinates, floored, |c, floor| {
        let c = f32::from_bits(c);
        if c.is_finite() { flush((c - f32::from_bits(floor)).to_bits()) } else { 0 }
    })
}

/// `a + w * (b - a)`, with one rounding after the difference.
#[inline(always)]
fn mix<const FUSED: bool>(w: &Row, a: &Row, b: &Row) -> Row {
    let difference = map2(a, b, |a, b| (number(b) - number(a)).to_bits());
    let mut row = [0; LANES];
    fused::<FUSED>([w, &difference, a], [None; 3], (false, Omod::U1), &mut row);
    row
}

/// The elements that floored coordinates name: as `ctm_exec::sample::wrap`, without a border. The size is at most 2^23.
#[inline(always)]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "between 0 and a size that single precision holds"
)]
fn indices(floored: &Row, size: u32, wrap: Wrap) -> Option<Row> {
    let last = size - 1;
    let period = if wrap == Wrap::Mirror { 2 * size } else { size };
    if let Wrap::Clamp | Wrap::Border = wrap {
        let last = last as f32;
        return Some(map(floored, |x| {
            let x = f32::from_bits(x);
            let inside = if x > 0.0 { x } else { 0.0 };
            (if inside < last { inside } else { last }) as u32
        }));
    }
    const BEYOND: f32 = (1u32 << 31) as f32;
    if lanes_where(floored, |x| f32::from_bits(x).abs() >= BEYOND) != 0 {
        return None;
    }
    let whole = map(floored, |x| (f32::from_bits(x) as i32).cast_unsigned());
    let repeated = if period.is_power_of_two() {
        map(&whole, |x| x & (period - 1))
    } else {
        map(&whole, |x| x.cast_signed().rem_euclid(period.cast_signed()).cast_unsigned())
    };
    // Without a mirror image, the first of these is the smaller one.
    Some(map(&repeated, |x| x.min((last + size).wrapping_sub(x))))
}

/// The elements of these columns and rows. Missing channels read 0, alpha 1.
fn gather(texels: &Texels<'_>, x: &Row, y: &Row) -> Option<[Row; 4]> {
    let (pitch, channels) = (texels.pitch as usize, usize::from(texels.channels));
    let mut found = [0, 0, 0, ONE].map(|bits| [bits; LANES]);
    match texels.data {
        Data::Bytes(bytes) if texels.form == BYTES => {
            let elements = bytes.as_chunks().0;
            for lane in 0..LANES {
                let element = *elements.get(y[lane] as usize * pitch + x[lane] as usize)?;
                for (row, bits) in found.iter_mut().zip(texel_of_bytes(element)) {
                    row[lane] = bits;
                }
            }
        }
        Data::Bytes(bytes) => {
            for lane in 0..LANES {
                let first = (y[lane] as usize * pitch + x[lane] as usize) * channels * 4;
                let element = bytes.get(first..first + 4 * channels)?;
                for (row, bytes) in found.iter_mut().zip(element.as_chunks::<4>().0) {
                    row[lane] = u32::from_le_bytes(*bytes);
                }
            }
        }
        Data::Dwords(texels) => {
            for lane in 0..LANES {
                let texel = texels.get(y[lane] as usize * pitch + x[lane] as usize)?;
                for (row, &bits) in found.iter_mut().zip(texel) {
                    row[lane] = bits;
                }
            }
        }
    }
    Some(found)
}
