//! How many bytes of this process's memory can be read from an address on.

use std::fs::File;
use std::io::{BufRead, BufReader};

/// Readable bytes from `address` on without a gap, at most `limit`; `limit` where the system has no list of mappings.
///
/// Linux lists the mappings of a process in `/proc/self/maps`: one a line, ascending, `start-end rwxp ...` in hexadecimal.
pub(crate) fn readable_bytes(address: usize, limit: u64) -> u64 {
    let Ok(maps) = File::open("/proc/self/maps") else { return limit };
    let start = address as u64;
    let mut end = start;
    for line in BufReader::new(maps).lines() {
        let Ok(line) = line else { return limit };
        let Some((from, to, permissions)) = mapping(&line) else { return limit };
        if from > end {
            break;
        }
        if to > end {
            if !permissions.starts_with('r') {
                break;
            }
            end = to;
        }
        if end - start >= limit {
            return limit;
        }
    }
    end - start
}

fn mapping(line: &str) -> Option<(u64, u64, &str)> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?, words.next()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_can_be_read_and_what_is_not_cannot() {
        let bytes = vec![1u8; 100_000];
        assert_eq!(readable_bytes(bytes.as_ptr() as usize, 100_000), 100_000);
        assert_eq!(readable_bytes(0, 100), 0);
        assert_eq!(mapping("7f00-7f10 r-xp 00000000 08:01 5  /lib/x"), Some((0x7f00, 0x7f10, "r-xp")));
        assert_eq!(mapping("nothing"), None);
    }
}
