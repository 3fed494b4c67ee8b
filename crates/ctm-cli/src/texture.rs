//! `ctm texture`: textures from one kind of file to another.

use crate::console::{Console, Ending, Exit, Failure};
use clap::Args;
use ctm::ctm_draw::console::{TILE_MODES, TileMode};
use ctm::ctm_draw::format::NumberType;
use ctm::ctm_isa::r700::ops::DataFormat;
use ctm::job::read_file;
use ctm::texture::{StoredTexture, TextureError, WriteOptions, read_stored, write};
use ctm_files::FileKind;
use std::path::{Path, PathBuf};

/// Convert a texture to a file of another kind
///
/// Texels stay as they are stored wherever both files have the format, compressed blocks too; --format says another one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm texture wood.png -o wood.gtx
  ctm texture wood.dds -o wood.gtx --mode 2d_thin1 --swizzle 3
  ctm texture wood.png -o wood.gtx --format 5_6_5 --levels make
  ctm texture wood.gtx -o wood.dds
  ctm texture wood.gtx -o small.png --level 2")]
pub(crate) struct TextureArgs {
    /// The texture: .gtx, .dds, .ktx2, .png, .npy or .pfm
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Where it goes: .gtx and .dds with all levels; .png, .npy or .pfm with one, its slices one below the other
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format by the manual's name, such as 8_8_8_8, 5_6_5 or 16_16_16_16_FLOAT [default: as it is]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// With --format: unorm, snorm, uint, sint, srgb or float [default: float or unorm, as the format is]
    #[arg(long, value_name = "NUMBERS", requires = "format")]
    pub(crate) numbers: Option<String>,
    /// .gtx: the tile mode of level 0, by name (2d_thin1, 1d_thin1, linear_aligned, ...) or number
    #[arg(long, value_name = "MODE", default_value = "2d_thin1")]
    pub(crate) mode: String,
    /// .gtx: where the first tile goes: a pipe in bit 0, a bank in bits 2:1
    #[arg(long, value_name = "0..7", default_value_t = 0)]
    pub(crate) swizzle: u32,
    /// How many levels are kept, or `make`: all are made anew from level 0 [default: all that there are]
    #[arg(long, value_name = "N|make")]
    pub(crate) levels: Option<String>,
    /// Arrays: the level that is written
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) level: u32,
}

const NUMBERS: [(&str, NumberType); 6] = [
    ("unorm", NumberType::Unorm),
    ("snorm", NumberType::Snorm),
    ("uint", NumberType::Uint),
    ("sint", NumberType::Sint),
    ("srgb", NumberType::Srgb),
    ("float", NumberType::Float),
];

pub(crate) fn run(console: &Console, args: &TextureArgs) -> Ending {
    let wrong =
        |file: &Path, error: &TextureError| Failure::wrong("bad-texture", format!("{}: {error}", file.display()));
    let mode = tile_mode(&args.mode)?;
    if args.swizzle > 7 {
        return Err(usage(format!("--swizzle is {}, it is 0 to 7", args.swizzle)));
    }
    let bytes = read_file(&args.input, FileKind::Texture, None)?;
    let of_input = |error: TextureError| wrong(&args.input, &error);
    let mut stored = read_stored(&args.input, &bytes).map_err(of_input)?;
    if let Some(name) = &args.format {
        let (data, numbers) = format(name, args.numbers.as_deref())?;
        if (data, numbers) != (stored.surface.format.data, stored.numbers()) {
            let image = stored.image().map_err(of_input)?;
            stored = StoredTexture::encode(&image, data, numbers).map_err(of_input)?;
        }
    }
    stored = match args.levels.as_deref() {
        None => stored,
        Some("make") => stored.with_made_levels().map_err(of_input)?,
        Some(text) => {
            let count = text.parse().map_err(|_| usage(format!("--levels is `{text}`, it is a number or `make`")))?;
            stored.with_levels(count).map_err(of_input)?
        }
    };
    let options = WriteOptions { mode, swizzle: args.swizzle, level: args.level };
    let out = write(&args.output, &stored, &options).map_err(|error| wrong(&args.output, &error))?;
    console.write(&args.output, &out)?;
    Ok(Exit::Done)
}

fn usage(message: impl Into<String>) -> Failure {
    Failure::usage("bad-flag", message)
}

fn tile_mode(text: &str) -> Result<TileMode, Failure> {
    let by_code = text.parse().ok().and_then(TileMode::from_code);
    by_code.or_else(|| TileMode::from_name(&text.to_ascii_lowercase())).ok_or_else(|| {
        let names = TILE_MODES.map(|mode| format!("{} {}", mode.code, mode.name)).join(", ");
        usage(format!("--mode `{text}`: allowed are {names}"))
    })
}

fn format(name: &str, numbers: Option<&str>) -> Result<(DataFormat, NumberType), Failure> {
    let full = format!("FMT_{}", name.to_ascii_uppercase().trim_start_matches("FMT_"));
    let data = DataFormat::from_name(&full).ok_or_else(|| {
        usage(format!(
            "--format `{name}`: a format of the manual is wanted, such as 8_8_8_8, 5_6_5 or 32_32_32_32_FLOAT"
        ))
    })?;
    let usual = if full.ends_with("FLOAT") { NumberType::Float } else { NumberType::Unorm };
    let Some(text) = numbers else { return Ok((data, usual)) };
    let found = NUMBERS.iter().find(|row| row.0 == text).map(|row| row.1);
    let names = NUMBERS.map(|row| row.0).join(", ");
    Ok((data, found.ok_or_else(|| usage(format!("--numbers `{text}`: allowed are {names}")))?))
}
