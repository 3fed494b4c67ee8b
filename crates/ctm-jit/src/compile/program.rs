//! A program in the mask form, with the code of every back end, each made when it is first needed.

use super::observe::Observer;
use super::{Form, LoweringInput, masked_form};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use super::{machine::Inputs, machine_code};
use crate::codegen::portable::dense::Dense;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::codegen::x86::masked::{Assumed, Native, Variant, are_ordinary, ordinary};
use crate::launch::kept::{Kept, Pool};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::wave::{EXPORTS, Wave};
use crate::passes::bound;
use crate::passes::table::Pass;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use ctm_exec::r700::resources::Wrap;
use ctm_ir::masked::{Fetch, Op, RegisterFile, Var, indexed};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The kinds of launches with machine code of their own, the general kind included.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
const SETS: usize = 4;

/// Machine code for similar launches.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
struct Alike {
    /// Of each fetch of single plain texels, the wrap modes beyond the edges.
    plain: Vec<Option<[Wrap; 2]>>,
    /// Factors among uniform values that are numbers other than zero.
    ordinary: Vec<u16>,
    /// In each [`Variant`]; made when first needed.
    native: Box<[OnceLock<Option<Arc<Native>>>]>,
}

/// A program of either instruction set.
pub struct CompiledProgram {
    form: Form,
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// Its machine code: that for all launches, then that for similar launches.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    native: [OnceLock<Alike>; SETS],
    /// The variables that need start values: read somewhere and covered by a plane or a row.
    pub start: Vec<Var>,
    /// The exported elements that it may write.
    pub exports: Vec<usize>,
    /// Whether fetches and stores have state for each wavefront: a data share, scratch memory.
    pub keeps: bool,
    /// The most instructions that a wavefront can issue, if no flow control can bail out to the reference interpreter.
    pub bound: Option<u64>,
    /// The program of the portable machine; made when first needed.
    dense: OnceLock<Arc<Dense>>,
    /// Working memory of wavefronts, for reuse.
    waves: Pool<Box<Wave>>,
}

impl CompiledProgram {
    /// Compiles a program to its masked form; `None`: it is left to the reference interpreter. `is_whole`: all lanes that exist are valid; `given`: the
    /// variables with start values.
    pub fn new(source: LoweringInput<'_>, is_whole: bool, lanes: usize, given: &[bool]) -> Option<Self> {
        masked_form(source, is_whole, &mut Observer::of_environment()).map(|form| Self::of_form(form, lanes, given))
    }

    /// Prepares a masked form.
    pub fn of_form(form: Form, lanes: usize, given: &[bool]) -> Self {
        let code = &form.code;
        let bound = bound::instructions(code);
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
                Op::GetRelative { file: RegisterFile::Gprs(gprs), element, .. } => {
                    indexed(*gprs, *element).for_each(&mut reads)
                }
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
            form,
            lanes,
            #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
            native: Default::default(),
            start,
            exports,
            bound,
            dense: OnceLock::new(),
            waves: Pool::default(),
        }
    }

    /// The working memory of a wavefront.
    pub fn wave(&self) -> Kept<'_, Box<Wave>> {
        self.waves.take(|| Box::new(Wave::new(self.start.len(), self.exports.len(), self.code.blocks.len())))
    }

    /// The program of the portable machine.
    pub fn dense(&self) -> Arc<Dense> {
        Arc::clone(self.dense.get_or_init(|| Arc::new(Dense::of(&self.code))))
    }

    /// The machine code for these uniform values and bindings of fetches, if there is any.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub fn native(&self, of: Variant, (uniforms, bindings): (&[u32], &[Option<Binding<'_>>])) -> Option<&Native> {
        // Tests also make code that this host cannot run, and only inspect it.
        if !cfg!(test) && !of.target.is_available() {
            return None;
        }
        let Alike { plain, ordinary, native } = self.alike(of.counts, uniforms, bindings);
        let variant = Variant { ordinary: !ordinary.is_empty(), ..of };
        let make = || {
            // Where no narrower width was chosen, that code is the code of the full width.
            let narrowed = native[Variant { narrows: true, ..variant }.number()].get();
            if let Some(Some(full)) = narrowed.filter(|_| !variant.narrows)
                && full.lanes() == self.lanes
            {
                return Some(Arc::clone(full));
            }
            let inputs = self.inputs(variant, Assumed { ordinary, plain });
            machine_code(inputs, &mut Observer::of_environment()).map(Arc::new)
        };
        native[variant.number()].get_or_init(make).as_deref()
    }

    /// The text of the stage that the observer requests, of code for a first launch with these uniform values.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub fn stage(&self, variant: Variant, uniforms: &[u32], observer: &mut Observer) -> Option<String> {
        let ordinary = if Pass::Ordinary.is_on() { ordinary(&self.code, uniforms) } else { Vec::new() };
        let variant = Variant { ordinary: !ordinary.is_empty(), ..variant };
        let code = machine_code(self.inputs(variant, Assumed { ordinary: &ordinary, plain: &[] }), observer);
        observer.text.take().filter(|_| code.is_some())
    }

    /// The inputs of the stages that make machine code.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    fn inputs<'a>(&'a self, variant: Variant, assumed: Assumed<'a>) -> Inputs<'a> {
        let Self { form, start, exports, lanes, .. } = self;
        Inputs { form, start, exports, lanes: *lanes, variant, assumed }
    }

    /// The machine code for such uniform values and such bindings of fetches: counts of lookups are made in calls.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    fn alike(&self, counts: bool, uniforms: &[u32], bindings: &[Option<Binding<'_>>]) -> &Alike {
        let plain = || {
            bindings.iter().map(|binding| match binding {
                _ if counts => None,
                Some(Binding::Texels(texels)) if !texels.linear && texels.are_plain() => Some(texels.wrap),
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

impl Deref for CompiledProgram {
    type Target = Form;

    fn deref(&self) -> &Form {
        &self.form
    }
}
