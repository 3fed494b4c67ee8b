//! `libctm_radeon.so`: preloaded into a program, it makes the render node of a Radeon appear and answers the drivers' kernel requests.
//!
//! | file | subject |
//! |---|---|
//! | `interpose` | the functions of the C library that programs reach here first, and their treatment of our paths and descriptors |
//! | `real` | the functions of the C library that they replace |
//! | `tree` | the files below `/dev/dri` and `/sys` that programs look for |
//! | `directory` | reading directories of that tree |
//! | `space` | the memory file of an opened node: buffers, and the table of them |
//! | `table` | the table: handles, and where buffers lie |
//! | `settings` | settings of the environment, lines for the user |
//! | `requests`, `call` | the kernel's requests by number, and their answers; one request as its handler sees it |
//! | `prime` | buffers that other processes have |
//! | `card` | opened card nodes: sockets that events come out of |
//! | `screen` | the state of its display |
//! | `display` | the display of the card: its requests, and pictures of its frames |
//! | `client` | reading and writing the program's memory as a kernel does |
//! | `process` | the state of this process: opened nodes, its capture, its counts |
//! | `chunks`, `submit` | the chunks of a submission, and its path |
//! | `machine` | its execution |
//!
//! Opening the node gives a descriptor of one big sparse memory file. A buffer is a range of it, so mapping a buffer needs no help, and
//! closing the last descriptor and mapping frees everything, however the process ended. The file begins with the table of buffers, under a lock that
//! outlives its holder: descriptors may be duplicated, inherited by a fork or sent to another process, as those of a real node may.
//!
//! **Invariants.** `unsafe` code of the project's Radeon is here alone. Nothing is written to the disk but captures. The program's arguments are
//! copied before they are inspected, and a bad pointer is an error, as in the kernel. Requests of other devices go through untouched.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)]
// Functions of the C library are replaced and called here; each block says why it is sound.

// Tests of this crate run with the C library's own functions, without those that use most of it.
#![cfg_attr(test, allow(dead_code))]

mod call;
mod card;
mod chunks;
mod clears;
mod client;
mod directory;
mod display;
#[cfg(not(test))]
mod interpose;
mod machine;
mod prime;
mod process;
mod process_id;
mod real;
mod requests;
mod screen;
mod settings;
mod space;
mod submit;
mod table;
mod tree;

/// An error number of the kernel, positive.
type Errno = i32;
