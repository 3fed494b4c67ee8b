//! Primitive setup: clipping, the viewport, faces and fill modes, and the planes of depth and parameters over a primitive.

pub(crate) mod clip;
mod depth_plane;
mod depths;
pub(crate) mod inspect;
mod parameter_planes;
pub(crate) mod piece;
mod planes;
pub(crate) mod primitives;
pub(crate) mod seen;

pub use clip::ClipVertex;
pub(crate) use depth_plane::DepthPlane;
pub(crate) use depths::Depths;
pub use inspect::Outline;
pub(crate) use parameter_planes::ParameterPlanes;
pub use planes::{Corner, Setup, Share, Shares, Weights};
pub(crate) use planes::{Mix, depth_bounds, limited};
