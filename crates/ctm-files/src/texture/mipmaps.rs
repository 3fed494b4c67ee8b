//! Smaller levels of a texture that has none.

use ctm_exec::r700::resources::Image;
use ctm_exec::r700::resources::TextureKind;

/// The texture with all smaller levels, down to one texel. Each texel is the mean of those of the level above that lie over it: two along each axis that the level
/// has, three with the weights of their shares where the size above is odd. Means are computed in double precision and rounded once; textures of
/// integers make no sense of it.
#[must_use]
pub fn with_levels(mut image: Image) -> Image {
    let texture = &mut image.texture;
    let longest = match texture.kind {
        TextureKind::OneD | TextureKind::OneDArray => texture.width,
        TextureKind::ThreeD => texture.width.max(texture.height).max(texture.depth),
        TextureKind::TwoD | TextureKind::TwoDArray | TextureKind::Cube | TextureKind::CubeArray => {
            texture.width.max(texture.height)
        }
    };
    let count = (u32::BITS - longest.max(1).leading_zeros()).min(14);
    image.levels.truncate(1);
    texture.levels = count.max(1);
    for level in 1..texture.levels {
        let (from, to) = (texture.size(level - 1), texture.size(level));
        let Some(above) = image.levels.last() else { break };
        let parts = [0, 1, 2].map(|axis| shares(from[axis], to[axis]));
        let mut texels = Vec::with_capacity(to.iter().map(|&n| n as usize).product());
        for z in &parts[2] {
            for y in &parts[1] {
                for x in &parts[0] {
                    let mut sum = [0.0f64; 4];
                    for &(z, of_z) in z {
                        for &(y, of_y) in y {
                            for &(x, of_x) in x {
                                let at = (z * from[1] as usize + y) * from[0] as usize + x;
                                let texel = above.get(at).copied().unwrap_or_default();
                                for (sum, bits) in sum.iter_mut().zip(texel) {
                                    *sum += of_x * of_y * of_z * f64::from(f32::from_bits(bits));
                                }
                            }
                        }
                    }
                    #[allow(clippy::cast_possible_truncation, reason = "the one rounding")]
                    texels.push(sum.map(|sum| (sum as f32).to_bits()));
                }
            }
        }
        image.levels.push(texels);
    }
    image
}

/// For each place of the smaller size: the places of the larger one that it covers, with their shares.
fn shares(from: u32, to: u32) -> Vec<Vec<(usize, f64)>> {
    let scale = f64::from(from) / f64::from(to.max(1));
    (0..to)
        .map(|n| {
            let (first, last) = (f64::from(n) * scale, f64::from(n + 1) * scale);
            (0..from)
                .filter_map(|k| {
                    let part = last.min(f64::from(k + 1)) - first.max(f64::from(k));
                    (part > 1e-12).then_some((k as usize, part / scale))
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_exec::r700::resources::Texture;

    #[test]
    fn levels_are_means() {
        let texel = |x: f32| [x, 0.0, 1.0, 1.0].map(f32::to_bits);
        let texture = Texture { width: 3, height: 2, ..Texture::default() };
        let level = [0.0, 3.0, 6.0, 6.0, 3.0, 0.0].map(texel).to_vec();
        let image = with_levels(Image { texture, levels: level.into() });
        assert_eq!(image.texture.levels, 2);
        assert_eq!(image.levels[1], [texel(3.0)]);
        let texture = Texture { width: 4, height: 4, depth: 2, kind: TextureKind::TwoDArray, ..texture };
        let image = with_levels(Image { texture, levels: (0..32).map(|n| texel(n as f32)).collect::<Vec<_>>().into() });
        assert_eq!(image.levels.iter().map(<[_]>::len).collect::<Vec<_>>(), [32, 8, 2]);
        assert_eq!(image.levels[1][0], texel(2.5));
        assert_eq!(image.levels[2][1], texel(16.0 + 7.5));
    }
}
