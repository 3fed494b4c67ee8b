//! Output merger: depth and stencil tests, alpha test, blending, stores; and the history of one pixel.

pub(crate) mod blend;
mod depth_stencil;
pub(crate) mod epilogue;
pub(crate) mod merge;
pub(crate) mod watch;
