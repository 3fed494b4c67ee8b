//! `ctm lsp` as an editor speaks with it: over its pipes, message by message.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: i32,
    /// Notifications that came while an answer was awaited.
    heard: Vec<Notification>,
}

const URI: &str = "file:///folder/a.x1k";

impl Client {
    fn start(capabilities: Value) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_ctm"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, input, output, number: 0, heard: Vec::new() };
        let answer =
            client.ask("initialize", json!({ "processId": null, "rootUri": null, "capabilities": capabilities }));
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        client.tell("initialized", json!({}));
        client
    }

    fn tell(&mut self, method: &str, params: Value) {
        Message::Notification(Notification::new(method.into(), params)).write(&mut self.input).unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params).unwrap_or_else(|why| panic!("{method}: {why}"))
    }

    fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.number += 1;
        let id = RequestId::from(self.number);
        Message::Request(Request::new(id.clone(), method.into(), params)).write(&mut self.input).unwrap();
        loop {
            match Message::read(&mut self.output).unwrap().expect("an answer") {
                Message::Response(response) => {
                    let value = serde_json::to_value(&response).unwrap();
                    assert_eq!(value["id"], self.number);
                    return match value.get("error") {
                        Some(error) => Err(error["message"].as_str().unwrap_or("").to_owned()),
                        None => Ok(value["result"].clone()),
                    };
                }
                Message::Notification(notification) => self.heard.push(notification),
                Message::Request(request) => panic!("{}", request.method),
            }
        }
    }

    /// The findings that come next.
    fn findings(&mut self) -> Vec<Value> {
        let notification = match self.heard.pop() {
            Some(notification) => notification,
            None => match Message::read(&mut self.output).unwrap().expect("findings") {
                Message::Notification(notification) => notification,
                _ => panic!("no notification"),
            },
        };
        assert_eq!(notification.method, "textDocument/publishDiagnostics");
        notification.params["diagnostics"].as_array().unwrap().clone()
    }

    fn open(&mut self, language: &str, text: &str) -> Vec<Value> {
        let item = json!({ "uri": URI, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": item }));
        self.findings()
    }

    fn at(line: u32, character: u32) -> Value {
        json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
    }

    fn goodbye(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        drop(self.input);
        assert!(self.server.wait().unwrap().success());
    }
}

const TEXT: &str = "\
.reg z = r1                   ; ü and 😀
        mov   z, 0
here:   add   z.r, z.r, 1
        mov   o0, z.r
";

#[test]
fn an_editor_works_with_it() {
    let mut client = Client::start(json!({}));
    assert_eq!(client.open("ctm-x1k", TEXT), Vec::<Value>::new());

    // A mistake, typed, and taken back.
    let change = |line: u32, from: u32, to: u32, text: &str, version: i32| {
        let position = |character| json!({ "line": line, "character": character });
        json!({
            "textDocument": { "uri": URI, "version": version },
            "contentChanges": [{ "range": { "start": position(from), "end": position(to) }, "text": text }],
        })
    };
    client.tell("textDocument/didChange", change(2, 8, 11, "ad", 2));
    let found = client.findings();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 2, "character": 8 }));
    assert_eq!((&found[0]["severity"], &found[0]["source"]), (&json!(1), &json!("ctm")));
    assert!(found[0]["message"].as_str().unwrap().contains("did you mean `add`"), "{found:?}");
    client.tell("textDocument/didChange", change(2, 8, 10, "add", 3));
    assert_eq!(client.findings(), Vec::<Value>::new());

    let hover = client.ask("textDocument/hover", Client::at(2, 9));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("MAD(a, 1, b)"), "{hover}");
    let definition = client.ask("textDocument/definition", Client::at(3, 18));
    assert_eq!(definition[0]["range"]["start"], json!({ "line": 0, "character": 5 }));
    let references = json!({
        "textDocument": { "uri": URI }, "position": { "line": 0, "character": 5 }, "context": { "includeDeclaration": true },
    });
    assert_eq!(client.ask("textDocument/references", references).as_array().unwrap().len(), 5);

    let completions = client.ask("textDocument/completion", Client::at(1, 8));
    let mad = completions.as_array().unwrap().iter().find(|c| c["label"] == "mad").unwrap().clone();
    let resolved = client.ask("completionItem/resolve", mad);
    assert!(resolved["documentation"]["value"].as_str().unwrap().contains("A * B + C"), "{resolved}");

    let mut rename = Client::at(0, 5);
    assert_eq!(client.ask("textDocument/prepareRename", rename.clone())["start"]["character"], 5);
    rename["newName"] = "depth".into();
    let edits = client.ask("textDocument/rename", rename.clone());
    assert_eq!(edits["changes"][URI].as_array().unwrap().len(), 5);
    rename["newName"] = "r7".into();
    assert!(client.try_ask("textDocument/rename", rename).unwrap_err().contains("something else"));

    let hints = client.ask(
        "textDocument/inlayHint",
        json!({
            "textDocument": { "uri": URI },
            "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } },
        }),
    );
    let labels: Vec<&str> = hints.as_array().unwrap().iter().map(|h| h["label"].as_str().unwrap()).collect();
    assert!(labels.contains(&"r1.r to 4; 1 live"), "{labels:?}");
    let symbols = client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(
        symbols.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["z", "here"]
    );

    let options = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 8, "insertSpaces": true } });
    let edits = client.ask("textDocument/formatting", options);
    assert!(edits[0]["newText"].as_str().unwrap().starts_with(".reg    z = r1"), "{edits}");

    // Unknown requests get an error.
    assert!(client.try_ask("textDocument/moniker", json!({})).is_err());
    assert!(
        client
            .try_ask(
                "textDocument/hover",
                json!({ "textDocument": { "uri": "file:///other" }, "position": { "line": 0, "character": 0 } })
            )
            .unwrap_err()
            .contains("not open")
    );
    assert!(client.try_ask("textDocument/hover", json!(3)).is_err());
    assert_eq!(client.ask("textDocument/hover", Client::at(4000, 4000)), Value::Null);
    client.goodbye();
}

#[test]
fn places_count_as_the_client_counts() {
    // `😀` is four bytes, and two units of UTF-16.
    let text = "        mov o0, r0 ; 😀\n;😀 \n        mvo o0, r0\n\"😀\" q";
    for (encodings, column) in [(json!(["utf-8", "utf-16"]), 7), (json!(["utf-16"]), 5)] {
        let mut client = Client::start(json!({ "general": { "positionEncodings": encodings } }));
        let found = client.open("ctm-x1k", text);
        let places: Vec<&Value> = found.iter().map(|f| &f["range"]["start"]).collect();
        assert!(places.contains(&&json!({ "line": 2, "character": 8 })), "{places:?}");
        let change = json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [{
                "range": { "start": { "line": 3, "character": 0 }, "end": { "line": 3, "character": column } }, "text": "nop",
            }],
        });
        client.tell("textDocument/didChange", change);
        let found = client.findings();
        assert!(found.iter().any(|f| f["message"].as_str().unwrap().contains("nop")), "{found:?}");
        client.goodbye();
    }
}

#[test]
fn the_client_says_which_language_it_is() {
    let text = "ALU:\n  0  x: MVO R0.x, R0.x\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let mut client = Client::start(json!({}));
    let found = client.open("ctm-r700", text);
    assert!(found.iter().any(|f| f["message"].as_str().unwrap().contains("MVO")), "{found:?}");
    client.goodbye();
}

#[test]
fn a_client_that_goes_away_ends_it() {
    let mut client = Client::start(json!({}));
    client.open("ctm-x1k", TEXT);
    drop(client.input);
    assert!(client.server.wait().unwrap().code().is_some());

    // Nothing that is the protocol.
    let mut server = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server.stdin.take().unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(server.wait().unwrap().code().is_some());
}

#[test]
fn job_files_and_shaders_have_findings() {
    let mut client = Client::start(json!({}));
    let open = |client: &mut Client, uri: &str, language: &str, text: &str| {
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        client.tell("textDocument/didOpen", json!({ "textDocument": item }));
        client.findings()
    };
    let job = "file:///folder/job.toml";
    let found = open(
        &mut client,
        job,
        "toml",
        "program = \"a.x1k\"\ndomain = [0, 0, 7]\n[[output]]\nslot = 0\nsvae = \"o.npy\"\n",
    );
    let lines: Vec<&Value> = found.iter().map(|finding| &finding["range"]["start"]["line"]).collect();
    assert!(lines.contains(&&json!(1)) && lines.contains(&&json!(4)), "{found:?}");
    // Typed right.
    let text = "program = \"a.x1k\"\ndomain = [0, 0, 7, 7]\n[[output]]\nslot = 0\nsave = \"o.npy\"\n";
    let change = json!({ "textDocument": { "uri": job, "version": 2 }, "contentChanges": [{ "text": text }] });
    client.tell("textDocument/didChange", change);
    assert_eq!(client.findings(), Vec::<Value>::new());
    let place = json!({ "textDocument": { "uri": job }, "position": { "line": 0, "character": 2 } });
    assert_eq!(client.ask("textDocument/hover", place.clone()), Value::Null);
    assert_eq!(client.ask("textDocument/completion", place), Value::Null);
    let found =
        open(&mut client, "file:///folder/d.toml", "toml", "programs = [\"a.vsh\", \"a.psh\"]\nsize = [0, \"x\"]\n");
    assert!(found.iter().any(|finding| finding["range"]["start"]["line"] == 1), "{found:?}");
    assert_eq!(open(&mut client, "file:///folder/Cargo.toml", "toml", "[package]\nname = 5\n"), Vec::<Value>::new());
    let found = open(&mut client, "file:///folder/s.psh", "plaintext", "ps_3_0\ndef c0, 1, 2, 3, 4\nmvo oC0, c0\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"]["start"]["line"], 2);
    client.goodbye();
}

fn framed(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Every message that the server sends for an input, and how it ends.
fn spoken(input: &[u8]) -> (Vec<Value>, std::process::ExitStatus) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut pipe, input) = (server.stdin.take().unwrap(), input.to_vec());
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let ended = server.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    let mut rest = ended.stdout.as_slice();
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let head = rest.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let length = std::str::from_utf8(&rest[..head]).unwrap().strip_prefix("Content-Length: ").unwrap();
        let end = head + 4 + length.parse::<usize>().unwrap();
        messages.push(serde_json::from_slice(&rest[head + 4..end]).unwrap());
        rest = &rest[end..];
    }
    (messages, ended.status)
}

/// JSON-RPC 2.0 §5.1: -32700 is a text that is no JSON, -32600 one that is no request; the protocol has -32002 for a request before `initialize`.
#[test]
fn messages_that_are_none_are_answered_and_the_server_goes_on() {
    let hello = json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": { "capabilities": {} } });
    let item = json!({ "uri": URI, "languageId": "ctm-x1k", "version": 1, "text": " mov o0, r0\n" });
    let bad: [(Vec<u8>, Value, i32); 11] = [
        (framed("{x"), Value::Null, -32700),
        (framed("\u{1}"), Value::Null, -32700),
        (framed(&"[".repeat(100_000)), Value::Null, -32700),
        (b"Content-Length: eight\r\n\r\n{}".to_vec(), Value::Null, -32700),
        (framed(&format!("\"{}\"", "x".repeat(16 << 20))), Value::Null, -32700),
        (framed("[]"), Value::Null, -32600),
        (b"Content-Type: none\r\n\r\n".to_vec(), Value::Null, -32700),
        (framed("{}"), Value::Null, -32600),
        (framed(r#"{"id":7}"#), json!(7), -32600),
        (framed(r#"{"id":{},"method":"shutdown"}"#), Value::Null, -32600),
        (framed(r#"{"id":8,"method":"textDocument/hover","params":[1]}"#), json!(8), -32602),
    ];
    let mut input = framed(r#"{"id":1,"method":"textDocument/hover"}"#);
    input.extend(framed(r#"{"id":2,"method":"initialize","params":5}"#));
    input.extend(framed(&hello.to_string()));
    input.extend(framed(r#"{"method":"initialized","params":{}}"#));
    bad.iter().for_each(|(bytes, ..)| input.extend(bytes));
    input.extend(framed(r#"{"method":"textDocument/didOpen","params":{"textDocument":3}}"#));
    input.extend(framed(&json!({ "method": "textDocument/didOpen", "params": { "textDocument": item } }).to_string()));
    input.extend(framed(r#"{"id":9,"method":"shutdown"}"#));
    input.extend(framed(r#"{"id":10,"method":"shutdown"}"#));
    input.extend(framed(r#"{"method":"exit"}"#));
    let (said, status) = spoken(&input);
    let mut said = said.into_iter();
    let mut next = || said.next().unwrap();
    let refused = |message: &Value| (message["id"].clone(), message["error"]["code"].as_i64().unwrap_or(0));
    assert_eq!(refused(&next()), (json!(1), -32002));
    assert_eq!(refused(&next()), (json!(2), -32602));
    let first = next();
    assert_eq!((&first["id"], &first["result"]["serverInfo"]["name"]), (&json!("first"), &json!("ctm")));
    for (bytes, id, code) in bad {
        let message = next();
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert_eq!(refused(&message), (id, i64::from(code)), "{shown}: {message}");
    }
    assert_eq!(next()["method"], "window/logMessage");
    assert_eq!(next()["params"]["diagnostics"], json!([]));
    assert_eq!((next()["result"].take(), refused(&next())), (Value::Null, (json!(10), -32600)));
    assert!(said.next().is_none() && status.success(), "{status}");
}

#[test]
fn lengths_that_no_message_has_are_refused() {
    for length in ["18446744073709551615", "99999999999999", "18446744073709551616"] {
        let (said, status) = spoken(format!("Content-Length: {length}\r\n\r\n{{}}").as_bytes());
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0]["error"]["code"], -32700, "{said:?}");
        assert!(status.code().is_some_and(|code| code < 100), "{length}: {status}");
    }
}
