//! Results of submissions, findings of checked runs, and errors that stop a buffer.

use crate::commands::{CommandKind, CondTest, DecodeError, ParamError};
use crate::memory::{GpuAddr, MemoryError};
use ctm_exec::{Counters, Domain, Fault, Finding};
use ctm_image::ImageError;
use std::fmt;

/// The report of one command buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubmitReport {
    /// Commands that were executed.
    pub commands: u32,
    /// The programs that ran, in order.
    pub launches: Vec<LaunchReport>,
    /// Findings of checked mode on the commands; empty when checks are off.
    pub findings: Vec<CommandFinding>,
}

impl SubmitReport {
    /// Clears the report, and keeps its allocation.
    pub(super) fn clear(&mut self) {
        self.commands = 0;
        self.launches.clear();
        self.findings.clear();
    }

    /// The counters of all launches.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut all = Counters::default();
        for launch in &self.launches {
            all.add(&launch.counters);
        }
        all
    }
}

/// The report of one `start_program`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchReport {
    /// Where the `start_program` is in the buffer, in dwords.
    pub offset_dwords: u32,
    /// The domain.
    pub domain: Domain,
    /// Statistics of the launch: all of them while performance counters run or with
    /// [`DeviceOptions::counters`](super::DeviceOptions::counters), the cheap ones otherwise.
    pub counters: Counters,
    /// Findings of checked mode on the running program.
    pub findings: Vec<Finding>,
}

/// Something checked mode noticed about a command; the buffer went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFinding {
    /// The check's name in kebab-case; stable.
    pub rule: &'static str,
    /// Where the command is in the buffer, in dwords; `None` for the host's accesses between buffers.
    pub offset_dwords: Option<u32>,
    /// The command at which it was noticed.
    pub command: Option<CommandKind>,
    /// The command that should have been there, where one would help.
    pub missing: Option<CommandKind>,
    /// The found value and the allowed ones; lower case, no full stop.
    pub message: String,
}

impl fmt::Display for CommandFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(command) = self.command {
            write!(f, ", at `{}`", command.name())?;
        }
        if let Some(offset) = self.offset_dwords {
            write!(f, " (dword {offset})")?;
        }
        if let Some(missing) = self.missing {
            write!(f, "; `{}` should have come before", missing.name())?;
        }
        Ok(())
    }
}

/// The error that stopped a command buffer. The commands before it have been executed; the device goes on with the next buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// Where the word is in the buffer, in dwords.
    pub offset_dwords: u32,
    /// The word: a header or a parameter.
    pub word: u32,
    /// The error.
    pub reason: CommandErrorReason,
}

/// Why a command buffer was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandErrorReason {
    /// The words are no command.
    Decode(DecodeError),
    /// A parameter cannot be.
    Param(ParamError),
    /// The buffer's address is not a multiple of 4.
    Misaligned {
        /// The address.
        address: GpuAddr,
    },
    /// Something that the command needs does not lie in memory.
    Memory {
        /// Its name, such as `the command buffer`.
        what: String,
        /// The access that was refused.
        error: MemoryError,
    },
    /// `start_program` without a `set_inst_fmt` ever.
    NoProgram,
    /// `start_program` without a `set_domain` ever.
    NoDomain,
    /// The address of `set_inst_fmt` holds no program.
    Image {
        /// The address.
        address: GpuAddr,
        /// The error in the image.
        error: ImageError,
    },
    /// The program receives interpolants and there was no `set_params`.
    NoParams {
        /// The first interpolant it receives.
        interpolant: u8,
    },
    /// The parameter records do not hold the interpolant.
    Interpolant {
        /// Which one the program receives.
        interpolant: u8,
        /// How many the records hold.
        limit: u8,
    },
    /// The positions of the parameter records lie on one line.
    DegenerateParams,
    /// A plane record names a temporary that does not exist.
    PlaneTemporary {
        /// Which record, counted from 0.
        record: u8,
        /// The temporary.
        temp: u32,
    },
    /// There are more plane records than temporaries.
    PlaneCount {
        /// How many.
        count: u8,
    },
    /// The conditional test compares with a buffer and there was no `set_cond_out_fmt`.
    NoConditionalBuffer {
        /// The test.
        test: CondTest,
    },
    /// The submission was cancelled between two commands.
    Cancelled,
    /// The command is for devices of the other kind.
    WrongDevice {
        /// Which command.
        command: CommandKind,
    },
    /// A number that a field can hold and the device cannot use.
    OutOfRange {
        /// Which field.
        what: &'static str,
        /// The number.
        found: u32,
        /// The allowed values.
        allowed: String,
    },
    /// Legal, but not done here.
    Unsupported {
        /// Its kind.
        feature: String,
    },
    /// The program did wrong while it ran.
    Fault(Fault),
}

impl CommandErrorReason {
    /// A stable name for machine-readable output.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Decode(DecodeError::NotACommand) => "not-a-command",
            Self::Decode(DecodeError::UnknownOpcode { .. }) => "unknown-command-opcode",
            Self::Decode(DecodeError::WrongCount { .. }) => "wrong-parameter-count",
            Self::Decode(DecodeError::Truncated { .. }) => "truncated-command",
            Self::Param(ParamError::ReservedBits { .. }) => "reserved-bits",
            Self::Param(ParamError::Field { .. }) => "meaningless-parameter",
            Self::Misaligned { .. } => "misaligned-command-buffer",
            Self::Memory { .. } => "outside-memory",
            Self::NoProgram => "no-program",
            Self::NoDomain => "no-domain",
            Self::Image { error, .. } => error.name(),
            Self::NoParams { .. } => "no-params",
            Self::Interpolant { .. } => "interpolant-out-of-range",
            Self::DegenerateParams => "degenerate-params",
            Self::PlaneTemporary { .. } => "plane-temporary",
            Self::PlaneCount { .. } => "plane-count",
            Self::NoConditionalBuffer { .. } => "no-conditional-buffer",
            Self::Cancelled => "cancelled",
            Self::WrongDevice { .. } => "wrong-device",
            Self::OutOfRange { .. } => "parameter-out-of-range",
            Self::Unsupported { .. } => "unsupported",
            Self::Fault(fault) => fault.code(),
        }
    }
}

impl fmt::Display for CommandErrorReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(e) => e.fmt(f),
            Self::Param(e) => e.fmt(f),
            Self::Misaligned { address } => {
                write!(f, "the command buffer begins at {address}, which is not a multiple of 4")
            }
            Self::Memory { what, error } => write!(f, "{what}: {error}"),
            Self::Cancelled => f.write_str("the submission was cancelled"),
            Self::NoProgram => f.write_str("there is no program to start; `set_inst_fmt` (on an R700 device also `set_program`) says where it lies"),
            Self::NoDomain => f.write_str("there is no domain to run over; `set_domain` says what it is"),
            Self::Image { address, error } => write!(f, "the program at {address} cannot be loaded: {error}"),
            Self::NoParams { interpolant } => write!(
                f,
                "the program receives interpolant {interpolant}; `set_params` says where the parameter records lie"
            ),
            Self::Interpolant { interpolant, limit } => write!(
                f,
                "the program receives interpolant {interpolant}, the parameter records hold interpolants 0 to {}",
                limit.saturating_sub(1)
            ),
            Self::DegenerateParams => {
                f.write_str("the positions of the three parameter records lie on one line; they must form a triangle")
            }
            Self::PlaneTemporary { record, temp } => {
                write!(f, "plane record {record} names temporary {temp}, there are temporaries 0 to 127")
            }
            Self::PlaneCount { count } => write!(f, "there are {count} plane records, at most 128 are allowed"),
            Self::NoConditionalBuffer { test } => write!(
                f,
                "the conditional test is {} and there is no conditional buffer; `set_cond_out_fmt` says where it lies",
                test.name()
            ),
            Self::WrongDevice { command } => {
                write!(f, "`{}` is a command of R700 devices, this is an X1K device", command.name())
            }
            Self::OutOfRange { what, found, allowed } => write!(f, "`{what}` is {found}, allowed are {allowed}"),
            Self::Unsupported { feature } => write!(f, "not supported: {feature}"),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at dword {} (0x{:08x}) of the command buffer", self.reason, self.offset_dwords, self.word)
    }
}

impl std::error::Error for CommandError {}
