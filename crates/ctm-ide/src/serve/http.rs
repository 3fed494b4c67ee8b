//! As much of HTTP/1.1 (RFC 9112) as a page on this machine needs: one request a connection, its body with its length.
//!
//! A request's head is read and judged by itself; its body is read by those who want it. Every read and write ends at the deadline of its [`Wire`].

use super::memory::Share;
use ctm_exec::Instant;
use std::io::{Error, ErrorKind, Read, Result as IoResult, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// The longest request line and headers, in bytes.
const LONGEST_HEAD: usize = 16 << 10;
/// Bytes that are read at once.
const BLOCK: usize = 64 << 10;
/// A connection is read for as long after its answer, so that the answer arrives: closing one with unread bytes resets it.
const LINGER: Duration = Duration::from_secs(1);

/// A connection until a deadline.
#[derive(Debug)]
pub(super) struct Wire<'s> {
    pub(super) stream: &'s TcpStream,
    pub(super) deadline: Instant,
}

impl Wire<'_> {
    fn left(&self) -> IoResult<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }

    /// Whether the client has gone. Bytes beyond its request are dropped: one request is answered.
    pub(super) fn has_gone(&self) -> bool {
        self.is_at_end(|mut stream| stream.read(&mut [0; 4096]))
    }

    /// Whether the client has gone before any byte that is still to be read.
    pub(super) fn is_closed(&self) -> bool {
        self.is_at_end(|stream| stream.peek(&mut [0]))
    }

    fn is_at_end(&self, read: impl Fn(&TcpStream) -> IoResult<usize>) -> bool {
        let read = || {
            self.stream.set_nonblocking(true)?;
            let read = read(self.stream);
            self.stream.set_nonblocking(false)?;
            read
        };
        match read() {
            Ok(count) => count == 0,
            Err(e) => e.kind() != ErrorKind::WouldBlock && e.kind() != ErrorKind::Interrupted,
        }
    }

    /// Says that no more comes, and waits a little for the client to close.
    pub(super) fn close(mut self) {
        self.deadline = Instant::now() + LINGER;
        if self.stream.shutdown(Shutdown::Write).is_ok() {
            let mut rest = vec![0; BLOCK];
            while matches!(self.read(&mut rest), Ok(1..)) {}
        }
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        (&*self.stream).read(buffer)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, buffer: &[u8]) -> IoResult<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        (&*self.stream).write(buffer)
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

/// The head of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    /// The path, without the query.
    pub(super) path: String,
    pub(super) host: String,
    pub(super) origin: Option<String>,
    /// The length of the body in bytes.
    pub(super) length: u64,
    /// The client waits for leave to send the body.
    expects: bool,
    /// Bytes of the body that came with the head.
    begun: Vec<u8>,
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum HttpFailure {
    /// The client has gone, or has said nothing in its time.
    Gone,
    /// The answer to it.
    Refused(Response),
}

impl From<Response> for HttpFailure {
    fn from(response: Response) -> Self {
        Self::Refused(response)
    }
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    /// Further headers, each with its line end.
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
    /// The memory of the body, where it is large.
    pub(super) share: Option<Share>,
}

impl Response {
    /// A line of text.
    pub(super) fn text(status: u16, text: &str) -> Self {
        let headers = match status {
            405 => "Allow: GET, POST\r\n",
            503 => "Retry-After: 1\r\n",
            _ => "",
        };
        let body = format!("{text}\n").into();
        Self { status, kind: "text/plain; charset=utf-8", headers: headers.into(), body, share: None }
    }

    /// JSON.
    pub(super) fn json(text: String) -> Self {
        let body = text.into();
        Self { status: 200, kind: "application/json", headers: String::new(), body, share: None }
    }

    fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            413 => "Content Too Large",
            500 => "Internal Server Error",
            503 => "Service Unavailable",
            _ => "Error",
        }
    }
}

/// The treatment of missing bytes.
fn unread(begun: bool, error: &Error) -> HttpFailure {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock if begun => {
            Response::text(408, "the request has not come in its time").into()
        }
        _ => HttpFailure::Gone,
    }
}

/// Reads the head of a request.
///
/// # Errors
/// There is none, or it is wrong.
pub(super) fn read_head(input: &mut impl Read) -> Result<Head, HttpFailure> {
    let mut bytes = Vec::new();
    let mut block = [0; 4096];
    let end = loop {
        // The empty line may have begun in the block before.
        let looked = bytes.len().saturating_sub(3);
        let count = match input.read(&mut block) {
            Ok(0) => return Err(HttpFailure::Gone),
            Ok(count) => count,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(unread(!bytes.is_empty(), &e)),
        };
        bytes.extend_from_slice(&block[..count]);
        let is_end = |at: &usize| bytes[*at..].starts_with(b"\n\r\n") || bytes[*at..].starts_with(b"\n\n");
        if let Some(at) = (looked..bytes.len()).find(is_end) {
            break at + if bytes[at + 1] == b'\n' { 2 } else { 3 };
        }
        if bytes.len() >= LONGEST_HEAD {
            return Err(Response::text(413, "the request's headers are too long").into());
        }
    };
    let begun = bytes.split_off(end);
    if bytes.len() > LONGEST_HEAD {
        return Err(Response::text(413, "the request's headers are too long").into());
    }
    Ok(Head { begun, ..parse(&bytes)? })
}

fn parse(bytes: &[u8]) -> Result<Head, Response> {
    let wrong = |why: &str| Response::text(400, why);
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let complete = parsed.parse(bytes).map_err(|e| wrong(&format!("this is no request: {e}")))?;
    if complete.is_partial() {
        return Err(wrong("this is no request"));
    }
    let path = parsed.path.unwrap_or("").split(['?', '#']).next().unwrap_or("").to_owned();
    let (mut host, mut origin, mut length, mut expects) = (None, None, None, false);
    for header in parsed.headers {
        let value = || String::from_utf8_lossy(header.value).trim().to_owned();
        let twice = |there: bool| {
            if there { Err(wrong(&format!("the request has two headers `{}`", header.name))) } else { Ok(()) }
        };
        match header.name.to_ascii_lowercase().as_str() {
            "host" => twice(host.replace(value()).is_some())?,
            "origin" => twice(origin.replace(value()).is_some())?,
            "content-length" => twice(length.replace(value()).is_some())?,
            "expect" => expects = value().eq_ignore_ascii_case("100-continue"),
            // RFC 9112 §6.1: a coding that is not understood.
            "transfer-encoding" => return Err(wrong("bodies come with their length")),
            _ => {}
        }
    }
    // RFC 9112 §3.2.
    let Some(host) = host else { return Err(wrong("the request has no header `Host`")) };
    let length = match length.as_deref() {
        None => 0,
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().unwrap_or(u64::MAX)
        }
        Some(_) => return Err(wrong("the length of the body is no number")),
    };
    Ok(Head { method: parsed.method.unwrap_or("").to_owned(), path, host, origin, length, expects, begun: Vec::new() })
}

/// Reads the body that follows a head. Bytes after it are left.
///
/// # Errors
/// It does not come, or not in its time.
pub(super) fn read_body(wire: &mut (impl Read + Write), head: &mut Head) -> Result<Vec<u8>, HttpFailure> {
    let mut body = std::mem::take(&mut head.begun);
    if head.expects && body.is_empty() && head.length > 0 {
        wire.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").map_err(|_| HttpFailure::Gone)?;
    }
    let length = usize::try_from(head.length).unwrap_or(usize::MAX);
    body.truncate(length);
    // It grows with the bytes that have come, whatever the head says.
    while body.len() < length {
        let begun = body.len();
        body.resize(length.min(begun + BLOCK.max(begun)), 0);
        match wire.read(&mut body[begun..]) {
            Ok(0) => return Err(HttpFailure::Gone),
            Ok(count) => body.truncate(begun + count),
            Err(e) if e.kind() == ErrorKind::Interrupted => body.truncate(begun),
            Err(e) => return Err(unread(true, &e)),
        }
    }
    Ok(body)
}

/// Sends an answer; a client that has gone misses it.
pub(super) fn write(wire: &mut impl Write, response: &Response) {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n{}\r\n",
        response.status,
        response.reason(),
        response.kind,
        response.body.len(),
        response.headers
    );
    let _ = wire.write_all(head.as_bytes()).and_then(|()| wire.write_all(&response.body));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// The head and the body of a text; `None` where the client goes, otherwise the status that it gets.
    fn read(text: &str) -> Result<(Head, Vec<u8>), Option<u16>> {
        let failed = |failure| match failure {
            HttpFailure::Gone => None,
            HttpFailure::Refused(response) => Some(response.status),
        };
        let mut input = Cursor::new(text.as_bytes().to_vec());
        let mut head = read_head(&mut input).map_err(failed)?;
        let body = read_body(&mut input, &mut head).map_err(failed)?;
        Ok((head, body))
    }

    #[test]
    fn requests_are_read_and_others_refused() {
        let (head, body) = read("POST /a?b HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\nhi").unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str(), head.host.as_str()), ("POST", "/a", "here"));
        assert_eq!(body, b"hi");
        // A second request in the same connection is no part of the first one.
        let (_, body) =
            read("POST /a HTTP/1.1\nHost: here\nContent-Length: 2\n\nhiGET / HTTP/1.1\nHost: here\n\n").unwrap();
        assert_eq!(body, b"hi");
        let post = |headers: &str| read(&format!("POST / HTTP/1.1\r\n{headers}\r\n")).map(|_| ());
        let host = "Host: h\r\n";
        for (text, status) in [
            ("", None),
            ("GET / HTTP/1.1\r\nHost:", None),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhi", None),
            ("hello\r\n\r\n", Some(400)),
            ("\r\n\r\n", Some(400)),
            ("GET / HTTP/1.1\r\n\r\n", Some(400)),
        ] {
            assert_eq!(read(text).unwrap_err(), status, "{text}");
        }
        for (headers, status) in [
            (format!("{host}{host}"), 400),
            (format!("{host}hOST: other\r\n"), 400),
            (format!("{host}Origin: a\r\nOrigin: b\r\n"), 400),
            (format!("{host}Content-Length: x\r\n"), 400),
            (format!("{host}Content-Length: +2\r\n"), 400),
            (format!("{host}Content-Length: -2\r\n"), 400),
            (format!("{host}Content-Length:\r\n"), 400),
            (format!("{host}Content-Length: 2\r\nContent-Length: 3\r\n"), 400),
            (format!("{host}Transfer-Encoding: chunked\r\n"), 400),
            (format!("{host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"), 400),
            (format!("{host}X: {}\r\n", "x".repeat(LONGEST_HEAD)), 413),
            (format!("{host}{}", "a: b\r\n".repeat(80)), 400),
        ] {
            assert_eq!(post(&headers), Err(Some(status)), "{}", &headers[..headers.len().min(60)]);
        }
        // A length that no number holds is that of no body that is read.
        let head = parse(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n").unwrap();
        assert_eq!(head.length, u64::MAX);
    }

    /// Reads come byte by byte.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    #[test]
    fn the_end_of_a_head_is_found_wherever_it_is_cut() {
        let text = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
        let head = read_head(&mut Slow(Cursor::new(text.into()))).unwrap();
        assert_eq!((head.path.as_str(), head.length, head.begun.len()), ("/x", 3, 0));
    }
}
