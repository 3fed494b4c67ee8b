//! Messages of the Debug Adapter Protocol: their frame, and the few shapes that are made in several places.

use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};

/// A longer message is refused: no client has a reason for one.
const LONGEST: usize = 16 << 20;

/// Reads one message; `None` when the client has gone between two of them.
///
/// # Errors
/// In words: what comes is no message.
pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Value>, String> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let limited = &mut input.by_ref().take(4096);
        let count = limited.read_until(b'\n', &mut line).map_err(|e| format!("the client cannot be read: {e}"))?;
        if count == 0 {
            return if length.is_none() {
                Ok(None)
            } else {
                Err("the client has gone in the middle of a message".into())
            };
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            let value = value.trim();
            let bytes = value.parse().map_err(|_| format!("`Content-Length: {value}` is no number"))?;
            if bytes > LONGEST {
                return Err(format!("a message of {bytes} bytes is refused; at most {LONGEST}"));
            }
            length = Some(bytes);
        }
    }
    let Some(length) = length else { return Err("a message has no `Content-Length`".into()) };
    let mut body = vec![0; length];
    input.read_exact(&mut body).map_err(|e| format!("the client has gone in the middle of a message: {e}"))?;
    serde_json::from_slice(&body).map(Some).map_err(|e| format!("a message is no JSON: {e}"))
}

/// Writes one message.
pub(super) fn write(output: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

/// An event; the number comes when it is sent.
pub(super) fn event(name: &str, body: Value) -> Value {
    json!({ "type": "event", "event": name, "body": body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written_and_nothing_else_is() {
        let mut bytes = Vec::new();
        write(&mut bytes, &json!({"seq": 1, "text": "ä"})).unwrap();
        write(&mut bytes, &json!({"seq": 2})).unwrap();
        let mut input = bytes.as_slice();
        assert_eq!(read(&mut input), Ok(Some(json!({"seq": 1, "text": "ä"}))));
        assert_eq!(read(&mut input), Ok(Some(json!({"seq": 2}))));
        assert_eq!(read(&mut input), Ok(None));
        for (text, why) in [
            ("Content-Length: 999999999999\r\n\r\n", "refused"),
            ("Content-Length: x\r\n\r\n", "no number"),
            ("Content-Length: 5\r\n\r\n{", "middle"),
            ("Content-Length: 2\r\n\r\n{x", "no JSON"),
            ("Other: 2\r\n\r\n{}", "no `Content-Length`"),
            ("Content-Length: 2\r\n", "middle"),
        ] {
            assert!(read(&mut text.as_bytes()).unwrap_err().contains(why), "{text}");
        }
    }
}
