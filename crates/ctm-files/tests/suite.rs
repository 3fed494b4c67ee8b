//! The tests of this crate, in one program: each program more is linked with the whole library once more.

mod arrays;
mod gfd;
mod gtx;
mod layout;
mod opening;
mod saving;
mod textures;
