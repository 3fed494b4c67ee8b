//! The parts that processes of these tests play, each with the library preloaded.

use super::{directory, submit_numbers};
use crate::client::{FILLER, Node, fork, map_file, read_link, receive_descriptor, send_descriptor, wait};
use std::fs::{self, File};
use std::time::Duration;

pub fn look() {
    let names = |path: &str| {
        let mut names: Vec<_> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names("/dev/dri"), ["card0", "renderD128"]);
    // As `ls` sees them.
    for (path, minor) in [("/dev/dri/card0", 0), ("/dev/dri/renderD128", 128)] {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(path).unwrap();
        assert_eq!((found.mode() & libc::S_IFMT, found.rdev()), (libc::S_IFCHR, libc::makedev(226, minor)), "{path}");
    }
    assert!(names("/sys/class/drm").contains(&"card0-Virtual-1".to_owned()));
    assert_eq!(fs::read_to_string("/sys/class/drm/card0/device/vendor").unwrap(), "0x1002\n");
    assert!(names("/sys/dev/char/226:128/device").contains(&"uevent".to_owned()));
    assert_eq!(fs::read_to_string("/sys/dev/char/226:128/device/device").unwrap(), "0x9440\n");
    assert_eq!(read_link(c"/sys/dev/char/226:128/device/subsystem").unwrap(), "../../../../bus/pci");
    assert!(File::create("/dev/dri/renderD129").is_err());
    assert!(fs::read("/sys/dev/char/226:128/device/drm/card1").is_err());

    let node = Node::open();
    // SAFETY: all zero is a status, and it is writable.
    let status = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        assert_eq!(libc::fstat(node.0, &raw mut status), 0);
        status
    };
    assert_eq!((status.st_mode & libc::S_IFMT, libc::minor(status.st_rdev)), (libc::S_IFCHR, 128));

    // Version: first the lengths, then the texts.
    let mut words = [0u32; 16];
    node.request(0x00, &mut words).unwrap();
    assert_eq!((words[0], words[1], words[4], words[8], words[12]), (2, 50, 6, 8, 10));
    let mut name = [0u8; 8];
    let at = (&raw mut name) as u64;
    words = [0; 16];
    (words[4], words[6], words[7]) = (4, at as u32, (at >> 32) as u32);
    node.request(0x00, &mut words).unwrap();
    // SAFETY: a place of ours, which the library has written.
    assert_eq!(unsafe { (&raw const name).read_volatile() }, *b"rade\0\0\0\0");

    let info = |request: u32, value: u32| {
        let mut place = [value, 0];
        let at = (&raw mut place) as u64;
        node.request(0x67, &mut [request, 0, at as u32, (at >> 32) as u32])?;
        // SAFETY: as before.
        Ok::<u32, i32>(unsafe { (&raw const place[0]).read_volatile() })
    };
    assert_eq!(info(0x00, 0), Ok(0x9440));
    assert_eq!(info(0x0a, 0), Ok(1));
    assert_eq!((info(0x15, 0), info(0x15, 4)), (Ok(1), Ok(0)));
    assert_eq!((info(0x0e, 0), info(0x99, 0)), (Err(libc::EINVAL), Err(libc::EINVAL)));
    let before = info(0x11, 0).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    assert_ne!(info(0x11, 0).unwrap(), before, "time stands still");

    // Buffers: handles, tiling, domains.
    let handle = node.create(5000);
    assert_eq!(handle, 1);
    node.request(0x68, &mut [handle, 3, 256]).unwrap();
    let mut tiling = [handle, 0, 0];
    node.request(0x69, &mut tiling).unwrap();
    assert_eq!(tiling, [handle, 3, 256]);
    let mut busy = [handle, 0];
    assert_eq!(node.request(0x6a, &mut busy), Ok(()));
    assert_eq!(busy[1], 4);
    let bytes = node.map(handle, 8192);
    // SAFETY: mapped above.
    unsafe { bytes.add(8191).write_volatile(1) };
    // A buffer that is closed is empty, and its handle goes to the next.
    node.gem_close(handle).unwrap();
    // SAFETY: a mapping outlives its buffer.
    assert_eq!(unsafe { bytes.add(8191).read_volatile() }, 0);
    assert_eq!(node.gem_close(handle), Err(libc::EINVAL));
    assert_eq!(node.create(1), handle);
    // Another opened node has handles of its own.
    assert_eq!(Node::open().create(1), 1);
    // Other descriptors are the kernel's.
    assert!(Node(0).request(0x00, &mut [0; 16]).is_err());
}

pub fn malformed() {
    let node = Node::open();
    let good = node.create(4096);
    // Handles and sizes that cannot be.
    for handle in [0, good + 1, 65_536, 65_537, u32::MAX] {
        assert_eq!(node.gem_close(handle), Err(libc::EINVAL), "{handle}");
        for number in [0x5e, 0x64, 0x68, 0x69, 0x6a, 0x6c] {
            assert_eq!(node.request(number, &mut [handle, 0, 0, 0, 0, 0, 0, 0]), Err(libc::ENOENT), "{number:#x}");
        }
        assert_eq!(node.submit(&[FILLER], &[good, handle]), Err(libc::ENOENT));
    }
    assert_eq!(node.request(0x5d, &mut [0; 8]), Err(libc::EINVAL));
    assert_eq!(node.request(0x5d, &mut [u32::MAX; 8]), Err(libc::EINVAL));
    assert_eq!(node.request(0x5d, &mut [0, 1, 0, 0, 0, 0, 0, 0]), Err(libc::ENOMEM));
    assert_eq!(node.export(good + 1), Err(libc::ENOENT));
    assert_eq!((node.import(-1), node.import(0)), (Err(libc::EBADF), Err(libc::EINVAL)));
    // A render node has neither names nor a display.
    assert_eq!(node.request(0x0a, &mut [good, 0]), Err(libc::EACCES));
    assert_eq!(node.request(0xa0, &mut [0; 16]), Err(libc::EACCES));
    assert_eq!(node.request(0x6b, &mut [good, 0, 0, 0, 0, 0]), Err(libc::ENOTTY));
    // Pointers that lead nowhere, in every request, of every size.
    for number in 0..=255u8 {
        for bytes in [0u64, 4, 8, 12, 16, 24, 32, 64, 0x3fff] {
            for pointer in [0usize, 8, 4095, usize::MAX - 7] {
                let code = 0xc000_6400 | bytes << 16 | u64::from(number);
                let answer = node.raw(code, std::ptr::with_exposed_provenance_mut(pointer));
                assert!(answer.is_err() || bytes == 0, "{number:#x}, {bytes} bytes at {pointer:#x}");
            }
        }
    }
    // Random structures: pointers in them are mostly bad.
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for _ in 0..50_000 {
        let number = random() as u8;
        let mut words: Vec<u32> = (0..1 + random() % 16).map(|_| random() >> (random() % 32)).collect();
        let _ = node.request(number, &mut words);
    }
    // Submissions: chunks that cannot be.
    let node = Node::open();
    let cs = |count: u32, list: u64| node.request(0x66, &mut [count, 0, list as u32, (list >> 32) as u32, 0, 0, 0, 0]);
    assert_eq!(cs(0, 0), Ok(()));
    assert_eq!(cs(1, 8), Err(libc::EFAULT));
    assert_eq!(cs(u32::MAX, 8), Err(libc::EINVAL));
    let words = [FILLER; 4];
    let at = words.as_ptr() as u64;
    type Case<'a> = (&'a [[u32; 4]], Result<(), i32>);
    let cases: [Case<'_>; 9] = [
        (&[[2, 4, at as u32, (at >> 32) as u32]], Ok(())),
        (&[[2, 4, 8, 0]], Err(libc::EFAULT)),
        (&[[2, 0, at as u32, (at >> 32) as u32]], Err(libc::EINVAL)),
        (&[[2, u32::MAX, at as u32, (at >> 32) as u32]], Err(libc::ENOMEM)),
        (&[[1, 0, 0, 0]], Err(libc::EINVAL)),
        (&[[2, 4, at as u32, (at >> 32) as u32]; 2], Err(libc::EINVAL)),
        // Virtual memory, and an unknown ring: FILLER as flags, and as the ring's number.
        (&[[2, 4, at as u32, (at >> 32) as u32], [3, 2, at as u32, (at >> 32) as u32]], Err(libc::EINVAL)),
        (&[[2, 4, at as u32, (at >> 32) as u32], [3, 0, 0, 0]], Err(libc::EINVAL)),
        (&[[2, 4, at as u32, (at >> 32) as u32], [77, 1, at as u32, (at >> 32) as u32]], Ok(())),
    ];
    for (chunks, expected) in cases {
        let list: Vec<u64> = chunks.iter().map(|chunk| chunk.as_ptr() as u64).collect();
        assert_eq!(cs(list.len() as u32, list.as_ptr() as u64), expected, "{chunks:x?}");
    }
}

/// The header of a packet with this number of words after it.
const fn packet(opcode: u32, words: u32) -> u32 {
    3 << 30 | (words - 1) << 16 | opcode << 8
}

const MEM_WRITE: u32 = 0x3d;
const NOP: u32 = 0x10;

/// MEM_WRITE of 7 to byte 8 of a buffer, and the value that the program sees there then.
pub fn write(expected: u32) {
    let node = Node::open();
    let handle = node.create(4096);
    let bytes = node.map(handle, 4096);
    node.submit(&[packet(MEM_WRITE, 4), 8, 1 << 18, 7, 0, packet(NOP, 1), 0], &[handle]).unwrap();
    // SAFETY: mapped above.
    assert_eq!(unsafe { bytes.cast::<u32>().add(2).read_volatile() }, expected);
}

pub fn bad_streams() {
    let node = Node::open();
    let handle = node.create(4096);
    let bad: [&[u32]; 4] = [
        &[packet(NOP, 9), 0],
        &[packet(0xfe, 1), 0],
        &[packet(MEM_WRITE, 4), 8, 1 << 18, 7, 0],
        &[packet(0x69, 2), 0x3ff, 0],
    ];
    for words in bad {
        assert_eq!(node.submit(words, &[handle]), Err(libc::EINVAL), "{words:x?}");
    }
    // Random streams of valid packets: refused or not, the process goes on.
    let mut state = 3u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for _ in 0..2000 {
        let mut words = Vec::new();
        for _ in 0..1 + random() % 8 {
            let count = 1 + random() % 7;
            words.push(packet(if random() % 4 == 0 { random() % 128 } else { 0x20 + random() % 0x50 }, count));
            words.extend((0..count).map(|_| random() >> (random() % 32)));
            words.extend([packet(NOP, 1), 0]);
        }
        let _ = node.submit(&words, &[handle]);
    }
    node.submit(&[FILLER], &[handle]).unwrap();
}

pub fn forks() {
    let node = Node::open();
    submit_numbers(&node, 3);
    // A node that was opened before a fork is shared: both get handles that the other does not have.
    let (read, write) = {
        let mut ends = [0; 2];
        // SAFETY: a place for two descriptors.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        (ends[0], ends[1])
    };
    let child = fork(|| {
        submit_numbers(&node, 5);
        let mine = node.create(4096);
        // SAFETY: four bytes of ours.
        unsafe { libc::write(write, (&raw const mine).cast(), 4) };
    });
    assert_eq!(wait(child), 0);
    let mut theirs = 0u32;
    // SAFETY: a place of four bytes.
    assert_eq!(unsafe { libc::read(read, (&raw mut theirs).cast(), 4) }, 4);
    assert_eq!(node.create(4096), theirs + 1);
    // A child with a node of its own.
    assert_eq!(wait(fork(|| submit_numbers(&Node::open(), 7))), 0);
}

pub fn threads() {
    let node = Node::open();
    let handles = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let own = Node::open();
                    let (mine, shared) = (own.create(4096), node.create(4096));
                    own.submit(&[FILLER; 8], &[mine]).unwrap();
                    node.submit(&[FILLER; 8], &[shared]).unwrap();
                    handles.lock().unwrap().push(shared);
                    own.close();
                }
            });
        }
        // Forks while all of them work: no lock is still held in a child.
        for _ in 0..20 {
            assert_eq!(wait(fork(|| submit_numbers(&Node::open(), 2))), 0);
        }
    });
    let mut handles = handles.into_inner().unwrap();
    handles.sort_unstable();
    handles.dedup();
    assert_eq!(handles.len(), 800);
}

pub fn thousand() {
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let mapped = || fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    let once = || {
        let node = Node::open();
        submit_numbers(&node, 1);
        node.create(1 << 20);
        node.close();
    };
    once();
    once();
    let (fds, maps) = (open(), mapped());
    for _ in 0..1000 {
        once();
    }
    assert!(open() <= fds + 2, "{} descriptors, {fds} before", open());
    // The client's own mappings stay, one for each node; the library's go.
    assert!(mapped() <= maps + 1000 + 10, "{} mappings, {maps} before", mapped());
    // And many at once, within the usual limit of descriptors.
    let all: Vec<Node> = (0..400).map(|_| Node::open()).collect();
    assert!(all.iter().all(|node| node.create(4096) == 1));
}

pub fn killed_sharer() {
    let node = Node::open();
    for _ in 0..10 {
        let child = fork(|| {
            loop {
                let handle = node.create(4096);
                node.gem_close(handle).unwrap();
            }
        });
        std::thread::sleep(Duration::from_millis(20));
        // SAFETY: a child of ours.
        unsafe { libc::kill(child, libc::SIGKILL) };
        wait(child);
        // Wherever it was killed, the table is whole and free.
        let (a, b) = (node.create(4096), node.create(8192));
        assert_ne!(a, b);
        node.submit(&[FILLER; 8], &[a, b]).unwrap();
        node.gem_close(a).unwrap();
        node.gem_close(b).unwrap();
    }
}

/// Maps a file with the name of a driver's library.
pub fn open_library() -> *mut u8 {
    use std::os::fd::AsRawFd;
    let path = directory(&format!("library-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    let path = path.join("swrast_dri.so");
    fs::write(&path, [0; 4096]).unwrap();
    let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    map_file(file.as_raw_fd(), 4096)
}

/// Two processes with a node each and one buffer: each sees the writes of the other, by processor or Radeon.
pub fn share() {
    let mut sockets = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, sockets.as_mut_ptr()) }, 0);
    let child = fork(|| {
        let fd = receive_descriptor(sockets[1]);
        let node = Node::open();
        // Handles of its own, so that places in both nodes differ.
        node.create(10_000);
        let handle = node.import(fd).unwrap();
        assert_eq!(node.import(fd), Ok(handle));
        let mut tiling = [handle, 0, 0];
        node.request(0x69, &mut tiling).unwrap();
        assert_eq!(tiling, [handle, 2, 512]);
        let bytes = node.map(handle, 8192);
        // SAFETY: mapped above.
        unsafe {
            assert_eq!((bytes.read_volatile(), bytes.add(8191).read_volatile()), (1, 2));
            bytes.add(4096).write_volatile(3);
        }
        node.submit(&[packet(MEM_WRITE, 4), 8, 1 << 18, 7, 0, packet(NOP, 1), 0], &[handle]).unwrap();
        // The buffer's metadata goes both ways.
        node.request(0x68, &mut [handle, 1, 1024]).unwrap();
    });
    let node = Node::open();
    let handle = node.create(8000);
    let bytes = node.map(handle, 8192);
    // SAFETY: mapped above.
    unsafe {
        bytes.write_volatile(1);
        bytes.add(8191).write_volatile(2);
    }
    node.request(0x68, &mut [handle, 2, 512]).unwrap();
    // It has been used by the machine before it is shared.
    node.submit(&[FILLER], &[handle]).unwrap();
    let fd = node.export(handle).unwrap();
    assert_eq!(node.import(fd), Ok(handle));
    // SAFETY: a descriptor of ours.
    assert_eq!(unsafe { libc::lseek(fd, 0, libc::SEEK_END) }, 8192);
    let shared = map_file(fd, 8192);
    // SAFETY: mapped above. Writes before it was shared are there, and both mappings are one memory.
    unsafe {
        assert_eq!((shared.read_volatile(), shared.add(8191).read_volatile()), (1, 2));
        shared.add(100).write_volatile(9);
        assert_eq!(bytes.add(100).read_volatile(), 9);
    }
    send_descriptor(sockets[0], fd);
    assert_eq!(wait(child), 0);
    let later = node.map(handle, 8192);
    for mapping in [bytes, shared, later] {
        // SAFETY: mapped above.
        unsafe {
            assert_eq!(mapping.add(4096).read_volatile(), 3);
            assert_eq!(mapping.cast::<u32>().add(2).read_volatile(), 7);
        }
    }
    let mut tiling = [handle, 0, 0];
    node.request(0x69, &mut tiling).unwrap();
    assert_eq!(tiling, [handle, 1, 1024]);
    // This Radeon writes there too.
    node.submit(&[packet(MEM_WRITE, 4), 16, 1 << 18, 8, 0, packet(NOP, 1), 0], &[handle]).unwrap();
    // SAFETY: mapped above.
    assert_eq!(unsafe { shared.cast::<u32>().add(4).read_volatile() }, 8);
    // The memory belongs to those who have descriptors; the place in the node is free again, and empty.
    node.gem_close(handle).unwrap();
    let again = node.create(8192);
    // SAFETY: a new buffer, mapped.
    assert_eq!(unsafe { node.map(again, 8192).read_volatile() }, 0);
    node.submit(&[packet(MEM_WRITE, 4), 16, 1 << 18, 5, 0, packet(NOP, 1), 0], &[again]).unwrap();
    node.close();
    let node = Node::open();
    let handle = node.import(fd).unwrap();
    // SAFETY: mapped here.
    assert_eq!(unsafe { node.map(handle, 8192).cast::<u32>().add(4).read_volatile() }, 8);
}

/// GEM_FLINK and GEM_OPEN, between two opened cards.
pub fn names() {
    let (first, second) = (Node::card(), Node::card());
    let handle = first.create(4096);
    let mut named = [handle, 0];
    first.request(0x0a, &mut named).unwrap();
    assert_ne!(named[1], 0);
    let mut opened = [named[1], 0, 0, 0];
    second.request(0x0b, &mut opened).unwrap();
    assert_eq!((opened[2], opened[3]), (4096, 0));
    // SAFETY: mapped here, twice the same bytes.
    unsafe {
        first.map(handle, 4096).write_volatile(6);
        assert_eq!(second.map(opened[1], 4096).read_volatile(), 6);
    }
    assert_eq!(second.request(0x0b, &mut [u32::MAX, 0, 0, 0]), Err(libc::ENOENT));
}

/// Two buffers that the processor fills, shown on the card's display.
pub fn show() {
    let card = Node::card();
    // SAFETY: all zero is a status, and it is writable.
    let status = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        assert_eq!(libc::fstat(card.0, &raw mut status), 0);
        status
    };
    assert_eq!((status.st_mode & libc::S_IFMT, libc::minor(status.st_rdev)), (libc::S_IFCHR, 0));
    let capability = |number: u32| {
        let mut words = [number, 0, 0, 0];
        card.request(0x0c, &mut words).unwrap();
        words[2]
    };
    assert_eq!([1, 5, 6, 0x10].map(capability), [1, 3, 1, 0]);
    // Atomic mode setting is not there.
    assert_eq!(card.request(0x0d, &mut [3, 0, 1, 0]), Err(libc::EOPNOTSUPP));
    // The objects: counts first.
    let mut resources = [0u32; 16];
    card.request(0xa0, &mut resources).unwrap();
    assert_eq!(resources[8..12], [0, 1, 1, 1]);
    let mut ids = [0u32; 3];
    for (n, place) in (1..4).zip(&mut ids) {
        let at = (&raw mut *place) as u64;
        (resources[2 * n], resources[2 * n + 1]) = (at as u32, (at >> 32) as u32);
    }
    card.request(0xa0, &mut resources).unwrap();
    // SAFETY: places of ours, which the library has written.
    let [crtc, connector, encoder] = [0, 1, 2].map(|n| unsafe { (&raw const ids[n]).read_volatile() });
    let mut found = [0u32; 20];
    found[12] = connector;
    card.request(0xa7, &mut found).unwrap();
    assert_eq!((found[8], found[10], found[11], found[15]), (1, 1, encoder, 1));
    let mut mode = [0u32; 17];
    let at = (&raw mut mode) as u64;
    (found[2], found[3]) = (at as u32, (at >> 32) as u32);
    card.request(0xa7, &mut found).unwrap();
    // SAFETY: as before.
    let mode = unsafe { (&raw const mode).read_volatile() };
    assert_eq!((mode[1] & 0xffff, mode[6]), (1024, 60));
    let framebuffer = |colour: u32| {
        let mut dumb = [200, 320, 32, 0, 0, 0, 0, 0];
        card.request(0xb2, &mut dumb).unwrap();
        let (handle, pitch) = (dumb[4], dumb[5]);
        let mut place = [handle, 0, 0, 0];
        card.request(0xb3, &mut place).unwrap();
        let both = libc::PROT_READ | libc::PROT_WRITE;
        let bytes = pitch as usize * 200;
        // SAFETY: a new mapping, and words in it.
        unsafe {
            let at = libc::mmap(std::ptr::null_mut(), bytes, both, libc::MAP_SHARED, card.0, place[2].into());
            assert_ne!(at, libc::MAP_FAILED);
            (0..bytes / 4).for_each(|n| at.cast::<u32>().add(n).write_volatile(colour));
        }
        let mut words = [0, 320, 200, pitch, 32, 24, handle];
        card.request(0xae, &mut words).unwrap();
        // One that does not fit into its buffer.
        assert_eq!(card.request(0xae, &mut [0, 320, 210, pitch, 32, 24, handle]), Err(libc::EINVAL));
        words[0]
    };
    let (first, second) = (framebuffer(0xff11_2233), framebuffer(0xff44_5566));
    let flip = |number: u32, word: u32| card.request(0xb0, &mut [crtc, number, 1, 0, word, 0]);
    assert_eq!(flip(first, 1), Err(libc::EBUSY));
    let mut set = [0u32; 26];
    (set[3], set[4], set[8]) = (crtc, first, 1);
    set[9..].copy_from_slice(&mode);
    card.request(0xa2, &mut set).unwrap();
    let mut waits = libc::pollfd { fd: card.0, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    assert_eq!(unsafe { libc::poll(&raw mut waits, 1, 0) }, 0);
    flip(second, 77).unwrap();
    // SAFETY: as before, and room for events.
    let (ready, got, event) = unsafe {
        let mut event = [0u32; 64];
        let ready = libc::poll(&raw mut waits, 1, 1000);
        (ready, libc::read(card.0, event.as_mut_ptr().cast(), 256), event)
    };
    // A flip is complete: 32 bytes, the program's word, the time, the picture's number, the CRTC.
    assert_eq!((ready, got), (1, 32));
    assert_eq!((event[0], event[1], event[2], event[6], event[7]), (2, 32, 77, 2, crtc));
    assert_eq!(flip(first + 50, 0), Err(libc::ENOENT));
    // Drivers' requests work on the card, too.
    let handle = card.create(4096);
    let bytes = card.map(handle, 4096);
    card.submit(&[packet(MEM_WRITE, 4), 8, 1 << 18, 7, 0, packet(NOP, 1), 0], &[handle]).unwrap();
    // SAFETY: mapped above.
    assert_eq!(unsafe { bytes.cast::<u32>().add(2).read_volatile() }, 7);
}
