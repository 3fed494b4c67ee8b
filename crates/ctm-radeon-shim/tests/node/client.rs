//! A client of the node: opens it, makes requests, submits. It runs in processes into which the library is preloaded.

use std::ffi::CStr;
use std::io;

/// An opened node. It is not closed when it is dropped: processes end.
pub struct Node(pub i32);

impl Node {
    pub fn open() -> Self {
        Self::at(c"/dev/dri/renderD128")
    }

    pub fn card() -> Self {
        Self::at(c"/dev/dri/card0")
    }

    fn at(path: &CStr) -> Self {
        // SAFETY: a C string.
        let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        assert!(fd >= 0, "{path:?}: {}", io::Error::last_os_error());
        Self(fd)
    }

    /// A descriptor of a buffer for other processes.
    pub fn export(&self, handle: u32) -> Result<i32, i32> {
        let mut words = [handle, (libc::O_CLOEXEC | libc::O_RDWR) as u32, 0];
        self.request(0x2d, &mut words)?;
        Ok(words[2] as i32)
    }

    /// A handle for the buffer of a descriptor.
    pub fn import(&self, fd: i32) -> Result<u32, i32> {
        let mut words = [0, 0, fd as u32];
        self.request(0x2e, &mut words)?;
        Ok(words[0])
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
        // SAFETY: the library checks pointers as the kernel does.
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
    // SAFETY: the child runs code as other programs do after a fork.
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

/// The kernel's word for a C string, for requests that read paths.
pub fn read_link(path: &CStr) -> Option<String> {
    let mut to = [0u8; 256];
    // SAFETY: a C string and a place of that size.
    let got = unsafe { libc::readlink(path.as_ptr(), to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(got).ok().map(|got| String::from_utf8_lossy(&to[..got]).into_owned())
}

/// Bytes of a file, mapped from its start.
pub fn map_file(fd: i32, bytes: usize) -> *mut u8 {
    let both = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, both, libc::MAP_SHARED, fd, 0) };
    assert_ne!(at, libc::MAP_FAILED, "{}", io::Error::last_os_error());
    at.cast()
}

/// A message of one byte with a descriptor.
fn message(byte: &mut [u8; 1], with: impl FnOnce(&mut libc::msghdr)) {
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut room = [0u64; 4];
    // SAFETY: all zero is an empty message.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
    // SAFETY: a number of bytes.
    (header.msg_control, header.msg_controllen) = (room.as_mut_ptr().cast(), unsafe { libc::CMSG_SPACE(4) } as usize);
    with(&mut header);
}

/// Sends a descriptor through a socket.
pub fn send_descriptor(socket: i32, fd: i32) {
    message(&mut [0], |header| {
        // SAFETY: there is room for one descriptor.
        unsafe {
            let control = libc::CMSG_FIRSTHDR(header);
            ((*control).cmsg_level, (*control).cmsg_type) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
            (*control).cmsg_len = libc::CMSG_LEN(4) as usize;
            libc::CMSG_DATA(control).cast::<i32>().write_unaligned(fd);
            assert_eq!(libc::sendmsg(socket, header, 0), 1);
        }
    });
}

/// Receives a descriptor.
pub fn receive_descriptor(socket: i32) -> i32 {
    let mut fd = -1;
    message(&mut [0], |header| {
        // SAFETY: there is room for one descriptor.
        unsafe {
            assert_eq!(libc::recvmsg(socket, header, 0), 1);
            fd = libc::CMSG_DATA(libc::CMSG_FIRSTHDR(header)).cast::<i32>().read_unaligned();
        }
    });
    fd
}
