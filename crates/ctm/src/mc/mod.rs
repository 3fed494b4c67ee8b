//! The Memory Controller: from index pairs to addresses, and from bytes to channels (CTM §2.1.4).
//!
//! | file | what |
//! |---|---|
//! | `format` | data formats, tilings, and the format word of commands (tables) |
//! | `translate` | tables 1 and 2 of CTM §2.1.4 |
//! | `surface` | a two-dimensional array in memory: address, pitch, height, format |
//! | `texture` | a texture of R700 programs in memory |
//!
//! What is not here: which surface belongs to which client (that is the device's register state) and the caches.

mod format;
mod surface;
mod texture;
mod translate;

pub use format::{ByteOrder, ChannelType, Format, FormatInfo, FormatWord, Tiling};
pub use surface::{Surface, SurfaceError};
pub(crate) use texture::read_at;
pub use texture::{TextureShape, TextureSurface};
pub use translate::{ElementSize, linear_address, tiled_address};

/// Index pairs have twelve bits (CTM tables 1 and 2): columns and rows that can be told apart.
pub const MAX_INDEX: u32 = 4096;
