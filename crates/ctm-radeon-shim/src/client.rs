//! The program's memory, read and written as a kernel does: a bad pointer is an error, never a crash.

use crate::Errno;
use crate::process_id::process_id;
use std::cell::Cell;

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
    copy(&[(address, out.as_mut_ptr(), bytes)], false)?;
    Ok(out)
}

/// Little-endian words at an address of the program.
///
/// # Errors
/// As [`read`].
pub(crate) fn words(address: u64, count: usize) -> Result<Vec<u32>, Errno> {
    words_at(&[(address, count)]).map(|mut words| words.pop().unwrap_or_default())
}

/// Little-endian words at several addresses of the program, with their counts. The kernel is asked once for all.
///
/// # Errors
/// As [`read`].
pub(crate) fn words_at(places: &[(u64, usize)]) -> Result<Vec<Vec<u32>>, Errno> {
    let (mut out, mut parts) = (Vec::with_capacity(places.len()), Vec::with_capacity(places.len()));
    for &(address, count) in places {
        let bytes = count.checked_mul(4).filter(|&bytes| bytes <= MOST).ok_or(libc::EINVAL)?;
        let mut words = vec![0u32; count];
        parts.push((address, words.as_mut_ptr().cast(), bytes));
        out.push(words);
    }
    copy(&parts, false)?;
    out.iter_mut().flatten().for_each(|word| *word = u32::from_le(*word));
    Ok(out)
}

/// Writes bytes to an address of the program.
///
/// # Errors
/// `EFAULT` where they cannot be written.
pub(crate) fn write(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    copy(&[(address, bytes.as_ptr().cast_mut(), bytes.len())], true)
}

/// Whether bytes lie in the frames of this thread's callers: drivers keep the arguments of requests there.
fn are_of_callers(address: u64, bytes: usize) -> bool {
    thread_local! {
        /// The first byte of this thread's stack and the one after the last; the same where they are not known.
        static STACK: Cell<Option<[usize; 2]>> = const { Cell::new(None) };
    }
    let own_frame = 0u8;
    let here = (&raw const own_frame).addr();
    let stack = STACK.try_with(|stack| {
        stack.get().unwrap_or_else(|| {
            let found = own_stack().unwrap_or_default();
            stack.set(Some(found));
            found
        })
    });
    let Ok([low, end]) = stack else { return false };
    // Programs may have stacks of their own.
    let is_on_it = low <= here && here < end;
    let behind = usize::try_from(address).ok().and_then(|first| Some((first, first.checked_add(bytes)?)));
    is_on_it && behind.is_some_and(|(first, behind)| here < first && behind <= end)
}

/// The first byte of this thread's stack, and the one after the last.
fn own_stack() -> Option<[usize; 2]> {
    // SAFETY: all zero is an attribute; it is filled in below.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the attributes are writable, and are destroyed after their use.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) } != 0 {
        return None;
    }
    let (mut first, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: they were filled in; both results are writable.
    let result = unsafe {
        let result = libc::pthread_attr_getstack(&raw const attributes, &raw mut first, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
        result
    };
    (result == 0).then(|| [first.addr(), first.addr() + bytes])
}

/// Copies between addresses of the program, which the kernel checks, and our memory of as many bytes.
fn copy(parts: &[(u64, *mut u8, usize)], to_program: bool) -> Result<(), Errno> {
    if let &[(address, ours, bytes)] = parts
        && are_of_callers(address, bytes)
    {
        let theirs = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        let (from, to) = if to_program { (ours, theirs) } else { (theirs, ours) };
        // SAFETY: both sides have that many bytes; those of the program lie in frames of callers, which wait for us.
        unsafe { std::ptr::copy(from, to, bytes) };
        return Ok(());
    }
    let (mut local, mut remote, mut all) = (Vec::with_capacity(parts.len()), Vec::with_capacity(parts.len()), 0);
    for &(address, ours, bytes) in parts.iter().filter(|(.., bytes)| *bytes > 0) {
        let address = usize::try_from(address).map_err(|_| libc::EFAULT)?;
        let theirs = std::ptr::with_exposed_provenance_mut::<libc::c_void>(address);
        local.push(libc::iovec { iov_base: ours.cast(), iov_len: bytes });
        remote.push(libc::iovec { iov_base: theirs, iov_len: bytes });
        all += bytes;
    }
    if all == 0 {
        return Ok(());
    }
    let (ours, theirs, count) = (local.as_ptr(), remote.as_ptr(), local.len() as libc::c_ulong);
    // SAFETY: each part of `local` has that many bytes, readable or writable as the direction needs; the kernel checks the other side.
    let done = unsafe {
        if to_program {
            libc::process_vm_writev(process_id().cast_signed(), ours, count, theirs, count, 0)
        } else {
            libc::process_vm_readv(process_id().cast_signed(), ours, count, theirs, count, 0)
        }
    };
    if usize::try_from(done).is_ok_and(|done| done == all) {
        return Ok(());
    }
    // Where a container forbids these calls, pointers are taken as the program says they are.
    let refused = matches!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EPERM | libc::ENOSYS));
    if done < 0 && refused && remote.iter().all(|part| !part.iov_base.is_null()) {
        for (ours, theirs) in local.iter().zip(&remote) {
            let (from, to) = if to_program { (ours, theirs) } else { (theirs, ours) };
            // SAFETY: the program promises, as to any function of the C library, that its pointer is good.
            unsafe { std::ptr::copy(from.iov_base.cast::<u8>(), to.iov_base.cast(), ours.iov_len) };
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
        assert_eq!(words_at(&[(address + 4, 1), (0, 0), (address, 1)]), Ok(vec![vec![2], vec![], vec![1]]));
        assert_eq!(words_at(&[(address, 1), (8, 1)]), Err(libc::EFAULT));
        write(address, &[7]).unwrap();
        // Written where the compiler does not see it.
        assert_eq!(read(address, 1), Ok(vec![7]));
        // The kernel copies memory that is on no stack.
        let mut elsewhere = vec![3u8, 4];
        let place = elsewhere.as_mut_ptr().expose_provenance() as u64;
        write(place + 1, &[5]).unwrap();
        assert_eq!(read(place, 2), Ok(vec![3, 5]));
        for bad in [0, 8, u64::MAX - 3] {
            assert_eq!(read(bad, 4), Err(libc::EFAULT), "{bad}");
            assert_eq!(write(bad, &[1]), Err(libc::EFAULT), "{bad}");
        }
        assert_eq!(words(address, usize::MAX), Err(libc::EINVAL));
    }
}
