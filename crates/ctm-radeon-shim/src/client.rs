//! The program's memory, read and written as a kernel does: a bad pointer is an error, never a crash.

use crate::Errno;

/// The most bytes that one request may copy: far more than any needs.
const MOST: usize = 64 << 20;

/// Bytes at an address of the program.
///
/// # Errors
/// `EFAULT` where they cannot be read, `EINVAL` for more than `MOST`.
pub(crate) fn read(address: u64, bytes: usize) -> Result<Vec<u8>, Errno> {
    if bytes > MOST {
        return Err(libc::EINVAL);
    }
    let mut out = vec![0; bytes];
    copy(address, out.as_mut_ptr(), bytes, false)?;
    Ok(out)
}

/// Little-endian words at an address of the program.
///
/// # Errors
/// As [`read`].
pub(crate) fn words(address: u64, count: usize) -> Result<Vec<u32>, Errno> {
    let bytes = read(address, count.checked_mul(4).ok_or(libc::EINVAL)?)?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Writes bytes to an address of the program.
///
/// # Errors
/// `EFAULT` where they cannot be written.
pub(crate) fn write(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    copy(address, bytes.as_ptr().cast_mut(), bytes.len(), true)
}

/// Copies between our memory and addresses of the program, which the kernel checks.
fn copy(address: u64, ours: *mut u8, bytes: usize, to_program: bool) -> Result<(), Errno> {
    if bytes == 0 {
        return Ok(());
    }
    let address = usize::try_from(address).map_err(|_| libc::EFAULT)?;
    let theirs = std::ptr::with_exposed_provenance_mut::<libc::c_void>(address);
    let local = libc::iovec { iov_base: ours.cast(), iov_len: bytes };
    let remote = libc::iovec { iov_base: theirs, iov_len: bytes };
    let (local, remote) = (&raw const local, &raw const remote);
    // SAFETY: `ours` has that many bytes, readable or writable as the direction needs; the kernel checks the other side.
    let done = unsafe {
        if to_program {
            libc::process_vm_writev(libc::getpid(), local, 1, remote, 1, 0)
        } else {
            libc::process_vm_readv(libc::getpid(), local, 1, remote, 1, 0)
        }
    };
    if usize::try_from(done).is_ok_and(|done| done == bytes) {
        return Ok(());
    }
    // Where a container forbids these calls, pointers are taken as the program says they are.
    let refused = matches!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EPERM | libc::ENOSYS));
    if done < 0 && refused && address != 0 {
        // SAFETY: the program promises, as to any function of the C library, that its pointer is good.
        unsafe {
            if to_program {
                std::ptr::copy(ours, theirs.cast(), bytes);
            } else {
                std::ptr::copy(theirs.cast(), ours, bytes);
            }
        }
        return Ok(());
    }
    Err(libc::EFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_pointers_are_errors() {
        let mut here = [1u8, 0, 0, 0, 2, 0, 0, 0];
        let address = (&raw mut here).expose_provenance() as u64;
        assert_eq!(words(address, 2), Ok(vec![1, 2]));
        write(address, &[7]).unwrap();
        // Written where the compiler does not see it.
        assert_eq!(read(address, 1), Ok(vec![7]));
        for bad in [0, 8, u64::MAX - 3] {
            assert_eq!(read(bad, 4), Err(libc::EFAULT), "{bad}");
            assert_eq!(write(bad, &[1]), Err(libc::EFAULT), "{bad}");
        }
        assert_eq!(words(address, usize::MAX), Err(libc::EINVAL));
    }
}
