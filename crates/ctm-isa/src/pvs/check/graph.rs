//! The paths of a program: places with the loops and subroutines that are open there, and the registers that may have been written on the way.

use crate::pvs::access::{self, WrittenFile};
use crate::pvs::flow::{Action, action};
use crate::pvs::inst::Inst;
use crate::pvs::ops::{AddrMode, FlowOp};
use crate::pvs::program::VertexProgram;
use crate::pvs::{ALTERNATE_TEMPORARIES, FLOW_STACK, TEMPORARY_ADDRESSES};
use std::collections::HashMap;

/// Pairs of instruction and open slots that are followed.
const MOST_NODES: usize = 4096;

/// An instruction, with the slots that are open when it executes, the innermost one last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub pc: u16,
    pub open: Vec<usize>,
}

/// The components of registers that may have been written; temporaries at computed addresses are all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WrittenRegisters {
    temporaries: Vec<u8>,
    alternates: [u8; ALTERNATE_TEMPORARIES],
    pub address: u8,
    pub predicate: bool,
    /// Whether the position, output 0, may have been written.
    pub position: bool,
}

impl WrittenRegisters {
    fn none() -> Self {
        Self { temporaries: vec![0; TEMPORARY_ADDRESSES], ..Self::default() }
    }

    pub fn temporary(&self, index: u8) -> u8 {
        self.temporaries.get(usize::from(index)).copied().unwrap_or(0)
    }

    pub fn alternate(&self, index: u8) -> u8 {
        self.alternates.get(usize::from(index)).copied().unwrap_or(0)
    }

    /// Adds the writes of the other path, and returns whether any was new.
    fn add(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.temporaries.iter_mut().zip(&other.temporaries).for_each(|(to, from)| *to |= from);
        self.alternates.iter_mut().zip(&other.alternates).for_each(|(to, from)| *to |= from);
        self.address |= other.address;
        self.predicate |= other.predicate;
        self.position |= other.position;
        *self != before
    }

    fn execute(&mut self, inst: &Inst) {
        self.predicate |= access::sets_predicate(inst);
        for write in access::write(inst).into_iter().chain(access::dual_write(inst)) {
            let absolute = write.address.mode == AddrMode::Absolute;
            let at = usize::from(write.address.offset);
            let mark = |all: &mut [u8]| match all.get_mut(at) {
                Some(components) if absolute => *components |= write.components,
                _ if absolute => {}
                _ => all.iter_mut().for_each(|components| *components |= write.components),
            };
            match write.file {
                WrittenFile::Temporary => mark(&mut self.temporaries),
                WrittenFile::AltTemporary => mark(&mut self.alternates),
                WrittenFile::A0 => self.address |= write.components,
                WrittenFile::Output | WrittenFile::OutputReplicateX => self.position |= at == 0 || !absolute,
                WrittenFile::Input => {}
            }
        }
    }
}

/// The reachable part of a program.
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    /// What may have been written before each node.
    pub before: Vec<WrittenRegisters>,
    /// The nodes that may follow each node.
    pub next: Vec<Vec<usize>>,
    /// Instructions after which a path runs past the program.
    pub runs_off: Vec<u16>,
    /// Instructions after which too much is open.
    pub too_deep: Vec<u16>,
    /// What may have been written where the program ends; `None` if no path ends.
    pub at_end: Option<WrittenRegisters>,
    /// The search was given up.
    pub incomplete: bool,
}

/// Where a path goes on.
enum Next {
    At(Node),
    TooDeep,
    Ends,
}

/// Every way on from a node.
fn successors(program: &VertexProgram, node: &Node) -> Vec<Next> {
    let mut open = node.open.clone();
    let mut list = Vec::new();
    loop {
        match action(&program.flow, &open, node.pc) {
            Action::Ends(n) => {
                let slot = &program.flow[n];
                if slot.op == FlowOp::Loop && slot.lower.target_or_count > 1 {
                    list.push(Next::At(Node { pc: slot.upper.back, open: open.clone() }));
                }
                open.pop();
                if slot.op != FlowOp::Loop {
                    list.push(Next::At(Node { pc: slot.upper.back, open }));
                    return list;
                }
            }
            Action::Acts(n) => {
                let slot = &program.flow[n];
                let empty = slot.op == FlowOp::Loop && slot.lower.target_or_count == 0;
                if empty {
                    list.push(Next::At(Node { pc: slot.upper.last.saturating_add(1), open }));
                } else if slot.op == FlowOp::Jump {
                    list.push(Next::At(Node { pc: slot.lower.target_or_count, open }));
                } else if open.len() >= FLOW_STACK {
                    list.push(Next::TooDeep);
                } else {
                    open.push(n);
                    list.push(Next::At(Node { pc: slot.leads_to().unwrap_or(0), open }));
                }
                return list;
            }
            Action::Falls => {
                list.push(match node.pc.checked_add(1) {
                    _ if node.pc == program.last => Next::Ends,
                    Some(pc) => Next::At(Node { pc, open }),
                    None => Next::Ends,
                });
                return list;
            }
        }
    }
}

impl Graph {
    pub fn new(program: &VertexProgram, insts: &[Option<Inst>]) -> Self {
        let mut graph = Self {
            nodes: Vec::new(),
            before: Vec::new(),
            next: Vec::new(),
            runs_off: Vec::new(),
            too_deep: Vec::new(),
            at_end: None,
            incomplete: false,
        };
        let size = insts.len();
        if usize::from(program.first) >= size {
            return graph;
        }
        let first = Node { pc: program.first, open: Vec::new() };
        let mut index = HashMap::from([(first.clone(), 0)]);
        graph.nodes.push(first);
        graph.before.push(WrittenRegisters::none());
        graph.next.push(Vec::new());
        let mut work = vec![0];
        while let Some(at) = work.pop() {
            let node = graph.nodes[at].clone();
            let mut after = graph.before[at].clone();
            if let Some(inst) = &insts[usize::from(node.pc)] {
                after.execute(inst);
            }
            let mut following = Vec::new();
            for next in successors(program, &node) {
                match next {
                    Next::At(next) if usize::from(next.pc) >= size => graph.runs_off.push(node.pc),
                    Next::At(next) => match index.get(&next) {
                        Some(&to) => {
                            following.push(to);
                            if graph.before[to].add(&after) {
                                work.push(to);
                            }
                        }
                        None if graph.nodes.len() >= MOST_NODES => graph.incomplete = true,
                        None => {
                            let to = graph.nodes.len();
                            index.insert(next.clone(), to);
                            graph.nodes.push(next);
                            graph.before.push(after.clone());
                            graph.next.push(Vec::new());
                            following.push(to);
                            work.push(to);
                        }
                    },
                    Next::TooDeep => graph.too_deep.push(node.pc),
                    Next::Ends => {
                        graph.at_end.get_or_insert_with(WrittenRegisters::none).add(&after);
                    }
                }
            }
            graph.next[at] = following;
        }
        graph
    }
}
