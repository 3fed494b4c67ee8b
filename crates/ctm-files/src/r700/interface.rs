//! The interface of an R700 program: names of its slots, its uses, its uniforms, and the fetch of its attributes.

use super::gfd::{attribute_fetch, name_variables, uniforms_of};
use super::uniform::Uniform;
use super::uses::{Uses, textures_at_position};
use ctm_isa::r700::program::Program;
use std::collections::BTreeSet;

/// The facts about a program that each of its launches needs. [`Program::interface`](crate::Program::interface) finds them once.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The program, with the names that its container gives to slots.
    pub program: Program,
    /// Its uses.
    pub uses: Uses,
    /// The uniforms that its container declares.
    pub uniforms: Vec<Uniform>,
    /// Textures that it reads at each processor's own place only.
    pub at_position: BTreeSet<u8>,
    /// The fetch program that a host makes of its attributes, where it calls one, and the uses of both.
    pub attributes: Option<(Program, Uses)>,
}

impl Interface {
    /// The interface of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let (uniforms, mut program) = (uniforms_of(program), program.clone());
        name_variables(&mut program);
        let uses = Uses::of(&program.decode());
        let fetch = if uses.calls_fetch { attribute_fetch(&program) } else { None };
        let attributes = fetch.map(|fetch| {
            let both = uses.clone().and(Uses::of(&fetch.decode()));
            (fetch, both)
        });
        Self { at_position: textures_at_position(&program), program, uses, uniforms, attributes }
    }
}
