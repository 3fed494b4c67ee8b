//! R700 programs in their containers.
//!
//! | module | container |
//! |---|---|
//! | [`gfd`] | `Gfx2` files (`.gsh`): vertex, pixel and geometry programs with their registers and variables |
//! | [`cal`] | images of AMD's Compute Abstraction Layer |
//! | [`llvm_elf`] | objects of LLVM's R600 back end |
//! | [`registers`] | the registers that they all set beside a program (table) |
//!
//! Every container can list its programs, give one out as [`ExtractedProgram`], take one back, and be written. Unchanged parts are
//! written as they were read, byte for byte.

pub mod cal;
mod container;
pub mod gfd;
pub mod llvm_elf;
pub mod registers;

pub use container::{Container, ContainerProgram};

use ctm_isa::ops;
use ctm_isa::r700::program::{self, Program};

ops! {
    /// The stage of a program.
    pub enum ShaderStage cite "R700 §2" {
        /// Runs for each pixel.
        Pixel "pixel" 0;
        /// Runs for each vertex.
        Vertex "vertex" 1;
        /// Runs for each primitive.
        Geometry "geometry" 2;
        /// Fetches vertices for a vertex program that calls it.
        Fetch "fetch" 3;
        /// Copies a geometry program's vertices on.
        Copy "copy" 4;
        /// Runs for each element of a domain of threads.
        Compute "compute" 5;
    }
}

/// A register and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterValue {
    /// Byte address; see [`registers`].
    pub address: u32,
    /// The value.
    pub value: u32,
}

/// A program taken out of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedProgram {
    /// Its stage.
    pub stage: ShaderStage,
    /// Its words, two a slot.
    pub words: Vec<u32>,
    /// The registers that are set for it.
    pub registers: Vec<RegisterValue>,
}

impl ExtractedProgram {
    /// The value of a register, by the name of [`registers::REGISTERS`].
    #[must_use]
    pub fn register(&self, name: &str) -> Option<u32> {
        let address = registers::address(name)?;
        self.registers.iter().find(|r| r.address == address).map(|r| r.value)
    }

    /// GPRs and stack entries, where a register says them.
    #[must_use]
    pub fn resources(&self) -> Option<registers::PgmResources> {
        let name = match self.stage {
            ShaderStage::Pixel => "SQ_PGM_RESOURCES_PS",
            ShaderStage::Vertex | ShaderStage::Copy | ShaderStage::Compute => "SQ_PGM_RESOURCES_VS",
            ShaderStage::Geometry => "SQ_PGM_RESOURCES_GS",
            ShaderStage::Fetch => "SQ_PGM_RESOURCES_FS",
        };
        // LLVM sets the pixel program's register for compute programs of this generation.
        let word = self.register(name).or_else(|| self.register("SQ_PGM_RESOURCES_PS"))?;
        registers::PgmResources::decode(word).ok()
    }

    /// The program, with the settings of its registers.
    #[must_use]
    pub fn program(&self) -> Program {
        let mut program = Program::from_words(self.words.clone());
        program.stage = program::Stage::from_name(self.stage.name());
        if let Some(resources) = self.resources() {
            program.gprs = resources.num_gprs;
            program.stack = resources.stack_size;
        }
        program
    }
}
