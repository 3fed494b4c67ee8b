//! The table of rules.

use super::{Finding, SlotFacts, Theme};
use super::{dataflow, flow, operands, ranges, words};
use crate::diag::Severity::{Error, Note, Warning};
use crate::rules::{Row, row};
use Theme::{Dataflow, Flow, Operands, Ranges, Words};

/// Looks whether a program keeps a rule.
type CheckFn = fn(&SlotFacts<'_>) -> Vec<Finding>;

/// Every rule, by theme. The function is named as the rule is.
#[rustfmt::skip]
pub(super) static ROWS: &[Row<Theme, CheckFn>] = &[
    row(Words, Error, "undecodable", "R5xx PVS_OP_DST", words::undecodable,
        "Every field holds a number that has a meaning, and fields agree."),
    row(Words, Warning, "reserved-bits", "R5xx PVS_SRC", words::reserved_bits,
        "Bits that belong to no field are 0."),
    row(Words, Warning, "undefined-swizzle", "pvs-encoding §2", words::undefined_swizzle,
        "No component that reaches a result selects 7, whose meaning is not documented."),
    row(Words, Warning, "ineffective-field", "R5xx PVS_OP_DST", words::ineffective_field,
        "Clamps, the sense of the predicate, and components of A0 are set where they have an effect."),

    row(Operands, Error, "constant-port", "pvs-encoding §7", operands::constant_port,
        "An instruction reads constants at one address."),
    row(Operands, Error, "input-port", "pvs-encoding §7", operands::input_port,
        "An instruction reads inputs at one address."),
    row(Operands, Error, "temporary-port", "pvs-encoding §7", operands::temporary_port,
        "An instruction reads two different temporaries; a macro reads three."),
    row(Operands, Error, "dual-operands", "pvs-encoding §3", operands::dual_operands,
        "A dual math operation has one or two operands."),
    row(Operands, Warning, "address-result", "pvs-encoding §4", operands::address_result,
        "A0 is written by FLT2FIX operations, and these write nothing else."),
    row(Operands, Error, "address-register", "pvs-encoding §1", operands::address_register,
        "There is one address register, A0."),
    row(Operands, Warning, "input-destination", "R5xx PVS_OP_DST", operands::input_destination,
        "Inputs are not written."),
    row(Operands, Warning, "no-result", "R5xx PVS_OP_DST", operands::no_result,
        "An operation with a result writes a component or sets the predicate."),

    row(Ranges, Error, "program-size", "pvs-encoding §7", ranges::program_size,
        "A program has 1 to 1024 instructions, and begins and ends in them."),
    row(Ranges, Error, "register-range", "pvs-encoding §7", ranges::register_range,
        "Inputs 0 to 15, outputs 0 to 15 and alternate temporaries 0 to 3 are used."),
    row(Ranges, Warning, "temporary-range", "pvs-encoding §7", ranges::temporary_range,
        "Temporaries 0 to 31 are used."),
    row(Ranges, Error, "constant-base", "pvs-encoding §7", ranges::constant_base,
        "Base and greatest address of constants stay within 0 to 255 together."),
    row(Ranges, Warning, "constant-range", "pvs-encoding §2", ranges::constant_range,
        "Constants at fixed addresses, and those that come with the program, are in range: others read as zeros."),

    row(Flow, Error, "flow-address", "pvs-encoding §6", flow::flow_address,
        "Flow-control slots name instructions of the program."),
    row(Flow, Error, "flow-order", "pvs-encoding §6", flow::flow_order,
        "A loop or subroutine ends at or after its first instruction."),
    row(Flow, Error, "act-twice", "pvs-encoding §6", flow::act_twice,
        "No two flow-control slots act after the same instruction."),
    row(Flow, Error, "loop-count", "pvs-encoding §6", flow::loop_count,
        "A loop has 1 to 255 iterations."),
    row(Flow, Error, "flow-depth", "pvs-encoding §6", flow::flow_depth,
        "Loops and subroutines nest no deeper than 8."),
    row(Flow, Error, "leaves-loop", "pvs-encoding §6", flow::leaves_loop,
        "A path leaves a loop or subroutine at its last instruction only."),
    row(Flow, Error, "runs-off", "pvs-encoding §6", flow::runs_off,
        "No path runs past the program's instructions."),
    row(Flow, Error, "never-ends", "pvs-encoding §6", flow::never_ends,
        "Some path reaches the last instruction, and ends there."),
    row(Flow, Warning, "unreachable-code", "pvs-encoding §6", flow::unreachable_code,
        "Every instruction is on some path."),
    row(Flow, Error, "relative-outside-loop", "pvs-encoding §6", flow::relative_outside_loop,
        "aL is used inside loops only."),
    row(Flow, Note, "flow-too-complex", "pvs-encoding §6", flow::flow_too_complex,
        "The checker could follow every path to its end."),

    row(Dataflow, Warning, "unwritten-temporary", "pvs-encoding §1", dataflow::unwritten_temporary,
        "A component of a temporary is written before it is read."),
    row(Dataflow, Warning, "unwritten-address", "pvs-encoding §1", dataflow::unwritten_address,
        "A component of A0 is written before an address uses it."),
    row(Dataflow, Warning, "unset-predicate", "pvs-encoding §5", dataflow::unset_predicate,
        "The predicate is set before an instruction depends on it."),
    row(Dataflow, Warning, "unwritten-position", "pvs-encoding §1", dataflow::unwritten_position,
        "The program writes output 0, the position."),
];
