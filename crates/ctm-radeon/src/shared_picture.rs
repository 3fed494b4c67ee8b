//! The picture on a card's display, in a file that programs write and a viewer reads.
//!
//! The file begins with four words: the number of pictures so far, columns, rows, and the number again. Picture `n` follows in the place `n % 3`, so that one picture can be
//! read while the next is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The most columns, and the most rows.
const LARGEST: u32 = 8192;
/// Bytes before the first picture.
const HEAD: u64 = 4096;
/// Pictures that have places.
const PLACES: u32 = 3;

/// The words at the beginning.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    number: u32,
    width: u32,
    height: u32,
}

impl Head {
    /// Bytes of the picture, and where it begins.
    fn place(self) -> (usize, u64) {
        let place = u64::from(LARGEST) * u64::from(LARGEST) * 3 * u64::from(self.number % PLACES);
        (self.width as usize * self.height as usize * 3, HEAD + place)
    }
}

/// A picture that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPicture {
    /// Its number, from 1.
    pub number: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green and blue of each pixel, row by row from the top.
    pub rgb: Vec<u8>,
}

/// The file. Any process that can open it may write the next picture.
#[derive(Debug)]
pub struct SharedPicture {
    file: File,
}

impl From<File> for SharedPicture {
    /// An empty file has no picture.
    fn from(file: File) -> Self {
        Self { file }
    }
}

impl SharedPicture {
    /// Opens an existing file, to write pictures.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::options().read(true).write(true).open(path).map(Self::from)
    }

    /// The words at the beginning; `None` while they change, or where there is no picture.
    fn head(&self) -> io::Result<Option<Head>> {
        let mut bytes = [0; 16];
        match self.file.read_exact_at(&mut bytes, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let (words, _) = bytes.as_chunks();
        let words: Vec<u32> = words.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let head = Head { number: words[0], width: words[1], height: words[2] };
        let fits = (1..=LARGEST).contains(&head.width) && (1..=LARGEST).contains(&head.height);
        Ok((head.number == words[3] && fits).then_some(head))
    }

    /// Shows a picture of red, green and blue bytes, row by row from the top.
    ///
    /// # Errors
    /// More than 8192 columns or rows, none, or another number of bytes than these have (`InvalidInput`), and those of the system.
    pub fn show(&self, [width, height]: [u32; 2], rgb: &[u8]) -> io::Result<()> {
        let before = self.head()?.map_or(0, |head| head.number);
        let head = Head { number: before.wrapping_add(1), width, height };
        let (bytes, place) = head.place();
        if width.max(height) > LARGEST || bytes == 0 || bytes != rgb.len() {
            let message = format!(
                "{} bytes for {width} columns and {height} rows of three bytes, of at most {LARGEST} each",
                rgb.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        self.file.write_all_at(rgb, place)?;
        let words = [head.number, width, height, head.number].map(u32::to_le_bytes);
        self.file.write_all_at(words.as_flattened(), 0)
    }

    /// The picture that is shown, unless that is the one with the number `seen`. `None` also while it changes: it is there a moment later.
    ///
    /// # Errors
    /// Those of the system.
    pub fn newer_than(&self, seen: Option<u32>) -> io::Result<Option<ShownPicture>> {
        let Some(head) = self.head()?.filter(|head| Some(head.number) != seen) else { return Ok(None) };
        let (bytes, place) = head.place();
        let mut rgb = vec![0; bytes];
        match self.file.read_exact_at(&mut rgb, place) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        // The picture after the next one has another place.
        let after = self.head()?.map(|after| after.number.wrapping_sub(head.number));
        let Head { number, width, height } = head;
        Ok(after.filter(|&later| later < 2).map(|_| ShownPicture { number, width, height, rgb }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_sees_the_last_picture() {
        let path = std::env::temp_dir().join(format!("ctm-shared-picture-{}", std::process::id()));
        let viewer: SharedPicture =
            File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap().into();
        let program = SharedPicture::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(viewer.newer_than(None).unwrap(), None);
        for number in 1..=7 {
            let rgb = vec![number as u8; 4 * number as usize * 3];
            program.show([4, number], &rgb).unwrap();
            let picture = ShownPicture { number, width: 4, height: number, rgb };
            assert_eq!(viewer.newer_than(Some(number - 1)).unwrap(), Some(picture));
            assert_eq!(viewer.newer_than(Some(number)).unwrap(), None);
        }
        for (size, bytes) in [([4, 4], 47), ([0, 4], 0), ([8193, 1], 8193 * 3)] {
            let error = program.show(size, &vec![0; bytes]).unwrap_err();
            assert!(error.to_string().contains("at most 8192"), "{error}");
        }
        // Anything may be written there.
        for bytes in [[0xff; 16], [0x11; 16]] {
            program.file.write_all_at(&bytes, 0).unwrap();
            assert_eq!(viewer.newer_than(None).unwrap(), None);
        }
        assert!(SharedPicture::open(Path::new("/nowhere/picture")).is_err());
    }

    #[test]
    fn pictures_are_whole_while_others_are_shown() {
        let path = std::env::temp_dir().join(format!("ctm-shared-pictures-{}", std::process::id()));
        let viewer: SharedPicture =
            File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap().into();
        let program = SharedPicture::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 1..=500 {
                    program.show([64, 64], &[number as u8; 64 * 64 * 3]).unwrap();
                }
            });
            let mut seen = None;
            while seen != Some(500) {
                let Some(picture) = viewer.newer_than(seen).unwrap() else { continue };
                assert!(picture.rgb.iter().all(|&byte| byte == picture.number as u8), "{}", picture.number);
                seen = Some(picture.number);
            }
        });
    }
}
