//! Findings as structures and JSON.

use super::object::{Bytes, borrow, clear, free, give};
use super::{Status, call, numbers};
use ctm::render::{self, Report};
use ctm_isa::diag::Severity;
use std::ffi::{CString, c_char, c_int};

/// `ctm_finding`. The strings belong to the findings.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FindingRecord {
    /// 0 note, 1 warning, 2 error.
    pub severity: c_int,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// From 1; 0 where there is no place.
    pub line: u32,
    /// Characters, from 1.
    pub column: u32,
    /// The instruction, or -1.
    pub pc: i32,
    /// The rule's stable name.
    pub rule: *const c_char,
    /// The value and the allowed ones.
    pub message: *const c_char,
    /// The file, or null.
    pub file: *const c_char,
    /// The manual's section, or null.
    pub cite: *const c_char,
    /// A correction, or null.
    pub help: *const c_char,
    /// All of it, with source line and carets.
    pub text: *const c_char,
    /// The submission of a device in which it was noticed; 0 where there is none.
    pub submission: u32,
    /// 0.
    pub reserved: u32,
}

/// `ctm_findings`.
#[derive(Debug)]
pub struct Findings {
    reports: Vec<Report>,
    all: Vec<FindingRecord>,
    /// The texts that `all` points to. A `CString` owns its bytes on the heap, so they stay where they are.
    _strings: Vec<CString>,
}

impl Findings {
    pub(crate) fn new(reports: Vec<Report>) -> Self {
        let mut strings: Vec<CString> = Vec::new();
        let mut keep = |text: &str| {
            let text = CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
            let pointer = text.as_ptr();
            strings.push(text);
            pointer
        };
        let all = reports
            .iter()
            .map(|report| {
                let d = &report.diagnostic;
                let span = d.labels.first().map(|label| label.span).unwrap_or_default();
                let place = report.source.as_ref().filter(|_| !d.labels.is_empty()).map(|s| s.line_column(span.start));
                let (line, column) = place.unwrap_or((0, 0));
                let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                FindingRecord {
                    severity: match d.severity {
                        Severity::Note => numbers::NOTE,
                        Severity::Warning => numbers::WARNING,
                        Severity::Error => numbers::ERROR,
                    },
                    start: span.start,
                    end: span.end,
                    line: number(line),
                    column: number(column),
                    pc: d.pc.and_then(|pc| i32::try_from(pc).ok()).unwrap_or(-1),
                    rule: keep(d.rule),
                    message: keep(&d.message),
                    file: report.source.as_ref().map_or(std::ptr::null(), |s| keep(s.name())),
                    cite: d.cite.map_or(std::ptr::null(), &mut keep),
                    help: d.help.as_deref().map_or(std::ptr::null(), &mut keep),
                    text: keep(&render::text(report, false)),
                    submission: 0,
                    reserved: 0,
                }
            })
            .collect();
        Self { reports, all, _strings: strings }
    }

    /// The same of a device: in which submission each was noticed.
    pub(crate) fn of_device(reports: Vec<Report>, submissions: &[u32]) -> Self {
        let mut findings = Self::new(reports);
        for (finding, submission) in findings.all.iter_mut().zip(submissions) {
            finding.submission = *submission;
        }
        findings
    }
}

/// Gives C findings, if it wants them.
///
/// # Safety
/// `to` is null or may be written.
pub(crate) unsafe fn tell(to: *mut *mut Findings, reports: Vec<Report>) {
    if !to.is_null() {
        // SAFETY: not null, and as the caller promises.
        unsafe { give(to, Findings::new(reports)) }
    }
}

/// How many there are; 0 for null.
///
/// # Safety
/// `findings` is null, or was given by this library and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_findings_count(findings: *const Findings) -> usize {
    // SAFETY: as the caller promises.
    unsafe { findings.as_ref() }.map_or(0, |findings| findings.all.len())
}

/// One of them; null beyond the last.
///
/// # Safety
/// As for [`ctm_findings_count`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_findings_get(findings: *const Findings, index: usize) -> *const FindingRecord {
    // SAFETY: as the caller promises.
    let findings = unsafe { findings.as_ref() };
    findings.and_then(|findings| findings.all.get(index)).map_or(std::ptr::null(), std::ptr::from_ref)
}

/// All of them as a JSON array.
///
/// # Safety
/// `findings` as for [`ctm_findings_count`]; `json` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_findings_json(findings: *const Findings, json: *mut *mut Bytes) -> Status {
    call("ctm_findings_json", || {
        // SAFETY: as the caller promises.
        let findings = unsafe {
            clear(json)?;
            borrow(findings, "findings")?
        };
        let all: Vec<_> = findings.reports.iter().map(render::json).collect();
        let text = serde_json::Value::Array(all).to_string();
        // SAFETY: `clear` saw that it may be written.
        unsafe { give(json, Bytes::new(text.into_bytes())) };
        Ok(())
    })
}

/// Frees findings.
///
/// # Safety
/// `findings` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_findings_free(findings: *mut Findings) {
    // SAFETY: as the caller promises.
    unsafe { free(findings) }
}
