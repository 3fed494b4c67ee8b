//! The headers: they compile in every version of C and C++ without a warning, their layouts and numbers are the library's, and
//! the packer agrees with the device's own command table.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::compiler;

use ctm::commands::{
    BufferPlace, CommandBuffer, CommandKind, CondLoc, CondTest, ConstantsPlace, ExportKind, FetchFormatWord,
    MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot, ResourceSet,
};
use ctm::mc::{Format, Surface, TextureShape, TextureSurface, Tiling};
use ctm::memory::{ArenaId, GpuAddr};
use ctm_capi::amu::{
    AMUabiConstsInfo, AMUabiDataType, AMUabiLiteralConst, AMUabiString, AMUabiUserConst, AMUcompMacro, MAX_CONSTS,
    MAX_STRING,
};
use ctm_capi::api::control::Progress;
use ctm_capi::api::findings::FindingRecord;
use ctm_capi::api::job::Array;
use ctm_capi::api::run::{
    Constant, ConstantBuffer, Counters, ENGINES, Input, MemoryDwords, Output, RegisterStart, RunOptions,
};
use ctm_capi::api::{API_VERSION, Status, numbers};
use ctm_capi::managed::{AMmanagedDevice, AMmanagedDeviceInfo};
use ctm_exec::Domain;
use ctm_exec::r700::{self, Target, formats::Format as FetchFormat};
use ctm_exec::x1k::Sampler;
use ctm_isa::r700::ops::{DataFormat, NumFormat};
use ctm_isa::r700::program::{Chip, Stage};
use std::fmt::Write as _;
use std::mem::{align_of, offset_of, size_of};

/// Headers that C can use too.
const BOTH: &[&str] =
    &["amDeviceManaged.h", "amuCbufTypes.h", "amuCbufPack.h", "amuABI.h", "amuAsm.h", "amuComp.h", "ctm.h"];
/// Headers that are C++ only.
const CPP_ONLY: &[&str] = &["CTM/Buffer.h", "CTM/Device.h", "CTM/Pass.h"];

#[test]
fn headers_compile_alone_and_together_without_warnings() {
    for cpp in [false, true] {
        let Some(compiler) = compiler::compiler(cpp) else { continue };
        let (standards, end) = if cpp { (compiler::CPP, "cpp") } else { (compiler::C, "c") };
        let headers: Vec<&str> = if cpp { BOTH.iter().chain(CPP_ONLY).copied().collect() } else { BOTH.to_vec() };
        let mut sources: Vec<String> =
            headers.iter().map(|h| format!("#include \"{h}\"\nextern int unused;\n")).collect();
        // Twice, and in the other order.
        sources.push(headers.iter().chain(headers.iter().rev()).map(|h| format!("#include \"{h}\"\n")).collect());
        for (n, text) in sources.iter().enumerate() {
            let source = compiler::scratch(&format!("header{n}.{end}"));
            std::fs::write(&source, text).unwrap();
            for standard in standards {
                compiler::check(&compiler, standard, &source).unwrap_or_else(|e| panic!("{text}{e}"));
            }
        }
    }
}

/// An integer, in the manual's format.
const INTEGER: FetchFormat = FetchFormat {
    data: DataFormat::Fmt32,
    numbers: NumFormat::Int,
    sign: ctm_isa::r700::ops::FormatComp::Unsigned,
    srf: ctm_isa::r700::ops::SrfMode::ZeroClampMinusOne,
    endian: ctm_isa::r700::ops::EndianSwap::None,
};

/// Numbers that C and the library must agree on: an expression of C, and the library's number.
fn numbers() -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    macro_rules! layout {
        ($type:ident: $($field:ident),*) => {
            all.push((format!("sizeof({})", stringify!($type)), size_of::<$type>()));
            $(all.push((
                format!("offsetof({}, {})", stringify!($type), stringify!($field).trim_start_matches("r#")),
                offset_of!($type, $field),
            ));)*
        };
    }
    layout!(AMmanagedDeviceInfo: arenaSizeGPU, arenaSizeGPUb, arenaSizeSYS, arenaSizeSYSc, baseAddressGPU, baseAddressGPUb,
        baseAddressSYS, baseAddressSYSc, baseAddressCPU, baseAddressCPUc, reserved0, reserved1);
    layout!(AMUabiString: str);
    layout!(AMUabiLiteralConst: addr, value);
    layout!(AMUabiUserConst: addr, name);
    layout!(AMUabiConstsInfo: litConstsCount, userConstsCount, litConsts, userConsts);
    layout!(AMUcompMacro: name, value);
    macro_rules! renamed {
        ($type:ident $name:literal: $($field:ident),*) => {
            all.push((format!("sizeof({})", $name), size_of::<$type>()));
            $(all.push((format!("offsetof({}, {})", $name, stringify!($field)), offset_of!($type, $field)));)*
        };
    }
    renamed!(FindingRecord "ctm_finding": severity, start, end, line, column, pc, rule, message, file, cite, help, text, submission,
        reserved);
    renamed!(Array "ctm_array": width, height, channels, reserved, data);
    renamed!(Input "ctm_input": slot, width, height, channels, data, filter, wrap_x, wrap_y, border);
    renamed!(Output "ctm_output": slot, width, height, channels, data);
    renamed!(RunOptions "ctm_run_options": size, domain, floats, float_count, ints, int_count, bools, bool_count, inputs,
        input_count, outputs, output_count, threads, group, instructions, check, engine, seconds, control,
        constant_buffers, constant_buffer_count, clamp, reserved, input_names, output_names, constants, constant_count, registers,
        register_count, memories, memory_count);
    renamed!(ConstantBuffer "ctm_constant_buffer": bank, reserved, data, count);
    renamed!(Constant "ctm_constant": name, kind, reserved, data, count);
    renamed!(RegisterStart "ctm_register": index, bits, origin, di, dj);
    renamed!(MemoryDwords "ctm_memory": name, data, count);
    renamed!(Progress "ctm_progress": done, processors, seconds, seconds_left);
    renamed!(Counters "ctm_counters": groups, processors, alu, output, tex, fc, active_lanes, total_lanes, fetches, fetch_bytes,
        writes, write_bytes, clocks);
    all.push(("CTM_API_VERSION".into(), API_VERSION as usize));
    all.push(("CTM_BUFFER".into(), ctm_capi::api::numbers::BUFFER as usize));
    all.push(("sizeof(ctm_status)".into(), size_of::<Status>()));
    for (name, value) in [
        ("CTM_OK", Status::Ok as usize),
        ("CTM_WRONG", Status::Wrong as usize),
        ("CTM_ARGUMENT", Status::Argument as usize),
        ("CTM_FAULT", Status::Fault as usize),
        ("CTM_UNSUPPORTED", Status::Unsupported as usize),
        ("CTM_HOST", Status::Host as usize),
        ("CTM_INTERNAL", Status::Internal as usize),
        ("CTM_TIMEOUT", Status::Timeout as usize),
        ("CTM_CANCELLED", Status::Cancelled as usize),
        ("CTM_ARENA_GPU", ArenaId::Gpu as usize),
        ("CTM_ARENA_GPUB", ArenaId::GpuB as usize),
        ("CTM_ARENA_SYS", ArenaId::Sys as usize),
        ("CTM_ARENA_SYSC", ArenaId::SysC as usize),
    ] {
        all.push((name.into(), value));
    }
    all.push(("CTM_ENGINE_DEFAULT".into(), 0));
    macro_rules! named {
        ($($name:ident)*) => {
            $(all.push((concat!("CTM_", stringify!($name)).into(), numbers::$name as usize));)*
        };
    }
    named!(NOTE WARNING ERROR FORM_ELF FORM_HEX FORM_BIN ISA_X1K ISA_R700 INPUT OUTPUT FLOAT_CONSTANT INT_CONSTANT BOOL_CONSTANT
        NEAREST LINEAR CLAMP REPEAT MIRROR BORDER);
    for (kind, number) in ENGINES {
        all.push((format!("CTM_ENGINE_{}", kind.name().to_uppercase()), number as usize));
    }
    all.push(("offsetof(AMUabiLiteralConst, type)".into(), offset_of!(AMUabiLiteralConst, r#type)));
    all.push(("offsetof(AMUabiUserConst, type)".into(), offset_of!(AMUabiUserConst, r#type)));
    all.push(("sizeof(AMuint32)".into(), size_of::<u32>()));
    all.push(("sizeof(AMmanagedDevice)".into(), size_of::<AMmanagedDevice>()));
    all.push(("sizeof(AMUabiDataType)".into(), size_of::<AMUabiDataType>()));
    all.push(("sizeof(AMUcompLogFunction)".into(), size_of::<ctm_capi::amu::LogFunction>()));
    all.push(("AMU_ABI_MAX_CONSTS".into(), MAX_CONSTS));
    all.push(("AMU_ABI_MAX_STRING".into(), MAX_STRING));
    for (name, value) in [
        ("UNDEF", AMUabiDataType::Undef),
        ("BOOL32", AMUabiDataType::Bool32),
        ("INT32", AMUabiDataType::Int32),
        ("FLOAT32", AMUabiDataType::Float32),
        ("SAMPLER", AMUabiDataType::Sampler),
        ("MAXTYPES", AMUabiDataType::MaxTypes),
    ] {
        all.push((format!("AMU_ABI_{name}"), value as usize));
    }
    for &kind in CommandKind::ALL {
        all.push((format!("AMU_CBUF_CMD_{}", kind.name().to_uppercase()), kind.header() as usize));
    }
    for &format in Format::ALL {
        all.push((format!("AMU_CBUF_FLD_FORMAT_{}", format.name()), format as usize));
    }
    for &tiling in Tiling::ALL {
        let name = if tiling == Tiling::Tiled { "TILED0" } else { tiling.name() };
        all.push((format!("AMU_CBUF_FLD_TILING_{name}"), tiling as usize));
    }
    for &test in CondTest::ALL {
        all.push((format!("AMU_CBUF_FLD_COND_TEST_{}", test.name()), test as usize));
    }
    for &loc in CondLoc::ALL {
        all.push((format!("AMU_CBUF_FLD_COND_LOC_{}", loc.name()), loc as usize));
    }
    let named = |all: &mut Vec<(String, usize)>, field: &str, name: &str, code: u32| {
        all.push((format!("AMU_CBUF_FLD_{field}_{}", name.to_uppercase()), code as usize));
    };
    for &stage in Stage::ALL {
        named(&mut all, "STAGE", stage.name(), stage.code());
    }
    for &chip in Chip::ALL {
        named(&mut all, "CHIP", chip.name(), chip.code());
    }
    for &memory in MemoryKind::ALL {
        named(&mut all, "MEMORY", memory.name(), memory.code());
    }
    for &export in ExportKind::ALL {
        named(&mut all, "EXPORT", export.name(), export.code());
    }
    for &shape in TextureShape::ALL {
        named(&mut all, "SHAPE", shape.name(), shape.code());
    }
    all.push((
        "AMU_CBUF_FETCH_FORMAT(35, 0, 0, 0)".into(),
        FetchFormatWord::from(FetchFormat::default()).encode() as usize,
    ));
    all.push(("AMU_CBUF_FETCH_FORMAT(13, 1, 0, 0)".into(), FetchFormatWord::from(INTEGER).encode() as usize));
    let widest = Surface { pitch: 8188, ..Surface::for_size(4, 4, Format::Float32x4, Tiling::TiledInp2x2).unwrap() };
    all.push(("AMU_CBUF_FORMAT_WORD(8188, 3, 4)".into(), widest.format_word() as usize));
    all
}

#[test]
fn layouts_and_numbers_are_those_of_the_library() {
    // The layout in Rust must not depend on this compiler's choices.
    const { assert!(size_of::<AMmanagedDeviceInfo>() == 32 + 2 * size_of::<usize>() + 8) };
    const { assert!(align_of::<AMmanagedDeviceInfo>() == align_of::<usize>()) };
    let mut source = String::from("#include <stddef.h>\n");
    for header in BOTH {
        writeln!(source, "#include \"{header}\"").unwrap();
    }
    for (n, (expression, value)) in numbers().into_iter().enumerate() {
        // A negative array size stops every version of both languages.
        writeln!(source, "typedef char assert_{n}[(size_t)({expression}) == (size_t){value}u ? 1 : -1]; /* {expression} is {value} */").unwrap();
    }
    for (cpp, standards, end) in [(false, compiler::C, "c"), (true, compiler::CPP, "cpp")] {
        let Some(compiler) = compiler::compiler(cpp) else { continue };
        let path = compiler::scratch(&format!("layout.{end}"));
        std::fs::write(&path, &source).unwrap();
        compiler::check(&compiler, standards[0], &path).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Every append method once, and the same with the library's own builder.
#[test]
fn the_packer_writes_what_the_command_table_says() {
    let source = r#"
#include "amuCbufPack.h"
#include <cstdio>
int main() {
    unsigned int words[256];
    AMUcbufPack p(words, 256);
    p.appendInitPerfCounters(); p.appendInitPerfCounters(false); p.appendStartPerfCounters(); p.appendStopPerfCounters();
    p.appendReadPerfCounters(0x80000800u);
    p.appendSetCondVal(0.5f); p.appendSetDomain(1, 2, 63, 31); p.appendStartProgram(); p.appendWaitForIdle();
    p.appendSetInstFmt(0x80000000u, 0, 0, 0);
    p.appendSetInpFmt(3, 0x10000000u, AMU_CBUF_FLD_FORMAT_FLOAT32_2, AMU_CBUF_FLD_TILING_TILED0, 128, 100);
    p.appendSetOutFmt(2, 0x10000800u, AMU_CBUF_FLD_FORMAT_UINT8_4, AMU_CBUF_FLD_TILING_LINEAR, 64, 7);
    p.appendSetCondOutFmt(0x10001000u, AMU_CBUF_FLD_FORMAT_FLOAT32_1, AMU_CBUF_FLD_TILING_LINEAR, 64, 8);
    p.appendSetConstfFmt(0x80001000u, 0, 0, 0); p.appendSetConstiFmt(0x80001800u, 0, 0, 0); p.appendSetConstbFmt(0x80002000u, 0, 0, 0);
    p.appendInvInstCache(); p.appendInvConstfCache(); p.appendInvConstiCache(); p.appendInvConstbCache();
    p.appendInvCondOutCache(); p.appendInvInpCache(); p.appendFlushOutCache(); p.appendFlushCondOutCache();
    p.appendSetOutMask(5); p.appendSetCondOutMask(1);
    p.appendSetCondTest(AMU_CBUF_FLD_COND_TEST_GREATER); p.appendSetCondLoc(AMU_CBUF_FLD_COND_LOC_PE);
    p.appendSetParams(0x80002800u);
    p.appendSetInpSampler(1, 0, 9, 0, 0, 0, 0); p.appendSetPlanes(0x80003000u, 2);
    const unsigned int floats = AMU_CBUF_FETCH_FORMAT(35, 0, 0, 0), integer = AMU_CBUF_FETCH_FORMAT(13, 1, 0, 0);
    p.appendSetProgram(0, 0x80003800u, 64, 2, 5, 1); p.appendSetProgramImage(1, 0x80004000u, 999, 3);
    p.appendSetStage(AMU_CBUF_FLD_STAGE_COMPUTE); p.appendSetChip(AMU_CBUF_FLD_CHIP_RV730, 16); p.appendSetThreadGroup(256);
    p.appendSetGlobalGprs(8); p.appendSetLoopConsts(0x80004800u); p.appendSetConstBuffer(15, 0x80005000u, 77);
    p.appendSetVtxBuffer(200, 0x80005800u, 4096, 32, integer);
    p.appendSetTexture(18, AMU_CBUF_FLD_SHAPE_3D, 0x80006000u, 64, 32, 16, 3, 80, floats);
    p.appendSetSampler(7, 0, 15, 0, 0, 0, 0, 0);
    p.appendSetMemory(AMU_CBUF_FLD_MEMORY_RING, 0x80006800u, 512, 8); p.appendSetSemantics(0x80007000u, 4);
    p.appendSetExport(AMU_CBUF_FLD_EXPORT_PARAMETER, 31, 0x10002000u, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, 64, 9);
    p.appendSetVertexEvents(0x80007800u, 100); p.appendSetInterpolants(4, 3); p.appendSetIndexOffsets(5, 6); p.appendSelectResources(1);
    for (AMuint32 n = 0; n < p.getCommandBufferSize(); n++) std::printf("%08x\n", words[n]);
    unsigned int few[3];
    AMUcbufPack full(few, 3);
    full.appendStartProgram(); full.appendStartProgram();
    if (full.isValid() || full.getCommandBufferSize() != 0xffffffffu) return 1;
    full.reset();
    full.appendSetOutFmt(0, 0, AMU_CBUF_FLD_FORMAT_UINT16_4, 0, 64, 64);
    if (full.isValid()) return 2;
    return 0;
}
"#;
    let Some(compiler) = compiler::compiler(true) else { return };
    let path = compiler::scratch("pack.cpp");
    std::fs::write(&path, source).unwrap();
    let program = compiler::build(&compiler, "c++98", &path, "pack");
    let words = compiler::said(&mut std::process::Command::new(program)).unwrap();
    let surface = |base, pitch, height, format, tiling| Surface { base: GpuAddr(base), pitch, height, format, tiling };
    let sixteen_words = ctm_isa::r700::Program::from_words(vec![0; 16]);
    let texture = TextureSurface {
        base: GpuAddr(0x8000_6000),
        shape: TextureShape::ThreeD,
        depth: 16,
        levels: 3,
        pitch: 80,
        ..TextureSurface::two_d(64, 32, FetchFormat::default())
    };
    let expected = CommandBuffer::new()
        .init_perf_counters(true)
        .init_perf_counters(false)
        .start_perf_counters()
        .stop_perf_counters()
        .read_perf_counters(GpuAddr(0x8000_0800))
        .set_cond_val(0.5)
        .set_domain(Domain { i0: 1, j0: 2, i1: 63, j1: 31 })
        .start_program()
        .wait_for_idle()
        .set_inst_fmt(GpuAddr(0x8000_0000))
        .set_inp_fmt(3, &surface(0x1000_0000, 128, 100, Format::Float32x2, Tiling::Tiled))
        .set_out_fmt(2, &surface(0x1000_0800, 64, 7, Format::Uint8x4, Tiling::Linear))
        .set_cond_out_fmt(&surface(0x1000_1000, 64, 8, Format::Float32x1, Tiling::Linear))
        .set_constf_fmt(GpuAddr(0x8000_1000))
        .set_consti_fmt(GpuAddr(0x8000_1800))
        .set_constb_fmt(GpuAddr(0x8000_2000))
        .inv_inst_cache()
        .inv_constf_cache()
        .inv_consti_cache()
        .inv_constb_cache()
        .inv_cond_out_cache()
        .inv_inp_cache()
        .flush_out_cache()
        .flush_cond_out_cache()
        .set_out_mask(5)
        .set_cond_out_mask(true)
        .set_cond_test(CondTest::Greater)
        .set_cond_loc(CondLoc::Pe)
        .set_params(GpuAddr(0x8000_2800))
        .set_inp_sampler(1, &Sampler::default(), 9)
        .set_planes(GpuAddr(0x8000_3000), 2)
        .set_program(
            ProgramSlot::Main,
            &ProgramPlace { entry: 2, gprs: 5, stack: 1, ..ProgramPlace::words(GpuAddr(0x8000_3800), &sixteen_words) },
        )
        .set_program(ProgramSlot::Fetch, &ProgramPlace::image(GpuAddr(0x8000_4000), 999, 3))
        .set_stage(Stage::Compute)
        .set_chip(Chip::Rv730, 16)
        .set_thread_group(256)
        .set_global_gprs(8)
        .set_loop_consts(GpuAddr(0x8000_4800))
        .set_const_buffer(15, &ConstantsPlace { base: GpuAddr(0x8000_5000), constants: 77 })
        .set_vtx_buffer(
            200,
            &BufferPlace { base: GpuAddr(0x8000_5800), bytes: 4096, stride_bytes: 32, format: INTEGER },
        )
        .set_texture(18, &texture)
        .set_sampler(7, &r700::Sampler::default())
        .set_memory(MemoryKind::Ring, &MemoryPlace { base: GpuAddr(0x8000_6800), bytes: 512, item: 8 })
        .set_semantics(GpuAddr(0x8000_7000), 4)
        .set_export(Target::Parameter(31), &surface(0x1000_2000, 64, 9, Format::Float32x4, Tiling::Linear))
        .set_vertex_events(GpuAddr(0x8000_7800), 100)
        .set_interpolants(4, 3)
        .set_index_offsets(5, 6)
        .select_resources(ResourceSet::Alternate);
    let expected: String = expected.words().iter().map(|w| format!("{w:08x}\n")).collect();
    assert_eq!(words, expected);
    let methods = source.matches("p.append").count() - 2;
    assert_eq!(methods, CommandKind::ALL.len(), "a method for every command, two of them twice");
}

/// Formats that clients name and the Guide does not number; the device refuses them.
const FORMATS_WITHOUT_NUMBER: [&str; 4] = [
    "AMU_CBUF_FLD_FORMAT_UINT8_1",
    "AMU_CBUF_FLD_FORMAT_UINT8_2",
    "AMU_CBUF_FLD_FORMAT_UINT16_2",
    "AMU_CBUF_FLD_FORMAT_UINT16_4",
];

/// A type or number that is added to a header must find its line above.
#[test]
fn every_structure_and_enumerator_is_compared() {
    let known: Vec<String> = numbers().into_iter().map(|(expression, _)| expression).collect();
    let (mut structures, mut enumerators) = (0, 0);
    let mut missing: Vec<String> = Vec::new();
    for header in BOTH {
        let text = std::fs::read_to_string(compiler::include().join(header)).unwrap();
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("/*") {
            plain.push_str(before);
            rest = after.split_once("*/").unwrap().1;
        }
        plain.push_str(rest);
        for part in plain.split("typedef ").skip(1) {
            let Some((head, rest)) = part.split_once('{') else { continue };
            let (body, rest) = rest.split_once('}').unwrap();
            if body.contains('{') {
                // A union within a structure: its members are compared one by one above.
                continue;
            }
            let name = rest.split(';').next().unwrap().trim();
            if head.starts_with("struct") {
                structures += 1;
                missing.extend((!known.contains(&format!("sizeof({name})"))).then(|| name.to_owned()));
                for member in body.split(';').map(str::trim).filter(|m| !m.is_empty()) {
                    let member = member.split('[').next().unwrap();
                    let member = member.split([' ', '*']).next_back().unwrap();
                    let offset = format!("offsetof({name}, {member})");
                    missing.extend((!known.contains(&offset)).then_some(offset));
                }
            } else if head.starts_with("enum") {
                for enumerator in body.split(',').map(str::trim).filter(|e| !e.is_empty()) {
                    enumerators += 1;
                    let enumerator = enumerator.split([' ', '=']).next().unwrap();
                    if FORMATS_WITHOUT_NUMBER.contains(&enumerator) {
                        continue;
                    }
                    missing.extend((!known.iter().any(|k| k == enumerator)).then(|| enumerator.to_owned()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "not compared: {missing:?}");
    assert!(structures >= 10 && enumerators >= 40, "{structures} structures, {enumerators} enumerators");
}
