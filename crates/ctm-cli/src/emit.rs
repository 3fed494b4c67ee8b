//! `ctm emit`.

use crate::args::programs::EmitArgs;
use crate::console::{Console, Ending, Exit, Failure, input_called};
use ctm::job::{Isa, Loaded};
use ctm::r700::is_r700;
use ctm_exec::r700;
use ctm_exec::x1k::{Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, GroupSize};
use ctm_files::FileKind;
use ctm_isa::r700::text::TextOptions;
use ctm_isa::x1k::program::Literal;
use ctm_jit::{Backend, EmitLaunch, Stage};

/// A domain of whole groups.
const DOMAIN: Domain = Domain { i0: 0, j0: 0, i1: 63, j1: 63 };

pub(crate) fn run(console: &Console, args: &EmitArgs) -> Ending {
    let (bytes, file) = input_called(&args.file, FileKind::Program, "the file")?;
    let isa = args.isa.map(Isa::from);
    // The names are those that the command line allows.
    let stage = Stage::ALL.iter().copied().find(|stage| stage.result() == args.stage).unwrap_or(Stage::Masks);
    let target = args.target.as_deref().and_then(|name| Backend::ALL.into_iter().find(|of| of.name() == name));
    let backend = target.unwrap_or_else(Backend::detect);
    let text = if is_r700(&bytes, file, isa) {
        let loaded =
            ctm::r700::Loaded::from_bytes(&bytes, file, isa, args.program.as_deref(), &TextOptions::default())?;
        console.reports(&loaded.reports);
        let constants = r700::Constants::default();
        let launch = r700::Launch::new(&loaded.program, &constants, DOMAIN);
        let of = loaded.program.stage.unwrap_or(launch.stage);
        let launch = r700::Launch { stage: of, planes: &[r700::Plane::position(0)], ..launch };
        ctm_jit::emit(EmitLaunch::R700(&launch), stage, backend)
    } else {
        let loaded = Loaded::choose(&bytes, file, isa, args.program.as_deref(), None)?;
        console.reports(&loaded.reports);
        let constants = constants(&loaded.program.literals);
        let launch = Launch {
            program: &loaded.program,
            constants: &constants,
            planes: &[Plane::position(0)],
            rows: &[],
            domain: DOMAIN,
            group: GroupSize::X1K,
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: Budget::default(),
            threads: 1,
            checks: false,
            counters: false,
        };
        ctm_jit::emit(EmitLaunch::X1k(&launch), stage, backend)
    };
    let text = text.map_err(|error| Failure::wrong("not-compiled", format!("{}: {error}", file.display())))?;
    match &args.output {
        Some(output) => console.write(output, text.as_bytes())?,
        None => console.print(&text)?,
    }
    Ok(Exit::Done)
}

/// The constants that a program brings along; all others are zero.
fn constants(literals: &[Literal]) -> Constants {
    let mut constants = Constants::default();
    for literal in literals {
        match *literal {
            Literal::Float { index, bits } => constants.float[usize::from(index)] = bits,
            Literal::Int { index, value } => {
                constants.int.get_mut(usize::from(index)).into_iter().for_each(|of| *of = value);
            }
            Literal::Bool { index, value } => {
                constants.bool.get_mut(usize::from(index)).into_iter().for_each(|of| *of = value);
            }
        }
    }
    constants
}
