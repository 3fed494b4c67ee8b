//! A client of the node: opens it, makes requests, submits. It runs in processes into which the library is preloaded.

use std::ffi::CStr;
use std::io;

/// An opened node. It is not closed when it is dropped: processes end.
pub struct Node(pub i32);

impl Node {
    pub fn open() -> Self {
        // SAFETY: a C string.
        let fd = unsafe { libc::open(c"/dev/dri/renderD128".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        assert!(fd >= 0, "the node: {}", io::Error::last_os_error());
        Self(fd)
    }

    pub fn close(self) {
        // SAFETY: a descriptor of ours.
        assert_eq!(unsafe { libc::close(self.0) }, 0);
    }

    /// A request with a structure of words; the error number.
    pub fn request(&self, number: u8, words: &mut [u32]) -> Result<(), i32> {
        let code = 0xc000_6400 | (words.len() as u64 * 4) << 16 | u64::from(number);
        self.raw(code, words.as_mut_ptr().cast())
    }

    pub fn raw(&self, code: u64, argument: *mut libc::c_void) -> Result<(), i32> {
        // SAFETY: the library looks at pointers as the kernel does.
        match unsafe { libc::ioctl(self.0, code, argument) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        }
    }

    /// A buffer; its handle.
    pub fn create(&self, bytes: u64) -> u32 {
        let mut words = [bytes as u32, (bytes >> 32) as u32, 4096, 0, 0, 4, 0, 0];
        self.request(0x5d, &mut words).unwrap();
        words[4]
    }

    pub fn gem_close(&self, handle: u32) -> Result<(), i32> {
        self.request(0x09, &mut [handle, 0])
    }

    /// A buffer's bytes, mapped as drivers do.
    pub fn map(&self, handle: u32, bytes: usize) -> *mut u8 {
        let mut words = [handle, 0, 0, 0, bytes as u32, 0, 0, 0];
        self.request(0x5e, &mut words).unwrap();
        let offset = i64::from(words[6]) | i64::from(words[7]) << 32;
        let both = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, both, libc::MAP_SHARED, self.0, offset) };
        assert_ne!(at, libc::MAP_FAILED);
        at.cast()
    }

    /// Submits words with buffers.
    pub fn submit(&self, words: &[u32], handles: &[u32]) -> Result<(), i32> {
        let relocations: Vec<u32> = handles.iter().flat_map(|&handle| [handle, 4, 4, 0]).collect();
        let flags = [1u32, 0];
        let chunk = |kind: u32, data: &[u32]| {
            let at = data.as_ptr() as u64;
            [kind, data.len() as u32, at as u32, (at >> 32) as u32]
        };
        let chunks = [chunk(2, words), chunk(1, &relocations), chunk(3, &flags)];
        let list: Vec<u64> = chunks.iter().map(|chunk| chunk.as_ptr() as u64).collect();
        let at = list.as_ptr() as u64;
        self.request(0x66, &mut [3, 0, at as u32, (at >> 32) as u32, 0, 0, 0, 0])
    }
}

/// A word that does nothing.
pub const FILLER: u32 = 0x8000_0000;

/// Forks; the child runs `work` and ends. The child's number.
pub fn fork(work: impl FnOnce()) -> i32 {
    // SAFETY: the child runs what programs run after a fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
        // SAFETY: ends the child without the parent's business.
        unsafe { libc::_exit(i32::from(!done)) };
    }
    child
}

/// Waits for a child; its status.
pub fn wait(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

/// The kernel's word for a C string, for what reads paths.
pub fn read_link(path: &CStr) -> Option<String> {
    let mut to = [0u8; 256];
    // SAFETY: a C string and a place of that size.
    let got = unsafe { libc::readlink(path.as_ptr(), to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(got).ok().map(|got| String::from_utf8_lossy(&to[..got]).into_owned())
}
