//! A linked vertex and pixel program, and the registers that link them.
//!
//! Both come from one GFD container, or from two files; listings become the contents of such a container, so there is one way only. The links between
//! the programs are in registers (R6xx/R7xx 3D registers): semantic numbers of exports and inputs, position and face, and the set of exports.

use super::Error;
use super::plan::ProgramSource;
use crate::job::{Isa, read_file};
use ctm_draw::state::{DepthState, Interpolation, PixelInput, Place, VertexOutputs};
use ctm_exec::r700::Semantic;
use ctm_files::FileKind;
use ctm_files::r700::gfd;
use ctm_files::r700::uniform::Uniform;
use ctm_files::r700::uniform::UniformPlace;
use ctm_files::r700::{Loaded, is_r700, write_gfd};
use ctm_image::r700::gfd::header::{VariableKind, VariableType};
use ctm_image::r700::gfd::{Gfd, Shader, Variable};
use ctm_image::r700::registers::{
    self, DbShaderControl, PsInControl0, PsInControl1, PsInputCntl, VsOutCntl, VsOutConfig,
};
use ctm_image::r700::{ExtractedProgram, ShaderStage};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage as ProgramStage;
use ctm_isa::r700::text::TextOptions;
use ctm_launch::Ref;
use std::borrow::Cow;
use std::path::Path;

/// One program of a pair.
#[derive(Clone, Debug)]
pub struct Part {
    /// The program.
    pub program: Program,
    code: ExtractedProgram,
    variables: Vec<Variable>,
}

/// A vertex and a pixel program.
///
/// ```
/// use ctm::draw::{Attribute, Links, Pair, Part, UniformPlace};
/// use ctm::{Isa, Program};
///
/// let vertex = "
/// ; $ATTRIB_VARS[0].name = \"position\"
/// ; $ATTRIB_VARS[0].location = 3
/// ; $UNIFORM_VARS[0].name = \"matrix\"
/// ; $UNIFORM_VARS[0].type = \"mat4\"
/// ; $UNIFORM_VARS[0].block = -1
/// ; $UNIFORM_VARS[0].offset = 16
/// ; $NUM_SPI_VS_OUT_ID = 1
/// ; $SPI_VS_OUT_ID[0].SEMANTIC_0 = 7
/// CALL_FS
/// EXP_DONE: POS0, R1.xyzw
/// EXP_DONE: PARAM0, R1.xyzw
/// END_OF_PROGRAM";
/// let pixel = "
/// ; $NUM_SPI_PS_INPUT_CNTL = 1
/// ; $SPI_PS_INPUT_CNTL[0].SEMANTIC = 8
/// EXP_DONE: PIX0, R0.xyzw
/// END_OF_PROGRAM";
/// let programs = [vertex, pixel].map(|text| Program::assemble_for(Isa::R700, text).map(Into::into));
/// let [vertex, pixel] = programs;
/// let pair = Pair::load(&[vertex?, pixel?])?;
///
/// let part: &Part = &pair.vertex;
/// assert_eq!(part.uniforms().collect::<Vec<_>>(), ["matrix"]);
/// // Offsets count dwords, places constants of four.
/// assert_eq!(part.uniform("matrix"), Some(UniformPlace::File(4)));
/// assert_eq!(pair.attributes(), [Attribute { name: "position".into(), location: 3, gpr: 1, integer: false }]);
/// // Export 7 is no input of the pixel program.
/// let links: Links = pair.links();
/// assert_eq!((links.semantics[0], links.inputs[0].semantic), (7, 8));
/// assert_eq!(pair.findings().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pair {
    /// The vertex program.
    pub vertex: Part,
    /// The pixel program.
    pub pixel: Part,
}

/// An attribute of the vertex program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name; empty where the program has none.
    pub name: String,
    /// The number by which fetches name it.
    pub location: u8,
    /// The register that it goes to.
    pub gpr: u8,
    /// It takes integers, not floats.
    pub integer: bool,
}

/// A uniform block of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniformBlock {
    /// Its name.
    pub name: String,
    /// Its constant buffer.
    pub bank: u8,
    /// Its size.
    pub bytes: usize,
    /// The uniforms in it.
    pub members: Vec<Uniform>,
}

/// The registers of exports and inputs.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Semantic numbers of parameter exports.
    pub semantics: Vec<u8>,
    /// Registers of pixel inputs.
    pub inputs: Vec<PixelInput>,
    /// The register of the position.
    pub position: Option<u8>,
    /// Register and element of the face.
    pub face: Option<(u8, u8)>,
    /// The register of the fixed-point position.
    pub fixed_position: Option<u8>,
    /// The position exports and their meaning; the semantic numbers are not filled in.
    pub outputs: VertexOutputs<'static>,
    /// Distances that cut and that cull.
    pub distances: [u8; 2],
    /// The pixel program's effect on depth.
    pub depth: DepthState,
}

impl Part {
    fn of(shader: Shader) -> Self {
        Self { program: shader.code.program(), code: shader.code, variables: shader.variables }
    }

    /// Register `index` of a list in the container.
    fn register(&self, name: &str, index: u32) -> Option<u32> {
        let row = registers::named(name)?;
        let address = row.address + 4 * index;
        self.code.registers.iter().find(|r| r.address == address).map(|r| r.value)
    }

    /// The rows of the container's tables.
    fn rows(&self) -> impl Iterator<Item = gfd::TableRow<'_>> + Clone {
        self.variables.iter().map(|v| (v.kind, v.name.as_str(), v.values.as_slice()))
    }

    /// Names of uniforms.
    pub fn uniforms(&self) -> impl Iterator<Item = &str> {
        self.rows().filter(|row| row.0 == VariableKind::Uniform).map(|row| row.1)
    }

    /// Names of samplers.
    pub fn samplers(&self) -> impl Iterator<Item = &str> {
        self.rows().filter(|row| row.0 == VariableKind::Sampler).map(|row| row.1)
    }

    /// Where a uniform begins.
    #[must_use]
    pub fn uniform(&self, name: &str) -> Option<UniformPlace> {
        self.declared(name).map(|uniform| uniform.place)
    }

    /// A uniform with its type.
    pub(super) fn declared(&self, name: &str) -> Option<Uniform> {
        gfd::uniforms(self.rows()).into_iter().find(|uniform| uniform.name == name)
    }

    /// All uniforms with their types.
    #[must_use]
    pub fn all_uniforms(&self) -> Vec<Uniform> {
        gfd::uniforms(self.rows())
    }

    /// The uniform blocks, with their members.
    #[must_use]
    pub fn blocks(&self) -> Vec<UniformBlock> {
        let members = self.all_uniforms();
        let blocks = self.rows().filter(|row| row.0 == VariableKind::UniformBlock);
        let block = |row: gfd::TableRow<'_>| {
            let bank = u8::try_from(gfd::column(row, "offset")?).ok()?;
            let is_in = |uniform: &&Uniform| matches!(uniform.place, UniformPlace::Buffer(of, _) if of == bank);
            let members = members.iter().filter(is_in).cloned().collect();
            Some(UniformBlock { name: row.1.to_owned(), bank, bytes: gfd::column(row, "size")? as usize, members })
        };
        blocks.filter_map(block).collect()
    }

    /// The number of a texture and its sampler.
    #[must_use]
    pub fn sampler(&self, name: &str) -> Option<u8> {
        gfd::samplers(self.rows()).into_iter().find(|sampler| sampler.0 == name).map(|sampler| sampler.1)
    }
}

impl Pair {
    /// The programs of one container, or of a file for each program: the vertex program first, unless the files say otherwise.
    ///
    /// # Errors
    /// Files that cannot be read or hold something else.
    pub fn load(files: &[ProgramSource]) -> Result<Self, Error> {
        let bytes = match files {
            [one] => {
                let (bytes, name) = bytes(one)?;
                if !bytes.starts_with(b"Gfx2") {
                    let message = format!(
                        "{} is no GFD container; name one (.gsh), or a vertex and a pixel program",
                        name.display()
                    );
                    return Err(Error::wrong("wrong-file", message));
                }
                bytes
            }
            [first, second] => {
                let mut loaded = [load(first, ProgramStage::Vertex)?, load(second, ProgramStage::Pixel)?];
                let stages = loaded.each_ref().map(|loaded| loaded.program.stage);
                if stages == [Some(ProgramStage::Pixel), Some(ProgramStage::Vertex)] {
                    loaded.swap(0, 1);
                }
                Cow::Owned(write_gfd(&[&loaded[0], &loaded[1]]).map_err(Error::Job)?)
            }
            _ => {
                let message = format!("{} files are given; a container, or a vertex and a pixel program", files.len());
                return Err(Error::wrong("wrong-files", message));
            }
        };
        let names: Vec<String> = files.iter().map(name_of).collect();
        let names = names.join(", ");
        let wrong = |error: ctm_image::ImageError| Error::wrong(error.name(), format!("{names}: {error}"));
        let shaders = Gfd::read(&bytes).and_then(|gfd| gfd.shaders()).map_err(wrong)?;
        let find = |stage: ShaderStage| {
            shaders
                .iter()
                .find(|shader| shader.code.stage == stage)
                .cloned()
                .map(Part::of)
                .ok_or_else(|| Error::wrong("no-program", format!("{names}: there is no {} program", stage.name())))
        };
        if shaders.iter().any(|shader| shader.code.stage == ShaderStage::Geometry) {
            let message = format!("{names}: draws with geometry programs are not done");
            return Err(Error::wrong("unsupported", message));
        }
        Ok(Self { vertex: find(ShaderStage::Vertex)?, pixel: find(ShaderStage::Pixel)? })
    }

    /// The vertex program's fetches.
    #[must_use]
    pub fn attributes(&self) -> Vec<Attribute> {
        let rows = || self.vertex.rows().filter(|row| row.0 == VariableKind::Attribute);
        let name = |location: u8| rows().find(|row| gfd::column(*row, "location") == Some(location.into()));
        gfd::fetched(|n| self.vertex.register("SQ_VTX_SEMANTIC", n))
            .into_iter()
            .map(|(gpr, location)| {
                let row = name(location);
                let of = row.and_then(|row| gfd::column(row, "type")).and_then(VariableType::from_code);
                let integer =
                    of.is_some_and(|of| ["int", "uint", "ivec", "uvec"].iter().any(|word| of.name().starts_with(word)));
                let name = row.map(|row| row.1.to_owned()).unwrap_or_default();
                Attribute { name, location, gpr, integer }
            })
            .collect()
    }

    /// The semantic table for [`Self::attributes`].
    #[must_use]
    pub fn semantic_table(&self) -> Vec<Semantic> {
        self.attributes().iter().map(|a| Semantic { id: a.location, gpr: a.gpr }).collect()
    }

    /// How the two programs are linked.
    #[must_use]
    pub fn links(&self) -> Links {
        let (vertex, pixel) = (&self.vertex, &self.pixel);
        let mut links = Links::default();
        let config = vertex.register("SPI_VS_OUT_CONFIG", 0).and_then(|word| VsOutConfig::decode(word).ok());
        let count = config.map_or(0, |config| config.vs_export_count) + 1;
        for n in 0..count {
            let word = vertex.register("SPI_VS_OUT_ID", u32::from(n) / 4).unwrap_or(0);
            links.semantics.push((word >> (8 * (n % 4))) as u8);
        }
        let control = pixel.register("SPI_PS_IN_CONTROL_0", 0).and_then(|word| PsInControl0::decode(word).ok());
        for n in 0..control.as_ref().map_or(0, |control| u32::from(control.num_interp.min(32))) {
            let word = pixel.register("SPI_PS_INPUT_CNTL", n).unwrap_or(0);
            links.inputs.push(PsInputCntl::decode(word).map(|word| input(&word)).unwrap_or_default());
        }
        if let Some(control) = control.filter(|control| control.position_ena) {
            links.position = Some(control.position_addr);
        }
        if let Some(control) = pixel.register("SPI_PS_IN_CONTROL_1", 0).and_then(|word| PsInControl1::decode(word).ok())
        {
            links.face = control.front_face_ena.then_some((control.front_face_addr, control.front_face_chan));
            links.fixed_position = control.fixed_pt_position_ena.then_some(control.fixed_pt_position_addr);
        }
        if let Some(control) = vertex.register("PA_CL_VS_OUT_CNTL", 0).and_then(|word| VsOutCntl::decode(word).ok()) {
            links.outputs = VertexOutputs {
                semantics: &[],
                misc: control.vs_out_misc_vec_ena,
                point_size: control.use_vtx_point_size,
                edge_flag: control.use_vtx_edge_flag,
                layer: control.use_vtx_render_target_indx,
                viewport: control.use_vtx_viewport_indx,
                kill: control.use_vtx_kill_flag,
                distances_low: control.vs_out_ccdist0_vec_ena,
                distances_high: control.vs_out_ccdist1_vec_ena,
            };
            links.distances = [control.clip_dist_ena, control.cull_dist_ena];
        }
        if let Some(control) =
            pixel.register("DB_SHADER_CONTROL", 0).and_then(|word| DbShaderControl::decode(word).ok())
        {
            links.depth.export_depth = control.z_export_enable;
            links.depth.export_stencil = control.stencil_ref_export_enable;
            links.depth.export_mask = control.mask_export_enable;
            links.depth.kill = control.kill_enable;
        }
        links
    }

    /// Bad links: inputs whose number no export has.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let links = self.links();
        let special = [links.position, links.face.map(|face| face.0), links.fixed_position];
        let missing = (0u8..).zip(&links.inputs).filter(|(register, input)| {
            !links.semantics.contains(&input.semantic) && !special.contains(&Some(*register))
        });
        let told = missing.map(|(register, input)| {
            format!(
                "the pixel program's R{register} takes the parameter with the semantic number {}, and the vertex program \
                 exports {:?}: it has its default",
                input.semantic, links.semantics
            )
        });
        told.collect()
    }
}

/// Decodes the register of an input.
fn input(word: &PsInputCntl) -> PixelInput {
    PixelInput {
        semantic: word.semantic,
        back: None,
        default: PixelInput::DEFAULTS[usize::from(word.default_val & 3)],
        interpolation: Interpolation::of(word.flat_shade, word.sel_linear),
        place: Place::of(word.sel_sample, word.sel_centroid),
        sprite: word.pt_sprite_tex,
    }
}

/// The bytes of a program and the name that says more of them.
pub(super) fn bytes(source: &ProgramSource) -> Result<(Cow<'_, [u8]>, Cow<'_, Path>), Error> {
    match source {
        ProgramSource::File(path) => Ok((
            Cow::Owned(read_file(path, FileKind::Program, None).map_err(Error::Job)?),
            Cow::Borrowed(path.as_path()),
        )),
        ProgramSource::Given(program) => {
            let (bytes, name) = program.origin();
            Ok((Cow::Borrowed(bytes), Cow::Borrowed(Path::new(name))))
        }
        ProgramSource::Bytes(bytes, name) => Ok((Cow::Borrowed(bytes), Cow::Borrowed(Path::new(&**name)))),
    }
}

/// Whether an attribute goes by a name, by its location, or by the digits of it.
pub(super) fn is_meant(slot: &Ref, attribute: &Attribute) -> bool {
    let text = slot.register("");
    !attribute.name.is_empty() && text == attribute.name || text == attribute.location.to_string()
}

/// Its name in messages.
fn name_of(source: &ProgramSource) -> String {
    match source {
        ProgramSource::File(path) => path.display().to_string(),
        ProgramSource::Given(program) => program.origin().1.to_owned(),
        ProgramSource::Bytes(_, name) => name.to_string(),
    }
}

/// A program for the requested stage, where its file does not name another.
fn load(source: &ProgramSource, stage: ProgramStage) -> Result<Loaded, Error> {
    let (bytes, path) = bytes(source)?;
    let (bytes, path) = (&*bytes, &*path);
    let says_so = is_r700(bytes, path, None);
    let isa = if says_so { None } else { Some(Isa::R700) };
    let which = match source {
        ProgramSource::Given(program) => program.which(),
        ProgramSource::File(_) | ProgramSource::Bytes(..) => None,
    };
    let mut loaded = Loaded::from_bytes(bytes, path, isa, which, &TextOptions::default()).map_err(Error::Job)?;
    loaded.program.stage = loaded.program.stage.or(Some(stage));
    Ok(loaded)
}
