//! The tests of this crate, in one program: each program more is linked with the whole library once more.

mod cancelled;
mod corpus_jobs;
mod device_r700;
mod draw;
mod examples;
mod job_reader;
mod job_runs;
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
