//! `ctm dap` as an editor speaks with it: over its pipes, message by message.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

struct Client {
    adapter: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    number: u64,
    events: Vec<Value>,
}

impl Client {
    fn start() -> Self {
        let mut adapter = Command::new(env!("CARGO_BIN_EXE_ctm"))
            .arg("dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (adapter.stdin.take(), BufReader::new(adapter.stdout.take().unwrap()));
        let mut client = Self { adapter, input, output, number: 0, events: Vec::new() };
        let capabilities = client.ask("initialize", json!({ "adapterID": "ctm" }));
        assert_eq!(capabilities["supportsStepBack"], true);
        client
    }

    fn send(&mut self, command: &str, arguments: Value) {
        self.number += 1;
        let body =
            json!({ "seq": self.number, "type": "request", "command": command, "arguments": arguments }).to_string();
        write!(self.input.as_mut().unwrap(), "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the adapter has gone");
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap(),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn try_ask(&mut self, command: &str, arguments: Value) -> Result<Value, String> {
        self.send(command, arguments);
        loop {
            let message = self.read();
            if message["type"] == "event" {
                self.events.push(message);
                continue;
            }
            assert_eq!((&message["request_seq"], &message["command"]), (&json!(self.number), &json!(command)));
            return if message["success"] == true {
                Ok(message["body"].clone())
            } else {
                Err(message["message"].as_str().unwrap().to_owned())
            };
        }
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.try_ask(command, arguments).unwrap_or_else(|why| panic!("{command}: {why}"))
    }

    /// The next event of a name.
    fn event(&mut self, name: &str) -> Value {
        if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
            return self.events.remove(at)["body"].clone();
        }
        loop {
            let message = self.read();
            assert_eq!(message["type"], "event", "{message}");
            if message["event"] == name {
                return message["body"].clone();
            }
            self.events.push(message);
        }
    }

    fn launch(&mut self, arguments: Value) {
        self.ask("launch", arguments);
        self.event("initialized");
    }

    /// The line of a lane, and the name of the frame.
    fn line(&mut self, thread: u64) -> (u64, String) {
        let stack = self.ask("stackTrace", json!({ "threadId": thread }));
        let frame = &stack["stackFrames"][0];
        (frame["line"].as_u64().unwrap(), frame["name"].as_str().unwrap().to_owned())
    }

    /// The variables of a scope, by name.
    fn scope(&mut self, thread: u64, name: &str) -> Vec<(String, String, u64)> {
        let stack = self.ask("stackTrace", json!({ "threadId": thread }));
        let scopes = self.ask("scopes", json!({ "frameId": stack["stackFrames"][0]["id"] }));
        let scope = scopes["scopes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["name"] == name)
            .unwrap_or_else(|| panic!("{scopes}"))
            .clone();
        self.variables(scope["variablesReference"].as_u64().unwrap())
    }

    fn variables(&mut self, reference: u64) -> Vec<(String, String, u64)> {
        let variables = self.ask("variables", json!({ "variablesReference": reference }));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |v: &Value| (text(&v["name"]), text(&v["value"]), v["variablesReference"].as_u64().unwrap());
        variables["variables"].as_array().unwrap().iter().map(of).collect()
    }

    fn goodbye(mut self) {
        self.ask("disconnect", json!({}));
        drop(self.input.take());
        assert!(self.adapter.wait().unwrap().success());
    }
}

#[test]
fn an_editor_steps_both_ways() {
    let mut client = Client::start();
    let program = root().join("examples/mandelbrot/mandelbrot.x1k").display().to_string();
    client.launch(
        json!({ "program": root().join("examples/mandelbrot/job.toml"), "at": "120,200", "stopOnEntry": true }),
    );
    let source = json!({ "path": program });
    let wanted = json!([{ "line": 24 }, { "line": 25, "condition": "r3.a >= 4" }, { "line": 9999 }, { "line": 24, "condition": "r3 > 4" }]);
    let set = client.ask("setBreakpoints", json!({ "source": source, "breakpoints": wanted }));
    let verified: Vec<&Value> = set["breakpoints"].as_array().unwrap().iter().map(|b| &b["verified"]).collect();
    assert_eq!(verified, [&json!(true), &json!(true), &json!(false), &json!(false)], "{set}");
    assert!(set["breakpoints"][3]["message"].as_str().unwrap().contains("channel"), "{set}");
    let other =
        client.ask("setBreakpoints", json!({ "source": { "path": "/nowhere.x1k" }, "breakpoints": [{ "line": 1 }] }));
    assert_eq!(other["breakpoints"][0]["verified"], false);
    client.ask("setExceptionBreakpoints", json!({ "filters": ["nan"] }));
    client.ask("configurationDone", json!({}));
    let stopped = client.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["threadId"]), (&json!("entry"), &json!(1)));

    let threads = client.ask("threads", json!({}));
    assert_eq!(threads["threads"].as_array().unwrap().len(), 16);
    assert_eq!(threads["threads"][0]["name"], "lane 0 (120, 200): running");

    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(client.line(1), (24, "8: break res".to_owned()));
    let temporaries = client.scope(1, "Temporaries");
    let r3 = temporaries.iter().find(|v| v.0 == "r3").unwrap();
    let channels = client.variables(r3.2);
    assert_eq!(channels[3], ("r3.a".into(), "1  0x3f800000  1065353216".into(), 0));
    assert!(client.try_ask("variables", json!({ "variablesReference": 999 })).is_err());

    // The second breakpoint counts only in the fourth turn.
    client
        .ask("setBreakpoints", json!({ "source": source, "breakpoints": [{ "line": 25, "condition": "r3.a >= 4" }] }));
    client.ask("continue", json!({ "threadId": 1 }));
    client.event("stopped");
    let evaluated = client.ask("evaluate", json!({ "expression": "r3.a", "context": "watch" }));
    assert_eq!(evaluated["result"], "4  0x40800000  1082130432");
    let lanes = client.scope(1, "Lanes");
    assert!(lanes[0].1.contains("has left loop 1") && lanes[15].1 == "running", "{lanes:?}");

    // Backwards, and the console's commands.
    client.ask("stepBack", json!({ "threadId": 1 }));
    client.event("stopped");
    assert_eq!(client.line(1).0, 24);
    let said = client.ask("evaluate", json!({ "expression": "masks", "context": "repl" }));
    assert!(said["result"].as_str().unwrap().starts_with("  [#] #"), "{said}");
    assert!(
        client
            .try_ask("evaluate", json!({ "expression": "frob", "context": "repl" }))
            .unwrap_err()
            .contains("no command")
    );
    client.ask("setBreakpoints", json!({ "source": source, "breakpoints": [] }));
    client.ask("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["reason"], "entry");

    // Watched places stop.
    let data = client.ask("dataBreakpointInfo", json!({ "name": "o0.r" }));
    client.ask("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": data["dataId"] }] }));
    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["reason"], "data breakpoint");
    client.ask("stepBack", json!({ "threadId": 1 }));
    client.event("stopped");
    let next = client.scope(1, "Next instruction");
    assert!(next.iter().any(|v| v.0 == "writes o0.r"), "{next:?}");
    client.goodbye();
}

#[test]
fn values_can_be_set_and_the_end_is_said() {
    let mut client = Client::start();
    client.launch(
        json!({ "program": root().join("examples/r700/mandelbrot/job.toml"), "at": [120, 200], "stopOnEntry": false }),
    );
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    client.ask("configurationDone", json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "end", "{stopped}");
    client.ask("restart", json!({}));
    client.event("stopped");
    let set = client.ask("setVariable", json!({ "variablesReference": 1, "name": "R0.x", "value": "3.5" }));
    assert_eq!(set["value"], "3.5  0x40600000  1080033280");
    assert!(
        client.try_ask("setVariable", json!({ "variablesReference": 1, "name": "R0.x", "value": "much" })).is_err()
    );
    for (command, reason) in [("stepIn", "step"), ("next", "step"), ("stepOut", "end")] {
        client.ask(command, json!({ "threadId": 1 }));
        assert_eq!(client.event("stopped")["reason"], reason, "{command}");
    }
    client.ask("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.goodbye();
}

#[test]
fn what_is_wrong_is_said() {
    let mut client = Client::start();
    for (arguments, why) in [
        (json!({}), "`program` is missing"),
        (json!({ "program": "/nowhere.toml" }), "nowhere.toml"),
        (json!({ "program": root().join("examples/mandelbrot/job.toml"), "at": "x" }), "no processor"),
        (json!({ "program": root().join("examples/mandelbrot/job.toml"), "at": "4000,1" }), "not in the domain"),
        (json!({ "program": root().join("examples/mandelbrot/job.toml"), "isa": "r800" }), "x1k and r700"),
        (json!({ "program": root().join("examples/mandelbrot/job.toml"), "pass": "one" }), "number"),
        (json!({ "program": root().join("README.md"), "flags": { "size": "x" } }), ""),
    ] {
        let said = client.try_ask("launch", arguments.clone()).unwrap_err();
        assert!(said.contains(why), "{arguments}: {said}");
    }
    assert!(client.try_ask("configurationDone", json!({})).is_err());
    assert!(client.try_ask("stackTrace", json!({ "threadId": 1 })).unwrap_err().contains("needs a program"));
    assert!(client.try_ask("frobnicate", json!({})).is_err());
    // The client is informed of malformed messages, and the next message is answered.
    for (bytes, why) in [
        ("Content-Length: 2\r\n\r\n{x", "no JSON"),
        ("Content-Length: 16777217\r\n\r\n", "at most 16777216"),
        ("Content-Length: two\r\n\r\n", "no number"),
    ] {
        let input = client.input.as_mut().unwrap();
        input.write_all(bytes.as_bytes()).unwrap();
        if why.starts_with("at most") {
            input.write_all(&[b' '; 16_777_217]).unwrap();
        }
        let said = client.event("output")["output"].as_str().unwrap().to_owned();
        assert!(said.contains(why), "{bytes}: {said}");
        assert_eq!(client.ask("threads", json!({})), json!({ "threads": [] }));
    }
    client.goodbye();
}

/// A loop that takes long: `pause` stops it, and a client that goes away ends it.
#[test]
fn what_runs_can_be_paused_and_left() {
    let directory = std::env::temp_dir().join(format!("ctm-dap-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let program = directory.join("long.x1k");
    let text = ".int t = i0 (255, 0, 0)\n rep t\n rep t\n rep t\n rep t\n add r1, r1, 1\n endrep\n endrep\n endrep\n endrep\n mov o0, r1\n";
    std::fs::write(&program, text).unwrap();
    let launch = |client: &mut Client| {
        client.launch(json!({ "program": program, "flags": { "size": "4x4", "out": "o0=x.npy" } }));
        // A condition wants values, which takes its time.
        client.ask(
            "setBreakpoints",
            json!({ "source": { "path": program }, "breakpoints": [{ "line": 6, "condition": "r1.r < 0" }] }),
        );
        client.ask("configurationDone", json!({}));
        client.event("stopped");
        client.ask("continue", json!({ "threadId": 1 }));
    };
    let mut client = Client::start();
    launch(&mut client);
    client.ask("pause", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["reason"], "pause");
    client.goodbye();

    let mut client = Client::start();
    launch(&mut client);
    drop(client.input.take());
    assert!(client.adapter.wait().unwrap().code().is_some());
    std::fs::remove_dir_all(directory).unwrap();
}

/// The DAP project's own client, where npm has put it (`npm install` in editors/vscode).
#[test]
fn the_published_test_client_is_content() {
    let editor = root().join("editors/vscode");
    if !editor.join("node_modules/@vscode/debugadapter-testsupport").is_dir() {
        println!("skipped: @vscode/debugadapter-testsupport is not there; `npm install` in editors/vscode brings it");
        return;
    }
    let output =
        Command::new("node").arg(editor.join("test/dap.js")).arg(env!("CARGO_BIN_EXE_ctm")).arg(root()).output();
    let Ok(output) = output else {
        println!("skipped: there is no node");
        return;
    };
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
}
