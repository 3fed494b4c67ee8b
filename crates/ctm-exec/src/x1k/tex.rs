//! Texture instructions (CTM §3.4) on one block: NOP, lookups, KILL.

use super::alu::{WriteMasks, register};
use super::lanes::{BLOCK, Block, LaneMask, store};
use super::sample::{self, Sampled};
use super::unit::LaneFault;
use super::{Input, Memory, ops, unit};
use crate::fault::MemoryFault;
use crate::transcendental;
use ctm_isa::x1k::TEMPORARIES;
use ctm_isa::x1k::inst::TexInstruction;
use ctm_isa::x1k::ops::{Channel, TexOp, TexReads};

/// The lanes for which a texture instruction does its work: the executing ones, without uncovered ones under IGNORE_UNCOVERED.
#[must_use]
pub fn working_lanes(tex: &TexInstruction, block: &Block, masks: &WriteMasks) -> LaneMask {
    if tex.inst.ignore_uncovered { masks.executing.and(block.covered) } else { masks.executing }
}

/// The channels that the write masks allow.
fn written_channels(tex: &TexInstruction) -> [bool; 4] {
    let rgb = tex.cmn.rgb_wmask;
    [rgb & 1 != 0, rgb & 2 != 0, rgb & 4 != 0, tex.cmn.alpha_wmask]
}

/// KILL_LT_0: uncovers the lanes of which an examined channel is less than zero (CTM §3.4.1). The source swizzles are ignored; the
/// write masks and predicates say which channels are examined.
pub fn kill(tex: &TexInstruction, block: &mut Block, loop_variable: i32, masks: &WriteMasks) {
    let Ok(source) = register(tex.addr.src_addr, tex.addr.src_addr_rel, loop_variable, TEMPORARIES) else { return };
    let examined = written_channels(tex);
    let killed = LaneMask::of(|lane| {
        (0..4).any(|c| examined[c] && masks.predicated[c].contains(lane) && ops::kills(block.temps[source][c][lane]))
    });
    block.covered = block.covered.without(killed);
}

/// Looks up one lane of every working lane, then writes the results: [`TexOp::is_lookup`].
///
/// An uncovered lane cannot fault: refused reads give 0. Gives the first covered lane whose coordinates lay outside an
/// input that clamps.
///
/// # Errors
/// The first covered lane that memory refused.
pub fn lookup(
    tex: &TexInstruction,
    block: &mut Block,
    loop_variable: i32,
    masks: &WriteMasks,
    memory: &dyn Memory,
    input: Option<&Input>,
) -> Result<Option<usize>, LaneFault> {
    let working = working_lanes(tex, block, masks);
    let mut outside = None;
    let mut texels = [[0; BLOCK]; 4];
    for lane in working.iter() {
        let Some(input) = input else { break };
        memory.begin_lane(block.positions[lane], 0);
        match lookup_lane(tex, block, loop_variable, lane, memory, input) {
            Ok(sampled) => {
                (0..4).for_each(|c| texels[c][lane] = sampled.texel[c]);
                if sampled.outside && block.covered.contains(lane) && outside.is_none() {
                    outside = Some(lane);
                }
            }
            Err(fault) if block.covered.contains(lane) => return Err(LaneFault { lane, fault }),
            Err(_) => {}
        }
    }
    store_texels(tex, block, loop_variable, masks, &texels);
    Ok(outside)
}

/// Looks up in a draw's textures in every working lane, then writes the results. `cubes`: units with cubes.
///
/// # Errors
/// The first covered lane that memory refused.
pub fn lookup_textures(
    tex: &TexInstruction,
    block: &mut Block,
    loop_variable: i32,
    masks: &WriteMasks,
    (memory, cubes): (&dyn crate::r700::Memory, u16),
) -> Result<(), LaneFault> {
    let working = working_lanes(tex, block, masks);
    let texels = unit::lookup(tex, block, loop_variable, working, (memory, cubes))?;
    store_texels(tex, block, loop_variable, masks, &texels);
    Ok(())
}

/// Writes the results of a lookup to the destination in the working lanes.
fn store_texels(
    tex: &TexInstruction,
    block: &mut Block,
    loop_variable: i32,
    masks: &WriteMasks,
    texels: &[[u32; BLOCK]; 4],
) {
    let working = working_lanes(tex, block, masks);
    let addr = &tex.addr;
    let swizzle = [addr.dst_r_swiz, addr.dst_g_swiz, addr.dst_b_swiz, addr.dst_a_swiz];
    let written = written_channels(tex);
    if let Ok(destination) = register(addr.dst_addr, addr.dst_addr_rel, loop_variable, TEMPORARIES) {
        for channel in (0..4).filter(|&c| written[c]) {
            let mask = masks.predicated[channel].and(working);
            store(&mut block.temps[destination][channel], &texels[index(swizzle[channel])], mask);
            let known = &mut block.written_temps[destination][channel];
            *known = known.or(mask);
        }
    }
}

/// The channels of the source that a lookup reads: S and T, and Q for a projected one.
#[must_use]
pub fn coordinate_channels(tex: &TexInstruction) -> Vec<usize> {
    let mut channels = vec![index(tex.addr.src_s_swiz), index(tex.addr.src_t_swiz)];
    if tex.inst.op == TexOp::LookupProj {
        channels.push(index(tex.addr.src_q_swiz));
    }
    channels
}

/// The channels of the source that an instruction examines or reads.
#[must_use]
pub fn source_channels(tex: &TexInstruction) -> Vec<usize> {
    match tex.inst.op.info() {
        TexReads::Nothing => Vec::new(),
        TexReads::Masked => {
            let examined = written_channels(tex);
            (0..4).filter(|&c| examined[c]).collect()
        }
        TexReads::St | TexReads::Stq | TexReads::StGradients => coordinate_channels(tex),
    }
}

/// Whether the instruction may write its destination.
#[must_use]
pub fn writes_destination(tex: &TexInstruction) -> bool {
    tex.inst.op.is_lookup() && written_channels(tex).contains(&true)
}

fn lookup_lane(
    tex: &TexInstruction,
    block: &Block,
    loop_variable: i32,
    lane: usize,
    memory: &dyn Memory,
    input: &Input,
) -> Result<Sampled, MemoryFault> {
    let addr = &tex.addr;
    let source = register(addr.src_addr, addr.src_addr_rel, loop_variable, TEMPORARIES);
    let channel = |c: Channel| source.map_or(0, |temp| block.temps[temp][index(c)][lane]);
    let (s, t) = (channel(addr.src_s_swiz), channel(addr.src_t_swiz));
    let (s, t) = match tex.inst.op {
        TexOp::LookupProj => {
            let reciprocal_q = transcendental::rcp(channel(addr.src_q_swiz));
            (sample::project(s, reciprocal_q), sample::project(t, reciprocal_q))
        }
        // Inputs have one level, so bias, level and gradients change nothing.
        TexOp::Lookup | TexOp::LodBias | TexOp::Lod | TexOp::Dxdy | TexOp::LookupUncached => (s, t),
        TexOp::Nop | TexOp::KillLt0 => return Ok(Sampled { texel: [0; 4], outside: false }),
    };
    let uncached = tex.inst.op == TexOp::LookupUncached;
    sample::lookup(memory, tex.inst.tex_id, input, (s, t), tex.inst.unscaled, uncached)
}

const fn index(channel: Channel) -> usize {
    channel as usize
}
