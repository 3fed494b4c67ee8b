//! The debugger: a session and the user's state.

use super::conditions::Breakpoint;
use ctm::trace::observe::Place;
use ctm::trace::{Listing, Session};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// State of the user that persists across groups.
#[derive(Clone, Default)]
pub struct UserState {
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) displayed: Vec<Place>,
    pub(super) made: u32,
}

/// A session and the user's state.
pub struct Debugger<'u, 'a> {
    pub(crate) session: Session<'u, 'a>,
    pub(crate) listing: Arc<Listing>,
    pub(super) pass: usize,
    pub(crate) lane: usize,
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) displayed: Vec<Place>,
    pub(super) made: u32,
    pub(super) interrupt: Arc<AtomicBool>,
}
