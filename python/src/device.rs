//! Devices: memory and command buffers, as clients of the CTM interface have them.

use crate::error::{self, findings};
use crate::program::isa;
use crate::run::{budget, counters, engine, group};
use ctm::commands::{parse, print};
use ctm::memory::ArenaId;
use ctm::{Caches, Control, DeviceOptions, Diagnostic, GpuAddr, Isa, Report, Source};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A device. Calls from several threads wait for each other.
#[pyclass(frozen, module = "ctm._native")]
pub(crate) struct Device(Mutex<State>);

struct State {
    device: ctm::Device,
    /// Where command buffers are put, and how many dwords fit.
    buffer: (GpuAddr, usize),
}

fn wrong(py: Python<'_>, what: &str, error: &impl std::fmt::Display) -> PyErr {
    error::argument(py, &format!("{what}: {error}"))
}

impl Device {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Device {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "called by `ctm/__init__.py` alone")]
    fn new(
        py: Python<'_>,
        isa_name: &str,
        engine_name: Option<&str>,
        threads: usize,
        lanes: Option<u16>,
        instructions: Option<u64>,
        seconds: Option<f64>,
        check: bool,
    ) -> PyResult<Self> {
        let mut options = match isa(py, Some(isa_name))? {
            Some(Isa::R700) => DeviceOptions::r700(ctm::ctm_isa::r700::program::Chip::Rv770),
            _ => DeviceOptions::default(),
        };
        options.threads = threads.min(1024);
        options.budget = budget(py, instructions, seconds)?;
        options.counters = true;
        if let Some(group) = group(py, lanes)? {
            options.group = group;
        }
        if check {
            (options.checks, options.caches) = (true, Caches::Modelled);
        }
        let engine = engine(py, engine_name)?.engine().map_err(|e| wrong(py, "engine", &e))?;
        let device = ctm::Device::open(engine, options).map_err(|e| wrong(py, "device", &e))?;
        Ok(Self(Mutex::new(State { device, buffer: (GpuAddr(0), 0) })))
    }

    fn allocate(&self, py: Python<'_>, bytes: u64, arena: usize) -> PyResult<u32> {
        let arena = ArenaId::ALL.get(arena).copied();
        let arena = arena.ok_or_else(|| error::argument(py, "the arena is 0 (GPU), 1 (GPUb), 2 (SYS) or 3 (SYSc)"))?;
        self.state().device.allocate(arena, bytes).map(|at| at.0).map_err(|e| wrong(py, "allocate", &e))
    }

    fn write(&self, py: Python<'_>, address: u32, bytes: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let bytes = bytes.as_slice().map_err(|e| wrong(py, "write", &e))?;
        self.state().device.write(GpuAddr(address), bytes).map_err(|e| wrong(py, "write", &e))
    }

    fn read<'py>(&self, py: Python<'py>, address: u32, bytes: usize) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let state = self.state();
        let bytes = state.device.read(GpuAddr(address), bytes).map_err(|e| wrong(py, "read", &e))?;
        Ok(PyArray1::from_slice(py, bytes))
    }

    fn read_into(&self, py: Python<'_>, address: u32, to: &Bound<'_, PyArray1<u8>>) -> PyResult<()> {
        let mut to = to.try_readwrite().map_err(|e| wrong(py, "read", &e))?;
        let to = to.as_slice_mut().map_err(|e| wrong(py, "read", &e))?;
        let state = self.state();
        to.copy_from_slice(state.device.read(GpuAddr(address), to.len()).map_err(|e| wrong(py, "read", &e))?);
        Ok(())
    }

    /// Runs a command buffer to its end: counters and findings as JSON.
    fn submit<'py>(
        &self,
        py: Python<'py>,
        words: Vec<u32>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, String)> {
        let control = Control::new();
        let done = crate::drive::drive(py, &control, progress.as_ref(), || {
            let mut state = self.state();
            let state = &mut *state;
            if state.buffer.1 < words.len() {
                let room = words.len().next_power_of_two().max(1024);
                let at = state.device.allocate(ArenaId::Sys, 4 * room as u64).map_err(|e| (e.to_string(), None))?;
                state.buffer = (at, room);
            }
            let size = u32::try_from(words.len()).map_err(|e| (e.to_string(), None))?;
            state.device.write_dwords(state.buffer.0, &words).map_err(|e| (e.to_string(), None))?;
            state.device.set_control(control.clone());
            let ran = state.device.submit(state.buffer.0, size).map(drop);
            let report = state.device.last_report();
            let of_launch = report.launches.iter().flat_map(|l| &l.findings);
            let of_launch = of_launch.map(|f| Diagnostic::warning(f.rule, f.message.clone()).pc(f.pc));
            let of_commands = report.findings.iter().map(|f| Diagnostic::warning(f.rule, f.to_string()));
            let reports: Vec<Report> = of_launch.chain(of_commands).map(Report::bare).collect();
            let counters = report.counters();
            match ran {
                Ok(()) => Ok((counters, reports)),
                Err(error) => Err((error.to_string(), Some((error.reason.code(), reports)))),
            }
        })?;
        match done {
            Ok((all, reports)) => Ok((counters(py, &all)?, findings(&reports))),
            Err((message, None)) => Err(error::argument(py, &message)),
            Err((message, Some((code, reports)))) => {
                Err(error::raise(py, "fault", &message, code, &reports, (None, None)))
            }
        }
    }
}

/// The words of a command buffer that is given as text (`docs/commands.md`).
#[pyfunction]
pub(crate) fn command_words(py: Python<'_>, commands: &str) -> PyResult<Vec<u32>> {
    parse(commands).map_err(|diagnostics| {
        let source = Arc::new(Source::new("commands", commands));
        let reports: Vec<Report> = diagnostics
            .into_iter()
            .map(|diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) })
            .collect();
        let error = ctm::Error::Wrong(reports);
        error::of(py, &error)
    })
}

/// The text of a command buffer.
#[pyfunction]
pub(crate) fn command_text(words: Vec<u32>) -> String {
    print(&words)
}
