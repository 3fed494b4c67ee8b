//! As much of HTTP/1.1 as a page on this machine needs: one request a connection, nothing kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The longest request line and headers.
const LONGEST_HEAD: usize = 16 << 10;
/// The longest body.
const LONGEST_BODY: usize = 32 << 20;
/// A client that is silent for longer has lost its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path, without what follows a `?`.
    pub(super) path: String,
    pub(super) host: String,
    pub(super) origin: Option<String>,
    pub(super) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    /// Further headers, each with its line end.
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
}

impl Response {
    /// A line of text.
    pub(super) fn text(status: u16, text: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", headers: String::new(), body: format!("{text}\n").into() }
    }

    /// JSON.
    pub(super) fn json(value: &serde_json::Value) -> Self {
        Self { status: 200, kind: "application/json", headers: String::new(), body: value.to_string().into() }
    }

    fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            413 => "Content Too Large",
            503 => "Service Unavailable",
            _ => "Error",
        }
    }
}

/// Reads a request; `None` where the client has gone or says nothing.
///
/// # Errors
/// What to answer to one that is none.
pub(super) fn read(stream: &TcpStream) -> Result<Option<Request>, Response> {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.set_write_timeout(Some(PATIENCE));
    parse(&mut BufReader::new(stream))
}

fn parse(input: &mut impl BufRead) -> Result<Option<Request>, Response> {
    let mut head = Vec::new();
    let mut limited = input.by_ref().take(LONGEST_HEAD as u64);
    while !head.ends_with(b"\r\n\r\n") && !head.ends_with(b"\n\n") {
        match limited.read_until(b'\n', &mut head) {
            Ok(0) if head.len() >= LONGEST_HEAD => {
                return Err(Response::text(413, "the request's headers are too long"));
            }
            Ok(0) | Err(_) => return Ok(None),
            Ok(_) => {}
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let complete = parsed.parse(&head).map_err(|e| Response::text(400, &format!("this is no request: {e}")))?;
    if complete.is_partial() {
        return Err(Response::text(400, "this is no request"));
    }
    let mut request = Request {
        method: parsed.method.unwrap_or("").to_owned(),
        path: parsed.path.unwrap_or("").split(['?', '#']).next().unwrap_or("").to_owned(),
        ..Request::default()
    };
    let mut length = 0;
    for header in parsed.headers {
        let value = String::from_utf8_lossy(header.value).trim().to_owned();
        match header.name.to_ascii_lowercase().as_str() {
            "host" => request.host = value,
            "origin" => request.origin = Some(value),
            "content-length" => {
                length = value.parse().map_err(|_| Response::text(400, "the length of the body is no number"))?;
            }
            "transfer-encoding" => return Err(Response::text(400, "bodies come with their length")),
            _ => {}
        }
    }
    if length > LONGEST_BODY {
        return Err(Response::text(413, &format!("a body of {length} bytes is too long; at most {LONGEST_BODY}")));
    }
    request.body = vec![0; length];
    // A client that goes away in the middle has no request.
    Ok(input.read_exact(&mut request.body).ok().map(|()| request))
}

/// Sends an answer; a client that has gone misses it.
pub(super) fn write(mut stream: &TcpStream, response: &Response) {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n{}\r\n",
        response.status,
        response.reason(),
        response.kind,
        response.body.len(),
        response.headers
    );
    let _ =
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&response.body)).and_then(|()| stream.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Result<Option<Request>, u16> {
        parse(&mut text.as_bytes()).map_err(|response| response.status)
    }

    #[test]
    fn requests_are_read_and_others_refused() {
        let request = said("POST /a?b HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\nhi").unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str(), request.host.as_str()), ("POST", "/a", "here"));
        assert_eq!(request.body, b"hi");
        assert_eq!(said(""), Ok(None));
        assert_eq!(said("GET / HTTP/1.1\r\nHost:"), Ok(None));
        assert_eq!(said("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhi"), Ok(None));
        assert_eq!(said("hello\r\n\r\n"), Err(400));
        assert_eq!(said("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), Err(400));
        assert_eq!(said("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), Err(400));
        assert_eq!(said("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"), Err(413));
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(LONGEST_HEAD));
        assert_eq!(said(&long), Err(413));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(80));
        assert_eq!(said(&many), Err(400));
    }
}
