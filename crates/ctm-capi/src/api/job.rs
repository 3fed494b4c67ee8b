//! Jobs and their results.

use super::control::Control;
use super::findings::{Findings, tell};
use super::object::{Bytes, borrow, clear, free, give};
use super::run::Counters;
use super::{Failure, Status, call};
use crate::boundary::{elements, guard, store, string};
use ctm::job::{JobReport, Reader};
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::path::{Path, PathBuf};

/// Where a job comes from.
#[derive(Debug)]
enum From {
    Text { text: String, name: String, directory: PathBuf },
    File(PathBuf),
    Program(PathBuf),
}

/// `ctm_job`.
#[derive(Debug)]
pub struct Job {
    from: From,
    flags: Vec<(String, String)>,
}

/// `ctm_result`.
#[derive(Debug)]
pub struct JobResult {
    report: JobReport,
    /// The outputs that C was given: their shape and numbers.
    arrays: BTreeMap<u8, ([usize; 3], Vec<f32>)>,
}

/// `ctm_array`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Array {
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Numbers of an element.
    pub channels: u32,
    /// 0.
    pub reserved: u32,
    /// The numbers, row by row.
    pub data: *const f32,
}

/// # Safety
/// `job` is null or may be written.
unsafe fn new(job: *mut *mut Job, from: impl FnOnce() -> Result<From, Failure>) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    unsafe {
        clear(job)?;
        give(job, Job { from: from()?, flags: Vec::new() });
    }
    Ok(())
}

/// A job from the text of a job file.
///
/// # Safety
/// `text` points to `size` bytes; `name` and `directory` are null or C strings; `job` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_job_parse(
    text: *const c_char,
    size: usize,
    name: *const c_char,
    directory: *const c_char,
    job: *mut *mut Job,
) -> Status {
    call("ctm_job_parse", || {
        // SAFETY: as the caller promises.
        unsafe {
            new(job, || {
                let bytes = elements(text.cast::<u8>(), size).ok_or_else(|| Failure::argument("the text is NULL"))?;
                let text = std::str::from_utf8(bytes)
                    .map_err(|e| Failure(Status::Wrong, format!("byte {} is not UTF-8", e.valid_up_to())))?;
                Ok(From::Text {
                    text: text.to_owned(),
                    name: string(name).unwrap_or_else(|| "job".to_owned()),
                    directory: string(directory).unwrap_or_default().into(),
                })
            })
        }
    })
}

/// A job file.
///
/// # Safety
/// `path` is null or a C string; `job` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_job_open(path: *const c_char, job: *mut *mut Job) -> Status {
    call("ctm_job_open", || {
        // SAFETY: as the caller promises.
        unsafe {
            new(job, || {
                let path = string(path).ok_or_else(|| Failure::argument("the path is NULL"))?;
                // Errors of the file itself are reported now, errors of the job when it runs.
                Reader::for_file(Path::new(&path)).map_err(|e| Failure::of_job(&e))?;
                Ok(From::File(path.into()))
            })
        }
    })
}

/// A job that is a program file.
///
/// # Safety
/// As for [`ctm_job_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_job_for_program(path: *const c_char, job: *mut *mut Job) -> Status {
    call("ctm_job_for_program", || {
        // SAFETY: as the caller promises.
        unsafe {
            new(job, || {
                let path = string(path).ok_or_else(|| Failure::argument("the path is NULL"))?;
                Ok(From::Program(path.into()))
            })
        }
    })
}

/// Sets a flag.
///
/// # Safety
/// `job` is null, or was given by this library, is not freed, and is not used by another call meanwhile; the strings are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_job_set(job: *mut Job, flag: *const c_char, value: *const c_char) -> Status {
    call("ctm_job_set", || {
        // SAFETY: as the caller promises.
        let (job, flag, value) = unsafe { (job.as_mut(), string(flag), string(value)) };
        let job = job.ok_or_else(|| Failure::argument("the job is NULL"))?;
        let flag = flag.ok_or_else(|| Failure::argument("the flag is NULL"))?;
        job.flags.push((flag, value.unwrap_or_default()));
        Ok(())
    })
}

/// Runs a job.
///
/// # Safety
/// `job` is null, or was given by this library and is not freed; `result` and `findings` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_job_run(
    job: *const Job,
    result: *mut *mut JobResult,
    findings: *mut *mut Findings,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { ctm_job_run_under(job, std::ptr::null(), result, findings) }
}

/// Runs a job that may be ended from outside.
///
/// # Safety
/// As for [`ctm_job_run`]; `control` is null, or was given by this library and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_job_run_under(
    job: *const Job,
    control: *const Control,
    result: *mut *mut JobResult,
    findings: *mut *mut Findings,
) -> Status {
    call("ctm_job_run", || {
        // SAFETY: as the caller promises.
        let (job, control) = unsafe {
            store(findings, std::ptr::null_mut());
            clear(result)?;
            (borrow::<Job>(job, "job")?, control.as_ref())
        };
        let control = control.map_or_else(ctm_exec::Control::none, |control| control.of().clone());
        let reader = match &job.from {
            From::Text { text, name, directory } => Ok(Reader::for_job(text, name, directory)),
            From::File(path) => Reader::for_file(path),
            From::Program(path) => Ok(Reader::for_program(path)),
        };
        let ran = reader.and_then(|mut reader| {
            for (flag, value) in &job.flags {
                reader.flag(flag, value);
            }
            reader.finish()?.run_under(&control, |_| {})
        });
        // SAFETY: as the caller promises.
        unsafe {
            match ran {
                Ok(report) => {
                    tell(findings, report.reports.clone());
                    give(result, JobResult { report, arrays: BTreeMap::new() });
                    Ok(())
                }
                Err(error) => {
                    tell(findings, error.reports().to_vec());
                    Err(Failure::of_job(&error))
                }
            }
        }
    })
}

/// Frees a job.
///
/// # Safety
/// `job` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_job_free(job: *mut Job) {
    // SAFETY: as the caller promises.
    unsafe { free(job) }
}

/// The contents of an output.
///
/// # Safety
/// `result` is null, or was given by this library, is not freed, and is not used by another call meanwhile; `array` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_result_output(result: *mut JobResult, slot: u32, array: *mut Array) -> Status {
    call("ctm_result_output", || {
        let empty = Array { width: 0, height: 0, channels: 0, reserved: 0, data: std::ptr::null() };
        // SAFETY: as the caller promises.
        let result = unsafe {
            store(array, empty);
            result.as_mut()
        };
        let result = result.ok_or_else(|| Failure::argument("the result is NULL"))?;
        let slot = u8::try_from(slot).unwrap_or(u8::MAX);
        if !result.arrays.contains_key(&slot) {
            let held = result.report.array(slot);
            let held = held.ok_or_else(|| Failure::argument(format!("the job has no output {slot}")))?;
            result.arrays.insert(slot, ([held.width, held.height, held.channels], held.to_f32()));
        }
        if let Some(([width, height, channels], numbers)) = result.arrays.get(&slot) {
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let (width, height, channels) = (number(*width), number(*height), number(*channels));
            // SAFETY: as the caller promises.
            unsafe { store(array, Array { width, height, channels, reserved: 0, data: numbers.as_ptr() }) };
        }
        Ok(())
    })
}

/// The contents of the output of this name.
///
/// # Safety
/// As for [`ctm_result_output`]; `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_result_output_named(
    result: *mut JobResult,
    name: *const c_char,
    array: *mut Array,
) -> Status {
    // SAFETY: as the caller promises.
    let found = unsafe { (result.as_ref(), string(name)) };
    let slot = found.0.zip(found.1).and_then(|(result, name)| result.report.output(&name).map(|o| u32::from(o.slot)));
    // SAFETY: as the caller promises. There is no output of the last number.
    unsafe { ctm_result_output(result, slot.unwrap_or(u32::MAX), array) }
}

/// The counters of a job.
///
/// # Safety
/// `result` is null, or was given by this library and is not freed; `counters` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_result_counters(result: *const JobResult, counters: *mut Counters) {
    guard((), || {
        // SAFETY: as the caller promises.
        let result = unsafe { result.as_ref() };
        let all = result.map_or_else(Counters::default, |r| Counters::from(&r.report.counters()));
        // SAFETY: as the caller promises.
        unsafe { store(counters, all) };
    });
}

/// The counters of a job, as JSON.
///
/// # Safety
/// `result` is null, or was given by this library and is not freed; `json` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_result_json(result: *const JobResult, json: *mut *mut Bytes) -> Status {
    call("ctm_result_json", || {
        // SAFETY: as the caller promises.
        let report = unsafe {
            clear(json)?;
            &borrow(result, "result")?.report
        };
        let text = report.json(&[]);
        // SAFETY: `clear` saw that it may be written.
        unsafe { give(json, Bytes::new(text.into_bytes())) };
        Ok(())
    })
}

/// Frees a result.
///
/// # Safety
/// `result` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_result_free(result: *mut JobResult) {
    // SAFETY: as the caller promises.
    unsafe { free(result) }
}
