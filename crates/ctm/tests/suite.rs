//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod cancelled;
mod corpus_jobs;
mod device_r700;
#[path = "../../ctm-device/tests/device_support/mod.rs"]
mod device_support;
mod draw;
mod examples;
mod job_reader;
mod job_runs;
mod lean;
mod llvm_jobs;
mod r700_chain;
mod r700_examples;
mod r700_jobs;
mod reduce_jobs;
mod run;
mod trace;
mod trace_check;
mod trace_draws;
mod trace_parting;
mod values;
