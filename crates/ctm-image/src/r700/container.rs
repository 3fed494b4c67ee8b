//! One interface for all containers of R700 programs.

use super::{ExtractedProgram, cal, gfd, llvm_elf};
use crate::error::ImageError;
use crate::identify::identify;
use crate::kind::Kind;

/// A container, kept as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Container {
    /// A `Gfx2` file.
    Gfd(gfd::Gfd),
    /// A CAL image.
    Cal(cal::Image),
    /// An object of LLVM's.
    Llvm(llvm_elf::Object),
}

/// A program of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerProgram {
    /// The number by which [`Container::replace`] takes another one.
    pub index: usize,
    /// Its name: a function's, or its stage.
    pub name: String,
    /// The program and its registers.
    pub code: ExtractedProgram,
}

impl Container {
    /// Reads a container of any kind, recognised by its bytes.
    ///
    /// # Errors
    /// None of them, or its reader's errors.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        match identify(bytes) {
            Kind::Gfd => gfd::Gfd::read(bytes).map(Self::Gfd),
            Kind::Cal => cal::Image::read(bytes).map(Self::Cal),
            Kind::LlvmR600 => llvm_elf::Object::read(bytes).map(Self::Llvm),
            kind @ (Kind::CtmElf
            | Kind::OtherElf
            | Kind::X1kHex
            | Kind::R700Hex
            | Kind::X1kText
            | Kind::Ps3Text
            | Kind::Ps3Code
            | Kind::R700Text
            | Kind::X1kDump
            | Kind::R700Dump
            | Kind::Unknown) => Err(ImageError::Kind {
                found: kind.describe(),
                allowed: "a GFD container, a CAL image or an object of LLVM's R600 back end",
            }),
        }
    }

    /// The R700 programs.
    ///
    /// # Errors
    /// A header block of a GFD container cannot be read.
    pub fn programs(&self) -> Result<Vec<ContainerProgram>, ImageError> {
        Ok(match self {
            Self::Gfd(gfd) => gfd
                .shaders()?
                .into_iter()
                .enumerate()
                .map(|(index, shader)| ContainerProgram {
                    index,
                    name: shader.code.stage.name().to_owned(),
                    code: shader.code,
                })
                .collect(),
            Self::Cal(image) => image
                .encodings
                .iter()
                .enumerate()
                .filter_map(|(index, e)| {
                    let code = e.code()?;
                    let machine = cal::EncodingMachine::from_code(e.machine).map_or("", cal::EncodingMachine::name);
                    Some(ContainerProgram { index, name: format!("{machine} {}", code.stage.name()), code })
                })
                .collect(),
            Self::Llvm(object) => object
                .functions
                .iter()
                .enumerate()
                .map(|(index, f)| ContainerProgram { index, name: f.name.clone(), code: f.code.clone() })
                .collect(),
        })
    }

    /// Puts a program in the place of the one with this index; everything else stays.
    ///
    /// # Errors
    /// There is no such program, or the container has no place for the given data.
    pub fn replace(&mut self, index: usize, code: &ExtractedProgram) -> Result<(), ImageError> {
        match self {
            Self::Gfd(gfd) => gfd.replace(index, code),
            Self::Cal(image) => image.replace(index, code),
            Self::Llvm(object) => object.replace(index, code),
        }
    }

    /// The container's bytes. Unchanged parts keep their bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Gfd(gfd) => gfd.write(),
            Self::Cal(image) => image.write().to_vec(),
            Self::Llvm(object) => object.write().to_vec(),
        }
    }
}
