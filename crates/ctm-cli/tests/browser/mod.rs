//! A server of the page, and Chromium by its DevTools protocol.
#![allow(dead_code, reason = "each test uses a part")]

use ctm::array::{Array, ArrayFileKind, Values};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub struct Server {
    pub process: Child,
    pub port: u16,
    pub token: String,
}

impl Server {
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// With files of a user.
    pub fn with(files: &[String]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_ctm"))
            .arg("serve")
            .args(files)
            .current_dir(captures())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once('/').unwrap();
        let token = token.trim_end_matches('/').to_owned();
        assert_eq!(token.len(), 32);
        Self { port: port.parse().unwrap(), token, process }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Sends a request as it is; the status and all of the answer.
    pub fn raw(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    pub fn get(&self, path: &str, host: &str, more: &str) -> (u16, String) {
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"))
    }

    pub fn ask(&self, name: &str, question: &Value) -> Value {
        let body = question.to_string();
        let (status, answer) = self.raw(&format!(
            "POST /{}/api/{name} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            self.port,
            body.len()
        ));
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Chromium by its DevTools protocol, over a pipe.
pub struct Browser {
    pub process: Child,
    pub input: ChildStdin,
    pub output: BufReader<ChildStdout>,
    pub number: u64,
    pub session: Option<String>,
    pub requests: Vec<String>,
    pub profile: PathBuf,
    /// One browser at a time, and one profile.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Browser {
    pub fn start() -> Option<Self> {
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|program| {
            Command::new(program)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success())
        })?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = std::env::temp_dir().join(format!("ctm-chromium-{}", std::process::id()));
        std::fs::create_dir_all(&profile).unwrap();
        // It reads commands from descriptor 3 and writes to 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", program])
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--window-size=1280,860",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Some(Self { process, input, output, number: 0, session: None, requests: Vec::new(), profile, _turn: turn })
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            assert!(self.output.read_until(0, &mut bytes).unwrap() > 0, "the browser has gone");
            let message: Value = serde_json::from_slice(&bytes[..bytes.len() - 1]).unwrap();
            if message["method"] == "Network.requestWillBeSent" {
                self.requests.push(message["params"]["request"]["url"].as_str().unwrap().to_owned());
            }
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    pub fn open(&mut self, address: &str) {
        self.session = None;
        let target = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = self.ask("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        self.ask("Network.enable", json!({}));
        self.ask("Page.enable", json!({}));
        self.ask("Page.navigate", json!({ "url": address }));
    }

    /// The value of an expression.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let result = self
            .ask("Runtime.evaluate", json!({ "expression": expression, "awaitPromise": true, "returnByValue": true }));
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let began = Instant::now();
        while self.evaluate(&format!("Boolean({expression})")) != true {
            let all = "document.body ? document.body.innerText.slice(0, 800) : ''";
            assert!(began.elapsed() < Duration::from_secs(60), "{expression}: {}", self.evaluate(all));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The page as a picture.
    pub fn picture(&mut self) -> Array {
        Array::from_bytes(ArrayFileKind::Png, &self.png(), None).unwrap()
    }

    /// The page as the bytes of a PNG.
    pub fn png(&mut self) -> Vec<u8> {
        let taken = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let digit = |c: u8| match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut bytes = Vec::new();
        for four in taken["data"].as_str().unwrap().trim_end_matches('=').as_bytes().chunks(4) {
            let bits = four.iter().fold(0u32, |bits, &c| bits << 6 | u32::from(digit(c)));
            let bits = bits << (6 * (4 - four.len()));
            bytes.extend(&bits.to_be_bytes()[1..four.len()]);
        }
        bytes
    }

    /// The means of the page's squares of 16 pixels: columns, rows, red, green and blue of each.
    fn means(&mut self) -> (usize, usize, Vec<u8>) {
        const SIDE: usize = 16;
        let page = self.picture();
        let values = page.to_f32();
        let (columns, rows) = (page.width.div_ceil(SIDE), page.height.div_ceil(SIDE));
        let mut means = Vec::with_capacity(columns * rows * 3);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            for channel in 0..3 {
                let (mut sum, mut count) = (0.0, 0.0f32);
                for y in row * SIDE..((row + 1) * SIDE).min(page.height) {
                    for x in column * SIDE..((column + 1) * SIDE).min(page.width) {
                        sum += values[(y * page.width + x) * page.channels + channel];
                        count += 1.0;
                    }
                }
                means.push((255.0 * sum / count).round() as u8);
            }
        }
        (columns, rows, means)
    }

    /// Compares the page with a golden picture of the means of its squares; CTM_WRITE writes it. Letters of other fonts change a square little; a missing part,
    /// another place or another colour changes many much. A busy machine paints late: the page has some seconds to become the picture.
    pub fn golden(&mut self, name: &str) {
        let path = root().join(format!("crates/ctm-cli/tests/browser/golden/{name}.png"));
        if std::env::var_os("CTM_WRITE").is_some() {
            // Colours of a long text come a little later than the text.
            std::thread::sleep(Duration::from_secs(2));
            let (width, height, means) = self.means();
            let small = Array { width, height, channels: 3, values: Values::U8(means) };
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, small.to_bytes(ArrayFileKind::Png).unwrap()).unwrap();
            return;
        }
        let known = Array::from_bytes(ArrayFileKind::Png, &std::fs::read(&path).unwrap(), None).unwrap();
        let size = (known.width, known.height);
        let known: Vec<u8> = known.to_f32().iter().map(|value| (255.0 * value).round() as u8).collect();
        let last = Instant::now() + Duration::from_secs(10);
        loop {
            let (columns, rows, means) = self.means();
            assert_eq!(size, (columns, rows), "{name}: CTM_WRITE=1 writes it");
            let apart: Vec<u8> = known.iter().zip(&means).map(|(a, b)| a.abs_diff(*b)).collect();
            let much = apart.chunks(3).filter(|of| of.iter().any(|&n| n > 48)).count();
            let mean = apart.iter().map(|&n| f64::from(n)).sum::<f64>() / apart.len() as f64;
            if much * 100 < 4 * columns * rows && mean < 6.0 {
                return;
            }
            assert!(
                Instant::now() < last,
                "{name}: {much} of {} squares differ, {mean:.1} on average; CTM_WRITE=1 writes it",
                columns * rows
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Saves the page to CTM_SCREENSHOTS.
    pub fn screenshot(&mut self, name: &str) {
        let Some(directory) = std::env::var_os("CTM_SCREENSHOTS") else { return };
        let taken = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let path = PathBuf::from(directory).join(format!("{name}.base64"));
        std::fs::write(path, taken["data"].as_str().unwrap()).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where servers run.
pub fn captures() -> PathBuf {
    root().join("crates/ctm-radeon/tests/captures")
}

pub fn captured() -> String {
    "plasma.capture".to_owned()
}

/// A recording of two launches: the histogram example.
pub fn recorded(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for file in std::fs::read_dir(root().join("examples/histogram")).unwrap().flatten() {
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let tape = folder.join("tape");
    let _ = std::fs::remove_file(&tape);
    let run = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .arg("run")
        .arg(folder.join("job.toml"))
        .env("CTM_RECORD", &tape)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    tape.display().to_string()
}
