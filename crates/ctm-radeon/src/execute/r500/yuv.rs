//! Textures of luma and chroma.

use super::super::memory::GpuMemory;
use super::super::textures::TextureWords;
use super::srgb::linear;
use crate::Error;
use ctm_exec::r700::resources::Image;
use ctm_exec::r700::surface::Surface;
use ctm_isa::r700::ops::Sel;

/// The conversion of texels from luma and chroma to red, green and blue: U, Y and V are components 0, 1 and 2.
///
/// UNVERIFIED: the factors are those of ITU-R BT.601 with luma from 16 to 235; SWAP_YUV exchanges U and V; texels are converted before they are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Yuv {
    /// Results are limited to 0 to 1.
    pub(super) clamps: bool,
    pub(super) swapped: bool,
}

impl Yuv {
    fn rgb(self, [u, y, v, w]: [u32; 4]) -> [u32; 4] {
        let [u, v] = if self.swapped { [v, u] } else { [u, v] };
        let [y, u, v] = [(y, 16.0), (u, 128.0), (v, 128.0)].map(|(bits, middle)| f32::from_bits(bits) - middle / 255.0);
        // Luma has 219 steps, chroma 224.
        let (luma, blue, red) = (y * 255.0 / 219.0, u * 255.0 / 112.0, v * 255.0 / 112.0);
        let rgb = [
            luma + (1.0 - 0.299) * red,
            luma - (1.0 - 0.114) * 0.114 / 0.587 * blue - (1.0 - 0.299) * 0.299 / 0.587 * red,
            luma + (1.0 - 0.114) * blue,
        ];
        let [r, g, b] = rgb.map(|value| if self.clamps { value.clamp(0.0, 1.0) } else { value }.to_bits());
        [r, g, b, w]
    }

    /// A texture, converted before its components are selected.
    pub(super) fn converted(self, words: &TextureWords, memory: &dyn GpuMemory) -> Result<Image, Error> {
        let surface = Surface { gamma: false, ..words.surface };
        let selects = [Sel::X, Sel::Y, Sel::Z, Sel::W];
        let mut image = TextureWords { surface, selects, ..words.clone() }.image(memory, false)?;
        for texel in image.levels.texels_mut() {
            let rgb = self.rgb(*texel);
            let rgb = if words.surface.gamma { linear(rgb) } else { rgb };
            *texel = words.selects.map(|select| match select {
                Sel::X => rgb[0],
                Sel::Y => rgb[1],
                Sel::Z => rgb[2],
                Sel::W => rgb[3],
                Sel::One => 1f32.to_bits(),
                _ => 0,
            });
        }
        Ok(image)
    }
}
