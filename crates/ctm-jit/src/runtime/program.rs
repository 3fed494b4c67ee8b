//! A program in the mask form, with the code of every back end, each made when it is first needed.

use crate::codegen::portable::dense::Dense;
#[cfg(target_arch = "x86_64")]
use crate::codegen::x86::masked::{Chosen, Native, Variant, are_ordinary, asks_for_sizes, ordinary};
use crate::ir::masked::{Code, Fetch, File, Op, Var, indexed};
use crate::launch::kept::{Kept, Pool};
#[cfg(target_arch = "x86_64")]
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::wave::{EXPORTS, Wave};
#[cfg(target_arch = "x86_64")]
use crate::passes::masked::VarSet;
use crate::passes::table::Pass;
use crate::passes::{self, bound};
#[cfg(target_arch = "x86_64")]
use ctm_exec::r700::resources::Wrap;
use std::sync::{Arc, OnceLock};

/// Machine code is made for so many kinds of launches, that for all kinds included.
#[cfg(target_arch = "x86_64")]
const SETS: usize = 4;

/// Machine code for launches that are alike.
#[cfg(target_arch = "x86_64")]
struct Alike {
    /// Of each fetch that reads single plain texels, what lies beyond them; nothing does of one that asks for sizes that are known.
    plain: Vec<Option<[Wrap; 2]>>,
    /// Factors among uniform values that are numbers other than zero.
    ordinary: Vec<u16>,
    /// In each [`Variant`]; made when first needed.
    native: Box<[OnceLock<Option<Box<Native>>>]>,
}

/// A program of either instruction set.
pub struct Program {
    pub code: Code,
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// The variables that somebody may still read at the beginning of each block.
    #[cfg(target_arch = "x86_64")]
    live: Vec<VarSet>,
    /// Its machine code: that for all launches, then that for launches that are alike.
    #[cfg(target_arch = "x86_64")]
    native: [OnceLock<Alike>; SETS],
    /// The variables that a wavefront has to be given: read somewhere and covered by a plane or a row.
    pub start: Vec<Var>,
    /// The exported elements that it may write.
    pub exports: Vec<usize>,
    /// Whether fetches and stores keep something for each wavefront: a data share, scratch memory.
    pub keeps: bool,
    /// How many instructions a wavefront can issue at most, if no flow control can lead to the reference interpreter.
    pub bound: Option<u64>,
    /// The program of the portable machine; made when first needed.
    dense: OnceLock<Arc<Dense>>,
    /// What wavefronts ran in, for those to come.
    waves: Pool<Box<Wave>>,
}

impl Program {
    /// Of a form that was just lowered. `whole`: all lanes that exist are valid; `given`: variables that hold something at the start.
    pub fn new(mut code: Code, whole: bool, lanes: usize, given: &[bool]) -> Self {
        let bound = bound::instructions(&code);
        passes::masks::simplify(&mut code, whole);
        let live = passes::masked::optimise(&mut code, whole, Pass::Computed.is_on());
        #[cfg(not(target_arch = "x86_64"))]
        drop(live);
        let mut read = [false; Var::COUNT];
        let mut written = [false; EXPORTS];
        let mut start = Vec::new();
        let mut reads = |var: Var| {
            if given[var.index()] && !std::mem::replace(&mut read[var.index()], true) {
                start.push(var);
            }
        };
        for op in code.blocks.iter().flat_map(|block| &block.ops) {
            match op {
                Op::Get(var) => reads(*var),
                Op::GetRelative(File::Gprs(gprs), _, element, _) => indexed(*gprs, *element).for_each(&mut reads),
                Op::Mark(var, _) => var.export_index().into_iter().for_each(|index| written[index] = true),
                _ => {}
            }
        }
        start.sort_unstable();
        let exports = (0..EXPORTS).filter(|&e| written[e]).collect();
        let kept = |fetch: &Fetch| match fetch {
            Fetch::Texture(_) | Fetch::Vertex(_) | Fetch::Input { .. } => false,
            Fetch::Memory(..) | Fetch::Share(..) => true,
        };
        let keeps = !code.stores.is_empty() || code.fetches.iter().any(kept);
        Self {
            keeps,
            code,
            lanes,
            #[cfg(target_arch = "x86_64")]
            live,
            #[cfg(target_arch = "x86_64")]
            native: Default::default(),
            start,
            exports,
            bound,
            dense: OnceLock::new(),
            waves: Pool::default(),
        }
    }

    /// What a wavefront runs in.
    pub fn wave(&self) -> Kept<'_, Box<Wave>> {
        self.waves.take(|| Box::new(Wave::new(self.start.len(), self.exports.len(), self.code.blocks.len())))
    }

    /// The program of the portable machine.
    pub fn dense(&self) -> Arc<Dense> {
        Arc::clone(self.dense.get_or_init(|| Arc::new(Dense::of(&self.code))))
    }

    /// The machine code for these uniform values and what fetches read, if there is any.
    #[cfg(target_arch = "x86_64")]
    pub fn native(&self, of: Variant, (uniforms, bindings): (&[u32], &[Option<Binding<'_>>])) -> Option<&Native> {
        if !of.isa.is_available() {
            return None;
        }
        let Alike { plain, ordinary, native } = self.alike(of.counts, uniforms, bindings);
        let variant = Variant { ordinary: !ordinary.is_empty(), ..of };
        let make = || {
            let chosen = Chosen::new(&self.code, &self.start, of.isa, (ordinary, plain));
            let starts = (self.start.as_slice(), self.exports.as_slice());
            Native::new(&self.code, &self.live, starts, self.lanes, variant, chosen).map(Box::new)
        };
        native[variant.number()].get_or_init(make).as_deref()
    }

    /// The machine code for such uniform values, and fetches that read such things: what lookups count is counted in calls.
    #[cfg(target_arch = "x86_64")]
    fn alike(&self, counts: bool, uniforms: &[u32], bindings: &[Option<Binding<'_>>]) -> &Alike {
        let plain = || {
            self.code.fetches.iter().zip(bindings).map(|(fetch, binding)| match binding {
                _ if counts => None,
                Some(Binding::Texels(texels)) if !texels.linear && texels.are_plain() => Some(texels.wrap),
                Some(Binding::Levels(_)) if asks_for_sizes(fetch) && Pass::Levels.is_on() => Some([Wrap::Clamp; 2]),
                _ => None,
            })
        };
        let new = |plain, ordinary| {
            let native = (0..Variant::COUNT).map(|_| OnceLock::new()).collect();
            Alike { plain, ordinary, native }
        };
        let [any, sets @ ..] = &self.native;
        for set in sets {
            let first = || {
                let is_on = Pass::Ordinary.is_on();
                new(plain().collect(), if is_on { ordinary(&self.code, uniforms) } else { Vec::new() })
            };
            let set = set.get_or_init(first);
            if are_ordinary(&set.ordinary, uniforms) && plain().eq(set.plain.iter().copied()) {
                return set;
            }
        }
        any.get_or_init(|| new(Vec::new(), Vec::new()))
    }

    /// Whether wavefronts may issue more instructions than these.
    pub fn may_exceed(&self, fuel: u64) -> bool {
        self.bound.is_none_or(|bound| bound > fuel)
    }
}
