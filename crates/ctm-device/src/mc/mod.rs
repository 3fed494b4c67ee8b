//! The Memory Controller: from index pairs to addresses, and from bytes to channels (CTM §2.1.4).
//!
//! | file | content |
//! |---|---|
//! | `format` | data formats, tilings, and the format word of commands (tables) |
//! | `translate` | tables 1 and 2 of CTM §2.1.4 |
//! | `surface` | a two-dimensional array in memory: address, pitch, height, format |
//! | `texture` | a texture of R700 programs in memory |
//!
//! Not here: which surface belongs to which client (that is the device's register state) and the caches.
//!
//! ```
//! use ctm_device::GpuAddr;
//! use ctm_device::mc::{ByteOrder, ChannelType, ElementSize, Format, FormatInfo, FormatWord, MAX_INDEX, Surface, SurfaceError, TextureShape, Tiling};
//! use ctm_device::mc::{linear_address, tiled_address};
//!
//! let surface = Surface::for_size(100, 50, Format::Uint8x4, Tiling::Linear)?.at(GpuAddr(0x1000_0000));
//! assert_eq!(surface.address_of(3, 2), GpuAddr(0x1000_0000 + linear_address(ElementSize::B4, 3, 2, surface.pitch, 0)));
//! assert_ne!(linear_address(ElementSize::B4, 3, 2, 128, 0), tiled_address(ElementSize::B4, 3, 2, 128, 0));
//! let word = FormatWord::decode(surface.format_word())?;
//! assert_eq!((word.format, word.tiling, u32::from(word.pitch)), (Format::Uint8x4, Tiling::Linear, surface.pitch / 4));
//!
//! let info: FormatInfo = Format::Uint8x4.info();
//! assert_eq!((info.channels, info.channel), (4, ChannelType::Unorm8));
//! assert_eq!(Format::Uint8x4.decode(&[255, 0, 0, 255], ByteOrder::Rgba).map(f32::from_bits), [1.0, 0.0, 0.0, 1.0]);
//!
//! assert!(matches!(Surface::for_size(MAX_INDEX + 1, 1, Format::Float32x1, Tiling::Linear), Err(SurfaceError::TooLarge { .. })));
//! assert!(TextureShape::ALL.len() > 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod format;
mod surface;
mod texture;
mod translate;

pub use format::{ByteOrder, ChannelType, Format, FormatInfo, FormatWord, Tiling};
pub use surface::{Surface, SurfaceError};
pub(crate) use texture::read_at;
pub use texture::{TextureShape, TextureSurface};
pub use translate::{ElementSize, linear_address, tiled_address};

/// Index pairs have twelve bits (CTM tables 1 and 2): columns and rows that can be distinguished.
pub const MAX_INDEX: u32 = 4096;
