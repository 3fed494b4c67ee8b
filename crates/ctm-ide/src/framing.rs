//! Messages as the Language Server Protocol and the Debug Adapter Protocol frame them: a `Content-Length`, an empty line, and JSON of that many bytes.

use serde_json::Value;
use std::io::{BufRead, Read, Write};

/// A longer message is refused: no client has a reason for one.
pub(crate) const LONGEST: u64 = 16 << 20;
/// A longer line of a header is read in parts.
const LONGEST_LINE: u64 = 4096;
/// The only field of a header that matters.
const LENGTH: &str = "content-length:";

/// Why there is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// This message is refused, in words. The next one can be read.
    Refused(String),
    /// Nothing more can be read, in words.
    Ended(String),
}

/// The messages of a client.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    input: R,
    /// Bytes of a refused message that are still to come.
    skipped: u64,
    /// The header before was none: the next one may begin anywhere in a line.
    lost: bool,
}

impl<R: BufRead> Frames<R> {
    pub(crate) const fn new(input: R) -> Self {
        Self { input, skipped: 0, lost: false }
    }

    /// The next message; `None` when the client has gone between two of them.
    ///
    /// # Errors
    /// The input is not a message.
    pub(crate) fn read(&mut self) -> Result<Option<Value>, FrameError> {
        let ended = |e: &dyn std::fmt::Display| FrameError::Ended(format!("the client cannot be read: {e}"));
        let cut = || FrameError::Ended("the client has gone in the middle of a message".into());
        if self.skipped > 0 {
            let copied = std::io::copy(&mut self.input.by_ref().take(self.skipped), &mut std::io::sink());
            if copied.map_err(|e| ended(&e))? < self.skipped {
                return Err(cut());
            }
            self.skipped = 0;
        }
        let mut length: Option<String> = None;
        let mut began = false;
        loop {
            let mut line = Vec::new();
            let limited = &mut self.input.by_ref().take(LONGEST_LINE);
            if limited.read_until(b'\n', &mut line).map_err(|e| ended(&e))? == 0 {
                return if began { Err(cut()) } else { Ok(None) };
            }
            let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
            let line = line.trim_end();
            if self.lost {
                let Some(at) = line.rfind(LENGTH) else { continue };
                (self.lost, began) = (false, true);
                length = Some(line[at + LENGTH.len()..].trim().to_owned());
            } else if line.is_empty() {
                break;
            } else {
                began = true;
                length = line.strip_prefix(LENGTH).map(|value| value.trim().to_owned()).or(length);
            }
        }
        let lost = |frames: &mut Self, why: String| {
            frames.lost = true;
            Err(FrameError::Refused(why))
        };
        let Some(length) = length else { return lost(self, "a message has no `Content-Length`".into()) };
        let Ok(bytes) = length.parse::<u64>() else {
            return lost(self, format!("`Content-Length: {length}` is no number of bytes"));
        };
        if bytes > LONGEST {
            self.skipped = bytes;
            return Err(FrameError::Refused(format!("a message of {bytes} bytes is refused; at most {LONGEST}")));
        }
        let mut body = Vec::new();
        if self.input.by_ref().take(bytes).read_to_end(&mut body).map_err(|e| ended(&e))? as u64 != bytes {
            return Err(cut());
        }
        let message = serde_json::from_slice(&body);
        message.map(Some).map_err(|e| FrameError::Refused(format!("a message is no JSON: {e}")))
    }
}

/// Writes one message.
pub(crate) fn write(output: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        write(&mut bytes, &json!({"seq": 1, "text": "ä"})).unwrap();
        write(&mut bytes, &json!({"seq": 2})).unwrap();
        let mut frames = Frames::new(bytes.as_slice());
        assert_eq!(frames.read(), Ok(Some(json!({"seq": 1, "text": "ä"}))));
        assert_eq!(frames.read(), Ok(Some(json!({"seq": 2}))));
        assert_eq!(frames.read(), Ok(None));
    }

    /// A good message follows each bad one, and is read.
    #[test]
    fn a_bad_message_is_refused_and_the_next_is_read() {
        let long = LONGEST + 1;
        let bodies = [
            ("Content-Length: x\r\n\r\n{\"seq\":1}".to_owned(), "no number"),
            ("Content-Length: -1\r\n\r\n".to_owned(), "no number"),
            ("Content-Length: 99999999999999999999999999\r\n\r\n{}".to_owned(), "no number"),
            ("Content-Length: 2\r\n\r\n{x".to_owned(), "no JSON"),
            ("Content-Length: 2\r\n\r\n\u{1}\u{1}".to_owned(), "no JSON"),
            (format!("Content-Length: 2000\r\n\r\n{}", "[".repeat(2000)), "no JSON"),
            ("Other: 2\r\n\r\n{}".to_owned(), "no `Content-Length`"),
            ("\r\n".to_owned(), "no `Content-Length`"),
            (format!("Content-Length: {long}\r\n\r\n{}", " ".repeat(usize::try_from(long).unwrap())), "refused"),
        ];
        for (bad, why) in bodies {
            let text = format!("{bad}Content-Length: 9\r\n\r\n{{\"seq\":2}}");
            let mut frames = Frames::new(text.as_bytes());
            let shown = &bad[..bad.len().min(80)];
            match frames.read() {
                Err(FrameError::Refused(said)) => assert!(said.contains(why), "{shown}: {said}"),
                other => panic!("{shown}: {other:?}"),
            }
            assert_eq!(frames.read(), Ok(Some(json!({"seq": 2}))), "{shown}");
            assert_eq!(frames.read(), Ok(None), "{shown}");
        }
    }

    #[test]
    fn a_client_that_goes_in_the_middle_ends_it() {
        for text in ["Content-Length: 5\r\n\r\n{", "Content-Length: 2\r\n", "Content-Length: 2", "x"] {
            match Frames::new(text.as_bytes()).read() {
                Err(FrameError::Ended(why)) => assert!(why.contains("middle"), "{why}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        // A refused length takes no memory, and its bytes never come.
        for length in ["18446744073709551615", "99999999999999"] {
            let text = format!("Content-Length: {length}\r\n\r\n{{}}");
            let mut frames = Frames::new(text.as_bytes());
            assert!(matches!(frames.read(), Err(FrameError::Refused(why)) if why.contains("at most 16777216")));
            assert!(matches!(frames.read(), Err(FrameError::Ended(_))));
        }
    }
}
