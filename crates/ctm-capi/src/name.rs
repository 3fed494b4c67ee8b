//! Device names: `/dev/pcie0` and up, `ctm:x1k`, `ctm:r700`, and options after them.

use ctm::device::{Caches, DeviceKind, ParamsStride};
use ctm::mc::ByteOrder;
use ctm::memory::ArenaOptions;
use ctm::{DeviceOptions, EngineKind};
use ctm_exec::GroupSize;
use ctm_isa::r700::program::Chip;
use std::time::Duration;

/// The names that can be opened, for messages.
const NAMES: &str =
    "/dev/pcie0 to /dev/pcie255, ctm:x1k and ctm:r700 are devices; options follow, as in ctm:x1k,threads=1";

/// The options, for messages and documentation: name, values.
pub(crate) const OPTIONS: &[(&str, &str)] = &[
    ("gpu", "bytes of local memory, such as 256M"),
    ("gpub", "bytes of the second region of local memory"),
    ("sys", "bytes of uncached system memory"),
    ("sysc", "bytes of cached system memory"),
    ("engine", "interp, jit or verify"),
    ("threads", "worker threads; 0: one per core"),
    ("group", "processors that decide a jump together: a multiple of 4 up to 1024"),
    ("wavefront", "R700 devices: threads of a wavefront, the same as group"),
    ("chip", "R700 devices: rv710, rv730, rv740 or rv770, with its wavefronts"),
    ("instructions", "what a group may issue in one launch; 0: no limit"),
    ("seconds", "wall time of a launch; 0: no limit"),
    ("params", "32 or 36: numbers in a parameter record"),
    ("uint8", "rgba or bgra: channels of UINT8_4 in memory"),
    ("check", "on or off: look for mistakes, and tell the log"),
];

/// The environment variable with options for every device, before those of its name.
const ENVIRONMENT: &str = "CTM_DEVICE_OPTIONS";

/// The settings from a name and the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Opening {
    pub options: DeviceOptions,
    /// `None`: the default.
    pub engine: Option<EngineKind>,
}

/// How the device of this name is to be opened.
pub(crate) fn opening(name: &str) -> Result<Opening, String> {
    let environment = std::env::var(ENVIRONMENT).unwrap_or_default();
    parse(name, &environment)
}

fn parse(name: &str, environment: &str) -> Result<Opening, String> {
    let (device, given) = name.split_once(',').unwrap_or((name, ""));
    let mut opening = Opening::default();
    match device {
        "ctm:x1k" => {}
        "ctm:r700" => opening.options = DeviceOptions::r700(Chip::Rv770),
        _ => {
            let number =
                device.strip_prefix("/dev/pcie").filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            if number.and_then(|n| n.parse::<u8>().ok()).is_none() {
                return Err(format!("there is no device `{device}`; {NAMES}"));
            }
        }
    }
    let mut sizes = None;
    for (text, of) in [(environment, ENVIRONMENT), (given, name)] {
        for option in text.split(',').filter(|o| !o.is_empty()) {
            set(&mut opening, &mut sizes, option).map_err(|e| format!("{of}: {e}"))?;
        }
    }
    if let Some(sizes) = sizes {
        opening.options.arenas = ArenaOptions::with_sizes(sizes).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(opening)
}

fn set(opening: &mut Opening, sizes: &mut Option<[u32; 4]>, option: &str) -> Result<(), String> {
    let options = &mut opening.options;
    let (key, value) = option.split_once('=').unwrap_or((option, "on"));
    let Some((_, takes)) = OPTIONS.iter().find(|(name, _)| *name == key) else {
        let names: Vec<&str> = OPTIONS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no option `{key}`; there are {}", names.join(", ")));
    };
    let wrong = || format!("`{key}` is `{value}`; it takes {takes}");
    let number = || value.parse::<u64>().map_err(|_| wrong());
    let arena = ["gpu", "gpub", "sys", "sysc"].iter().position(|&name| name == key);
    if let Some(arena) = arena {
        let arenas = &options.arenas;
        let sizes = sizes.get_or_insert([arenas.gpu.bytes, arenas.gpu_b.bytes, arenas.sys.bytes, arenas.sys_c.bytes]);
        sizes[arena] = bytes(value).ok_or_else(wrong)?;
        return Ok(());
    }
    match (key, value) {
        ("engine", name) => opening.engine = Some(EngineKind::from_name(name).ok_or_else(wrong)?),
        ("threads", _) => options.threads = usize::try_from(number()?).ok().filter(|&n| n <= 1024).ok_or_else(wrong)?,
        ("wavefront" | "chip", _) if options.kind != DeviceKind::R700 => {
            return Err(format!("`{key}` is an option of R700 devices; ctm:r700 is one"));
        }
        ("chip", name) => {
            let chip = Chip::from_name(&name.to_ascii_lowercase()).ok_or_else(wrong)?;
            (options.chip, options.group) = (chip, DeviceOptions::r700(chip).group);
        }
        ("group" | "wavefront", _) => {
            let group = u16::try_from(number()?).ok().and_then(GroupSize::new);
            options.group = group.ok_or_else(wrong)?;
        }
        ("instructions", _) => options.budget.instructions_per_group = Some(number()?).filter(|&n| n > 0),
        ("seconds", _) => options.budget.time = Some(number()?).filter(|&n| n > 0).map(Duration::from_secs),
        ("params", "32") => options.params_stride = ParamsStride::Floats32,
        ("params", "36") => options.params_stride = ParamsStride::Floats36,
        ("uint8", "rgba") => options.uint8_order = ByteOrder::Rgba,
        ("uint8", "bgra") => options.uint8_order = ByteOrder::Bgra,
        ("check", "on") => (options.checks, options.caches) = (true, Caches::Modelled),
        ("check", "off") => (options.checks, options.caches) = (false, Caches::Coherent),
        _ => return Err(wrong()),
    }
    Ok(())
}

/// A number of bytes below 2^31, rounded up to whole pages: digits, then K, M, G or nothing.
fn bytes(value: &str) -> Option<u32> {
    let (digits, shift) = match value.as_bytes().last()? {
        b'K' | b'k' => (&value[..value.len() - 1], 10),
        b'M' | b'm' => (&value[..value.len() - 1], 20),
        b'G' | b'g' => (&value[..value.len() - 1], 30),
        _ => (value, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|&n| n < 1 << 32)? << shift;
    u32::try_from(number.next_multiple_of(4096)).ok().filter(|&n| n < 1 << 31)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn takes_what_is_documented() {
        assert_eq!(parse("/dev/pcie0", "").unwrap(), Opening::default());
        assert_eq!(parse("/dev/pcie255", "").unwrap(), Opening::default());
        let o = parse(
            "ctm:x1k,gpu=64M,gpub=0,sys=5000,sysc=1M,threads=2,group=64,params=36,uint8=bgra,check",
            "threads=7,seconds=3,engine=verify",
        )
        .unwrap();
        assert_eq!(o.engine, Some(EngineKind::Verify));
        assert_eq!(parse("ctm:x1k,engine=interp", "engine=jit").unwrap().engine, Some(EngineKind::Interp));
        let o = o.options;
        assert_eq!(
            (o.arenas.gpu.bytes, o.arenas.gpu_b.bytes, o.arenas.sys.bytes, o.arenas.sys_c.bytes),
            (64 << 20, 0, 8192, 1 << 20)
        );
        assert!(o.arenas.sys.base < o.arenas.sys_c.base);
        assert_eq!((o.threads, o.group.lanes(), o.checks), (2, 64, true));
        assert_eq!((o.params_stride, o.uint8_order), (ParamsStride::Floats36, ByteOrder::Bgra));
        assert_eq!(o.budget.time, Some(Duration::from_secs(3)));
        let r700 = |name| parse(name, "").unwrap().options;
        assert_eq!(r700("ctm:r700"), DeviceOptions::r700(Chip::Rv770));
        assert_eq!(r700("ctm:r700,chip=rv710"), DeviceOptions::r700(Chip::Rv710));
        let o = r700("ctm:r700,chip=rv730,wavefront=64");
        assert_eq!((o.kind, o.chip, o.group.lanes()), (DeviceKind::R700, Chip::Rv730, 64));
    }

    #[test]
    fn refuses_the_rest_with_what_is_allowed() {
        for (name, message) in [
            ("", "there is no device ``; /dev/pcie0 to"),
            ("/dev/pcie", "there is no device"),
            ("/dev/pcie256", "there is no device"),
            ("/dev/pcie+1", "there is no device"),
            ("ctm:r600", "there is no device `ctm:r600`; /dev/pcie0 to /dev/pcie255, ctm:x1k and ctm:r700"),
            ("ctm:r700,chip=r600", "`chip` is `r600`; it takes R700 devices: rv710"),
            ("ctm:x1k,wavefront=16", "`wavefront` is an option of R700 devices"),
            ("ctm:x1k,fast", "there is no option `fast`; there are gpu,"),
            ("ctm:x1k,sys=2G", "`sys` is `2G`; it takes bytes"),
            ("ctm:x1k,group=6", "`group` is `6`"),
            ("ctm:x1k,engine=fast", "`engine` is `fast`; it takes interp, jit or verify"),
            ("ctm:x1k,threads", "`threads` is `on`"),
        ] {
            let error = parse(name, "").unwrap_err();
            assert!(error.contains(message), "{name}: {error}");
        }
    }
}
