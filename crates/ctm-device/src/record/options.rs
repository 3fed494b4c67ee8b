//! How a device was opened, as JSON: `{"engine": "jit", "arenas": {"GPU": [base, bytes], ...}, "group": 16, ...}`.

use crate::device::{Caches, DeviceKind, DeviceOptions, ParamsStride};
use crate::engine::EngineKind;
use crate::mc::ByteOrder;
use crate::memory::{ArenaId, ArenaOptions, ArenaRange, GpuAddr};
use ctm_exec::{Budget, GroupSize};
use ctm_isa::r700::program::Chip;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The options and the engine's name.
pub(super) fn to_json(options: &DeviceOptions, engine: &str) -> Value {
    // Every member by name: a new one must find its key here.
    // Counters of reports are not recorded.
    let DeviceOptions {
        kind,
        chip,
        arenas,
        group,
        budget,
        threads,
        checks,
        counters: _,
        caches,
        params_stride,
        uint8_order,
    } = *options;
    let Budget { instructions_per_group, time } = budget;
    let ranges: Map<String, Value> = ArenaId::ALL
        .into_iter()
        .map(|id| (id.name().to_owned(), json!([arenas.range(id).base.0, arenas.range(id).bytes])))
        .collect();
    json!({
        "engine": engine,
        "kind": kind.name(),
        "chip": chip.name(),
        "arenas": ranges,
        "group": group.lanes(),
        "instructions": instructions_per_group,
        "seconds": time.map(|time| time.as_secs_f64()),
        "threads": threads,
        "checks": checks,
        "caches": match caches { Caches::Coherent => "coherent", Caches::Modelled => "modelled" },
        "params": params_stride.floats(),
        "uint8": match uint8_order { ByteOrder::Rgba => "rgba", ByteOrder::Bgra => "bgra" },
    })
}

/// The options and the engine, if it is one of ours; or their error.
pub(super) fn from_json(about: &Value) -> Result<(DeviceOptions, Option<EngineKind>), String> {
    let wrong = |key: &'static str| move || format!("`{key}` of a device is not what it must be");
    let number = |key: &'static str| about[key].as_u64().ok_or_else(wrong(key));
    let text = |key: &'static str| about[key].as_str().ok_or_else(wrong(key));
    let truth = |key: &'static str| about[key].as_bool().ok_or_else(wrong(key));
    let range = |id: ArenaId| {
        let range = &about["arenas"][id.name()];
        let part = |n: usize| range[n].as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(wrong("arenas"));
        Ok::<_, String>(ArenaRange { base: GpuAddr(part(0)?), bytes: part(1)? })
    };
    let arenas = ArenaOptions {
        gpu: range(ArenaId::Gpu)?,
        gpu_b: range(ArenaId::GpuB)?,
        sys: range(ArenaId::Sys)?,
        sys_c: range(ArenaId::SysC)?,
    };
    let instructions_per_group = match &about["instructions"] {
        Value::Null => None,
        n => Some(n.as_u64().ok_or_else(wrong("instructions"))?),
    };
    let time = match &about["seconds"] {
        Value::Null => None,
        n => Some(n.as_f64().and_then(|n| Duration::try_from_secs_f64(n).ok()).ok_or_else(wrong("seconds"))?),
    };
    let chip = text("chip")?;
    let options = DeviceOptions {
        kind: match text("kind")? {
            "X1K" => DeviceKind::X1k,
            "R700" => DeviceKind::R700,
            _ => return Err(wrong("kind")()),
        },
        chip: Chip::from_name(chip).ok_or_else(wrong("chip"))?,
        arenas,
        group: u16::try_from(number("group")?).ok().and_then(GroupSize::new).ok_or_else(wrong("group"))?,
        budget: Budget { instructions_per_group, time },
        threads: usize::try_from(number("threads")?).ok().filter(|&n| n <= 1024).ok_or_else(wrong("threads"))?,
        checks: truth("checks")?,
        counters: false,
        caches: match text("caches")? {
            "coherent" => Caches::Coherent,
            "modelled" => Caches::Modelled,
            _ => return Err(wrong("caches")()),
        },
        params_stride: match number("params")? {
            32 => ParamsStride::Floats32,
            36 => ParamsStride::Floats36,
            _ => return Err(wrong("params")()),
        },
        uint8_order: match text("uint8")? {
            "rgba" => ByteOrder::Rgba,
            "bgra" => ByteOrder::Bgra,
            _ => return Err(wrong("uint8")()),
        },
    };
    Ok((options, EngineKind::from_name(text("engine")?)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn options_come_back() {
        let mut options = DeviceOptions::checked();
        options.arenas = ArenaOptions::with_sizes([4096, 0, 8192, 2048]).unwrap();
        options.group = GroupSize::new(64).unwrap();
        options.budget = Budget { instructions_per_group: None, time: Some(Duration::from_millis(2500)) };
        (options.threads, options.params_stride, options.uint8_order) = (3, ParamsStride::Floats36, ByteOrder::Bgra);
        for options in [options, DeviceOptions::default(), DeviceOptions::r700(Chip::Rv710)] {
            let json = to_json(&options, "verify");
            assert_eq!(from_json(&json), Ok((options, Some(EngineKind::Verify))));
            for key in json.as_object().unwrap().keys().filter(|k| !["instructions", "seconds"].contains(&k.as_str())) {
                let mut without = json.clone();
                without.as_object_mut().unwrap().remove(key);
                let error = from_json(&without).unwrap_err();
                assert!(error.contains(key), "{error}");
            }
        }
    }
}
