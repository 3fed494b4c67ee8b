//! Vertex events of geometry programs (R700 §3.5) as strips, as the vertex geometry translator makes them.

use super::memory::event_code;
use ctm_exec::Position;
use ctm_exec::r700::VertexEvent;
use std::collections::BTreeMap;

/// Vertices of one thread that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The thread.
    pub thread: Position,
    /// Vertices that the thread emitted before.
    pub first: u32,
    /// Vertices of the strip, at least 1.
    pub vertices: u32,
}

/// The strips of a launch, threads row by row, those of a thread in order. Vertices after a thread's last cut are a strip too.
///
/// ```
/// use ctm_device::device::{Strip, strips};
/// use ctm_exec::{Position, r700::VertexEvent::{Cut, Emit, EmitCut}};
/// let at = |i| Position { i, j: 0 };
/// let events = [(at(1), Emit), (at(0), Emit), (at(1), EmitCut), (at(0), Cut), (at(1), Emit)];
/// let strip = |i, first, vertices| Strip { thread: at(i), first, vertices };
/// assert_eq!(strips(events), [strip(0, 0, 1), strip(1, 0, 2), strip(1, 2, 1)]);
/// ```
#[must_use]
pub fn strips(events: impl IntoIterator<Item = (Position, VertexEvent)>) -> Vec<Strip> {
    // By row, then column: where the open strip begins, how many vertices there are, and the closed ones.
    let mut threads: BTreeMap<(u32, u32), (u32, u32, Vec<Strip>)> = BTreeMap::new();
    let close = |thread: Position, first: &mut u32, vertices: u32, strips: &mut Vec<Strip>| {
        if vertices > *first {
            strips.push(Strip { thread, first: *first, vertices: vertices - *first });
        }
        *first = vertices;
    };
    for (at, event) in events {
        let (first, vertices, strips) = threads.entry((at.j, at.i)).or_default();
        if event != VertexEvent::Cut {
            *vertices += 1;
        }
        if event != VertexEvent::Emit {
            close(at, first, *vertices, strips);
        }
    }
    let all = threads.into_iter().flat_map(|((j, i), (mut first, vertices, mut strips))| {
        close(Position { i, j }, &mut first, vertices, &mut strips);
        strips
    });
    all.collect()
}

/// The events that a launch stored where `set_vertex_events` said: `words` begin with their number. Words that are no event are left out.
///
/// ```
/// use ctm_device::device::vertex_events;
/// use ctm_exec::{Position, r700::VertexEvent};
/// assert_eq!(vertex_events(&[1, 0x8000_5003]), [(Position { i: 3, j: 5 }, VertexEvent::EmitCut)]);
/// ```
#[must_use]
pub fn vertex_events(words: &[u32]) -> Vec<(Position, VertexEvent)> {
    let Some((&count, words)) = words.split_first() else { return Vec::new() };
    let event = |&word: &u32| {
        let code = word >> 30;
        let event = [VertexEvent::Emit, VertexEvent::EmitCut, VertexEvent::Cut];
        let event = event.into_iter().find(|&event| event_code(event) == code)?;
        Some((Position { i: word & 0xfff, j: word >> 12 & 0xfff }, event))
    };
    words.iter().take(count as usize).filter_map(event).collect()
}
