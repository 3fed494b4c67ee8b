//! The files that programs look for below `/dev/dri` and `/sys`. They exist nowhere: their contents are made here when a program opens them.

use ctm_radeon::environment::Chip;

/// Major and minor number of the render node.
pub(crate) const NODE: (u32, u32) = (226, 128);
/// Major and minor number of the card node.
pub(crate) const CARD: (u32, u32) = (226, 0);
/// Everything below these is ours, whether it exists or not: a real card of the host must not be seen.
const ROOTS: [&str; 4] = ["/dev/dri", "/sys/dev/char/226:128", "/sys/dev/char/226:0", "/sys/class/drm"];
/// Directories of the kernel that describe a node, each with the node's name and numbers.
const MINORS: [(&str, &str, &str); 4] = [
    ("/sys/dev/char/226:128", "renderD128", "226:128"),
    ("/sys/dev/char/226:0", "card0", "226:0"),
    ("/sys/class/drm/renderD128", "renderD128", "226:128"),
    ("/sys/class/drm/card0", "card0", "226:0"),
];

/// The entry at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The render node.
    Node,
    /// The card node.
    Card,
    /// A directory with these names.
    Directory(&'static [&'static str]),
    /// A file with this text.
    File(String),
    /// A symbolic link.
    Link(&'static str),
    /// Nothing.
    Missing,
}

/// The entry at an absolute path; `None` for paths that are not ours.
pub(crate) fn find(path: &str, chip: Chip) -> Option<Entry> {
    let path = plain(path);
    if !ROOTS.iter().any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))) {
        return None;
    }
    Some(match path.as_str() {
        "/dev/dri" => Entry::Directory(&["card0", "renderD128"]),
        "/dev/dri/renderD128" => Entry::Node,
        "/dev/dri/card0" => Entry::Card,
        "/sys/class/drm" => Entry::Directory(&["card0", "card0-Virtual-1", "renderD128", "version"]),
        "/sys/class/drm/version" => Entry::File("drm 1.1.0 20060810\n".to_owned()),
        path => match path.strip_prefix("/sys/class/drm/card0-Virtual-1") {
            Some(rest) => of_connector(rest),
            None => MINORS
                .iter()
                .find_map(|row| {
                    Some((path.strip_prefix(row.0).filter(|rest| rest.is_empty() || rest.starts_with('/'))?, row))
                })
                .map_or(Entry::Missing, |(rest, (_, name, numbers))| of_minor(rest, name, numbers, chip)),
        },
    })
}

/// The entries of a node's directory.
fn of_minor(rest: &str, name: &str, numbers: &str, chip: Chip) -> Entry {
    let text = match rest {
        "" => return Entry::Directory(&["dev", "device", "uevent"]),
        "/dev" => format!("{numbers}\n"),
        "/uevent" => {
            let (major, minor) = numbers.split_once(':').unwrap_or((numbers, ""));
            format!("MAJOR={major}\nMINOR={minor}\nDEVNAME=dri/{name}\nDEVTYPE=drm_minor\n")
        }
        _ => {
            return match rest.strip_prefix("/device") {
                Some(rest) => of_device(rest, chip),
                None => Entry::Missing,
            };
        }
    };
    Entry::File(text)
}

/// The entries of the connector's directory.
fn of_connector(rest: &str) -> Entry {
    let text = match rest {
        "" => return Entry::Directory(&["status", "enabled", "modes", "dpms"]),
        "/status" => "connected\n",
        "/enabled" => "enabled\n",
        "/modes" => "1024x768\n",
        "/dpms" => "On\n",
        _ => return Entry::Missing,
    };
    Entry::File(text.to_owned())
}

/// The entry below the device's directory.
fn of_device(rest: &str, chip: Chip) -> Entry {
    let device = chip.device();
    let text = match rest {
        "" => {
            return Entry::Directory(&[
                "drm",
                "vendor",
                "device",
                "subsystem_vendor",
                "subsystem_device",
                "revision",
                "config",
                "uevent",
                "subsystem",
            ]);
        }
        "/drm" => return Entry::Directory(&["card0", "renderD128"]),
        "/drm/card0" | "/drm/renderD128" => return Entry::Directory(&[]),
        "/subsystem" => return Entry::Link("../../../../bus/pci"),
        "/vendor" | "/subsystem_vendor" => "0x1002\n".to_owned(),
        "/device" => format!("0x{device:04x}\n"),
        "/subsystem_device" => "0x0001\n".to_owned(),
        "/revision" => "0x00\n".to_owned(),
        // Readers of the configuration space use the files beside it where it is empty.
        "/config" => String::new(),
        "/uevent" => format!(
            "DRIVER=radeon\nPCI_CLASS=30000\nPCI_ID=1002:{device:04X}\nPCI_SUBSYS_ID=1002:0001\nPCI_SLOT_NAME=0000:01:00.0\n"
        ),
        _ => return Entry::Missing,
    };
    Entry::File(text)
}

/// The path without doubled and trailing slashes and without `.`; names of the tree have no `..`.
fn plain(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
        out.push('/');
        out.push_str(name);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_however_they_are_written() {
        for path in ["/dev/dri/renderD128", "/dev//dri/./renderD128", "/dev/dri/renderD128/"] {
            assert_eq!(find(path, Chip::Rv770), Some(Entry::Node), "{path}");
        }
        assert_eq!(find("/dev/dri/card0", Chip::Rv770), Some(Entry::Card));
        assert_eq!(find("/dev/dri/card1", Chip::Rv770), Some(Entry::Missing));
        assert_eq!(find("/sys/class/drm/card0/dev", Chip::Rv770), Some(Entry::File("226:0\n".to_owned())));
        for path in ["/dev/driver", "/dev", "/sys/dev/char/226:129/device", "", "dev/dri2"] {
            assert_eq!(find(path, Chip::Rv770), None, "{path}");
        }
    }

    #[test]
    fn every_name_of_a_directory_is_there() {
        let mut left = super::ROOTS.map(str::to_owned).to_vec();
        while let Some(path) = left.pop() {
            match find(&path, Chip::Rv770) {
                Some(Entry::Directory(names)) => left.extend(names.iter().map(|name| format!("{path}/{name}"))),
                Some(Entry::Missing) | None => panic!("{path} is missing"),
                Some(_) => {}
            }
        }
        assert_eq!(find("/sys/dev/char/226:128/device/device", Chip::R580), Some(Entry::File("0x7249\n".to_owned())));
    }
}
