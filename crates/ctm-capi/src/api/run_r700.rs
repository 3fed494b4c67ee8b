//! `ctm_run` for R700 programs: a run of `ctm` on the caller's arrays.

use super::run::{Arrays, ConstantBuffer, Input, Output, RunOptions, engine, sampler};
use super::{Failure, Status, numbers};
use crate::boundary::elements;
use ctm::ctm_exec::r700::LoopConstant;
use ctm::render::Report;
use ctm::run::Done;
use ctm::{Budget, Domain, Error, GroupSize, Run, View};
use std::time::Duration;

/// The result of a run: or the reason of a failure, with the findings.
type Ran = Result<Done, Box<(Failure, Vec<Report>)>>;

/// Runs a program.
///
/// # Safety
/// As the caller of `ctm_run` promises: the pointers have as many elements as their counts say, the outputs' numbers may be written and belong to
/// nothing else.
pub(super) unsafe fn run(
    program: &ctm::Program,
    o: &RunOptions,
    arrays: &Arrays<'_>,
    counters: bool,
) -> Result<Ran, Failure> {
    let [i0, j0, i1, j1] = o.domain;
    let mut budget = Budget::default();
    if o.instructions > 0 {
        budget.instructions_per_group = Some(o.instructions);
    }
    if o.seconds != 0.0 {
        let time = Duration::try_from_secs_f64(o.seconds);
        budget.time = Some(time.map_err(|e| Failure::argument(format!("`seconds` is {}: {e}", o.seconds)))?);
    }
    let mut run = Run::of(program)
        .domain(Domain { i0, j0, i1, j1 })
        .engine(engine(o.engine)?)
        .threads(o.threads.min(1024) as usize)
        .budget(budget)
        .checked(o.check != 0)
        .counted(counters);
    if o.group != 0 {
        let group = u16::try_from(o.group).ok().and_then(GroupSize::new);
        run = run.group(group.ok_or_else(|| {
            Failure::argument(format!("a group of {}: a multiple of 4 up to 1024 is possible", o.group))
        })?);
    }
    // SAFETY: null, or it lives until the run has ended, as the caller promises.
    if let Some(control) = unsafe { o.control.as_ref() } {
        run = run.under(control.of());
    }
    for (n, value) in arrays.floats.as_chunks::<4>().0.iter().enumerate() {
        run = run.constant(&format!("C{n}"), *value);
    }
    for (n, &[count, start, step, _]) in arrays.ints.as_chunks::<4>().0.iter().enumerate() {
        let value = LoopConstant { count: count.into(), start: start.into(), step: i8::from_le_bytes([step]) };
        run = run.integer(&format!("i{n}"), value);
    }
    for (n, &value) in arrays.bools.iter().enumerate() {
        run = run.boolean(&format!("b{n}"), value != 0);
    }
    for ConstantBuffer { bank, data, count, .. } in arrays.constant_buffers {
        // SAFETY: as the caller promises.
        let values = count.checked_mul(4).and_then(|count| unsafe { elements(*data, count) });
        let values = values.ok_or_else(|| Failure::argument(format!("constant buffer {bank}: its data is NULL")))?;
        let bank = u8::try_from(*bank).ok().filter(|&n| n < 16);
        let bank = bank.ok_or_else(|| Failure::argument("constant buffers are 0 to 15"))?;
        run = run.constant_buffer(bank, values.as_chunks::<4>().0.iter().map(|v| v.map(f32::to_bits)).collect());
    }
    for input in arrays.inputs {
        let Input { slot, width, height, channels, data, .. } = *input;
        let name = match slot {
            0..=255 => format!("t{slot}"),
            numbers::BUFFER..=0x1ff => format!("b{}", slot - numbers::BUFFER),
            _ => {
                return Err(Failure::argument(format!(
                    "input {slot}: textures are 0 to 255, buffers CTM_BUFFER + 0 to CTM_BUFFER + 255"
                )));
            }
        };
        let count = count("input", slot, [width, height, channels])?;
        // SAFETY: as the caller promises.
        let values = unsafe { elements(data, count) };
        let values = values.ok_or_else(|| Failure::argument(format!("input {slot}: its data is NULL")))?;
        let shape = [height, width, channels].map(|n| n as usize);
        let view = if slot < numbers::BUFFER { View::rows(values, shape) } else { View::line(values, shape[2]) };
        run = run.sampled(&name, view, sampler(input)?);
    }
    for &Output { slot, width, height, channels, data } in arrays.outputs {
        let count = count("output", slot, [width, height, channels])?;
        // SAFETY: as the caller promises, they have no other reference.
        let values = unsafe { crate::boundary::elements_mut(data, count) };
        let values = values.ok_or_else(|| Failure::argument(format!("output {slot}: its data is NULL")))?;
        run = run.output_into_rows(&format!("pix{slot}"), values, [height, width, channels].map(|n| n as usize));
    }
    Ok(run.run().map_err(|error| {
        let status = match &error {
            Error::Argument(_) => Status::Argument,
            Error::Fault(_) if error.is_cancelled() => Status::Cancelled,
            Error::Fault(_) => Status::Fault,
            Error::Unsupported(_) => Status::Unsupported,
            Error::Engine(_) => Status::Host,
            _ => Status::Wrong,
        };
        let first = error.findings().iter().find(|r| r.is_error()).or(error.findings().first());
        let message = first.map_or_else(|| error.to_string(), |r| r.diagnostic.message.clone());
        Box::new((Failure(status, message), error.findings().to_vec()))
    }))
}

/// Numbers of an array.
fn count(what: &str, slot: u32, [width, height, channels]: [u32; 3]) -> Result<usize, Failure> {
    if width == 0 || height == 0 || !matches!(channels, 1 | 2 | 4) || width > 8192 || height > 8192 {
        return Err(Failure::argument(format!(
            "{what} {slot} has {width} x {height} elements of {channels} channels; 1 to 8192 of each, and 1, 2 or 4 channels are possible"
        )));
    }
    Ok(width as usize * height as usize * channels as usize)
}
