//! `ctm serve`: the page by its own protocol, and in Chromium where there is one.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

struct Server {
    process: Child,
    port: u16,
    token: String,
}

impl Server {
    fn start() -> Self {
        Self::with(&[])
    }

    /// With files of a user.
    fn with(files: &[String]) -> Self {
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

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Sends a request as it is; the status and all of the answer.
    fn raw(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    fn get(&self, path: &str, host: &str, more: &str) -> (u16, String) {
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"))
    }

    fn ask(&self, name: &str, question: &Value) -> Value {
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

#[test]
fn only_this_machine_and_only_who_knows_the_address() {
    let server = Server::start();
    let own = format!("127.0.0.1:{}", server.port);
    let page = format!("/{}/", server.token);
    let (status, answer) = server.get(&page, &own, "");
    assert_eq!(status, 200);
    assert!(answer.contains("Content-Security-Policy: default-src 'none'") && answer.contains("</html>"));
    assert!(!answer.contains("src=\"http") && !answer.contains("href=\"http"), "nothing comes from elsewhere");
    assert_eq!(server.get("/", &own, "").0, 404);
    assert_eq!(server.get("/0123456789abcdef0123456789abcdef/", &own, "").0, 404);
    for host in ["example.org", "127.0.0.1", "localhost:1", &format!("evil.localhost:{}", server.port), ""] {
        assert_eq!(server.get(&page, host, "").0, 403, "{host}");
    }
    assert_eq!(server.get(&page, &own, "Origin: http://example.org\r\n").0, 403);
    assert_eq!(server.get(&page, &own, &format!("Origin: http://{own}\r\n")).0, 200);
    assert_eq!(server.raw("nonsense\r\n\r\n").0, 400);
    assert_eq!(server.raw(&format!("PUT {page} HTTP/1.1\r\nHost: {own}\r\n\r\n")).0, 405);
    // Another address of this machine is not listened on.
    let port = server.port;
    assert!(TcpStream::connect_timeout(&([127, 0, 0, 2], port).into(), Duration::from_secs(1)).is_err());
}

#[test]
fn questions_are_answered_and_clients_may_go() {
    let server = Server::start();
    let entries = server.ask("entries", &json!({}));
    assert_eq!(entries["entries"][0], "mandelbrot");
    let found = server.ask("check", &json!({ "language": "ctm-x1k", "text": "; ü\n mvo o0, r0\n" }));
    assert_eq!(found["findings"][0]["from"], 5, "{found}");
    assert!(server.ask("run", &json!({ "entry": "none" }))["error"].is_string());

    // Abandoned requests are not finished, and others are served meanwhile.
    let program = ".int t = i0 (255, 0, 0)\n rep t\n rep t\n rep t\n rep t\n add r1, r1, 1\n endrep\n endrep\n endrep\n endrep\n mov o0, r1\n";
    let body = json!({ "entry": "mandelbrot", "files": { "mandelbrot.x1k": program, "job.toml": "program = \"mandelbrot.x1k\"\ndomain = [0, 0, 511, 511]\n[[output]]\nslot = 0\n" } });
    let body = body.to_string();
    let request = format!(
        "POST /{}/api/run HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {}\r\n\r\n{body}",
        server.token,
        server.port,
        body.len()
    );
    let mut clients: Vec<TcpStream> = (0..6).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    clients.iter_mut().for_each(|client| client.write_all(request.as_bytes()).unwrap());
    // Half a request, and a connection that says nothing.
    let mut half = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    half.write_all(b"POST / HTTP/1.1\r\nContent-").unwrap();
    let _silent = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(clients);
    let began = Instant::now();
    let saxpy = server.ask("run", &json!({ "entry": "saxpy" }));
    assert!(saxpy["outputs"][0]["picture"].as_str().unwrap().starts_with("data:image/png;base64,iVBOR"), "{saxpy}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // The directories of runs are gone.
    std::thread::sleep(Duration::from_secs(2));
    let name = format!("ctm-page-{}-", server.process.id());
    let left = || {
        std::fs::read_dir(std::env::temp_dir())
            .unwrap()
            .filter(|e| e.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().starts_with(&name)))
            .count()
    };
    let began = Instant::now();
    while left() > 0 {
        assert!(began.elapsed() < Duration::from_secs(20), "{} directories", left());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Ctrl-C, with connections that say nothing, one whose body does not come, and a run under way.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_whatever_is_open() {
    let mut server = Server::start();
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let silent: Vec<TcpStream> = (0..200).map(|_| connect()).collect();
    let program = ".int t = i0 (255, 0, 0)\n rep t\n rep t\n rep t\n rep t\n add r1, r1, 1\n endrep\n endrep\n endrep\n endrep\n mov o0, r1\n";
    let body = json!({ "entry": "mandelbrot", "files": { "mandelbrot.x1k": program } }).to_string();
    let head = |length: usize| {
        format!(
            "POST /{}/api/run HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {length}\r\n\r\n",
            server.token, server.port
        )
    };
    let (mut running, mut half) = (connect(), connect());
    running.write_all(format!("{}{body}", head(body.len())).as_bytes()).unwrap();
    half.write_all(head(1000).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let since = Instant::now();
    let process = server.process.id().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    let status = loop {
        if let Some(status) = server.process.try_wait().unwrap() {
            break status;
        }
        assert!(since.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
    drop((silent, running, half));
}

/// Sixteen bodies of 32 MiB and as many large runs: memory stays within the budget and the program's own.
#[cfg(target_os = "linux")]
#[test]
fn many_large_requests_share_one_memory() {
    let server = Server::with(&["--memory".to_owned(), "256".to_owned()]);
    let job = "program = \"mandelbrot.x1k\"\ndomain = [0, 0, 1023, 1023]\n[[output]]\nslot = 0\n";
    let run =
        json!({ "entry": "mandelbrot", "files": { "job.toml": job, "mandelbrot.x1k": "mov o0, r0\n" } }).to_string();
    let text = format!("{{\"text\":\"{}\"}}", "a b c d ".repeat((4 << 20) - 8));
    let ask = |name: &str, body: &str| {
        let head = format!(
            "POST /{}/api/{name} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Length: {}\r\n\r\n",
            server.token,
            server.port,
            body.len()
        );
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        // A request that is refused may not be read to its end.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        let mut start = [0; 12];
        stream.read_exact(&mut start).map(|()| String::from_utf8_lossy(&start[9..]).into_owned())
    };
    let statuses: Vec<String> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..32)
            .map(|n| {
                let (ask, text, run) = (&ask, &text, &run);
                scope.spawn(move || if n % 2 == 0 { ask("check", text) } else { ask("run", run) })
            })
            .collect();
        asked.into_iter().map(|asked| asked.join().unwrap().unwrap_or_default()).collect()
    });
    assert!(statuses.iter().all(|status| ["200", "503", "408", ""].contains(&status.as_str())), "{statuses:?}");
    assert!(statuses.iter().any(|status| status == "200"), "{statuses:?}");
    let most = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
    let most = most.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().trim_end_matches(" kB");
    let most: usize = most.parse().unwrap();
    assert!(most < 512 << 10, "{most} kB");
    assert!(server.ask("run", &json!({ "entry": "saxpy" }))["outputs"].is_array());
}

/// Resources of a process: threads, open files, and memory in kilobytes.
#[cfg(target_os = "linux")]
fn has(process: u32) -> [usize; 3] {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    [line("Threads:"), std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count(), line("VmRSS:")]
}

/// Two clients, each asking on and on with connections that it keeps open or leaves: afterwards the server is as it was.
#[cfg(target_os = "linux")]
#[test]
fn a_page_that_stays_open_leaks_nothing() {
    let server = Server::start();
    let round = |rounds: usize| {
        std::thread::scope(|scope| {
            for client in 0..2 {
                let server = &server;
                scope.spawn(move || {
                    let silent: Vec<TcpStream> =
                        (0..4).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
                    for n in 0..rounds {
                        let found = server
                            .ask("check", &json!({ "language": "ctm-x1k", "text": " mov o0, r0\n".repeat(n % 50) }));
                        assert!(found["findings"].is_array(), "{found}");
                        let at = json!({ "entry": "saxpy", "at": [client, n % 8] });
                        assert!(server.ask("trace", &at)["error"].is_null());
                        if n % 8 == 0 {
                            let ran = server.ask("run", &json!({ "entry": "saxpy" }));
                            assert!(ran["outputs"].is_array(), "{ran}");
                        }
                    }
                    drop(silent);
                });
            }
        });
    };
    // One-time allocations exist after the first rounds.
    round(20);
    let began = Instant::now();
    let mut before = has(server.process.id());
    while began.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(300));
        before = has(server.process.id());
    }
    round(120);
    let began = Instant::now();
    loop {
        let now = has(server.process.id());
        let [threads, files, memory] = [0, 1, 2].map(|n| now[n].saturating_sub(before[n]));
        if threads == 0 && files == 0 && memory < 16 << 10 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(40), "before {before:?}, now {now:?}");
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// Chromium by its DevTools protocol, over a pipe.
struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: u64,
    session: Option<String>,
    requests: Vec<String>,
    profile: PathBuf,
}

impl Browser {
    fn start() -> Option<Self> {
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|program| {
            Command::new(program)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success())
        })?;
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
        Some(Self { process, input, output, number: 0, session: None, requests: Vec::new(), profile })
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
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

    fn open(&mut self, address: &str) {
        self.session = None;
        let target = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = self.ask("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        self.ask("Network.enable", json!({}));
        self.ask("Page.enable", json!({}));
        self.ask("Page.navigate", json!({ "url": address }));
    }

    /// The value of an expression.
    fn evaluate(&mut self, expression: &str) -> Value {
        let result = self
            .ask("Runtime.evaluate", json!({ "expression": expression, "awaitPromise": true, "returnByValue": true }));
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    fn until(&mut self, expression: &str) {
        let began = Instant::now();
        while self.evaluate(&format!("Boolean({expression})")) != true {
            let all = "document.body ? document.body.innerText.slice(0, 800) : ''";
            assert!(began.elapsed() < Duration::from_secs(60), "{expression}: {}", self.evaluate(all));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Saves the page to CTM_SCREENSHOTS.
    fn screenshot(&mut self, name: &str) {
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

#[test]
fn the_page_works_in_a_browser() {
    let Some(mut browser) = Browser::start() else {
        println!("skipped: there is no Chromium (Debian's package `chromium`)");
        return;
    };
    let server = Server::start();
    browser.open(&server.address());
    // The first example has run.
    browser.until("document.querySelector('#picture img')");
    browser.until("document.querySelectorAll('.cm-line').length > 10");
    browser.screenshot("page");

    // A mistake, typed: the finding is there, and goes with it.
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(), at = t.indexOf('frc   t.rgb'); e.dispatch({ changes: { from: at, to: at + 3, insert: 'frq' } }); })()");
    browser.until("document.querySelector('#findings .error')");
    let said = browser.evaluate("document.querySelector('#findings').innerText");
    assert!(said.as_str().unwrap().contains("frq") && said.as_str().unwrap().contains("did you mean"), "{said}");
    browser.until("document.querySelector('.cm-lintRange-error')");
    browser.screenshot("finding");
    browser.evaluate("document.querySelector('#run').click()");
    browser.until("document.querySelector('#picture [role=alert]')");
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(), at = t.indexOf('frq'); e.dispatch({ changes: { from: at, to: at + 3, insert: 'frc' } }); })()");
    browser.until("!document.querySelector('#findings .error')");

    // Run, by the keyboard.
    for kind in ["keyDown", "keyUp"] {
        browser.evaluate("ctm.editor().focus()");
        browser.ask(
            "Input.dispatchKeyEvent",
            json!({ "type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": 2 }),
        );
    }
    browser.until(
        "document.querySelector('#picture img') && document.querySelector('#status').innerText.includes('done in')",
    );

    // A pixel, clicked: its steps.
    browser.evaluate("(() => { const i = document.querySelector('#picture img'), b = i.getBoundingClientRect(); i.dispatchEvent(new MouseEvent('click', { clientX: Math.round(b.left + i.clientLeft + i.clientWidth * 120.5 / 512), clientY: Math.round(b.top + i.clientTop + i.clientHeight * 200.5 / 512) })); })()");
    browser.until("ctm.steps() && ctm.state.trace && !document.querySelector('#steps').hidden");
    assert_eq!(browser.evaluate("ctm.state.at.join()"), "120,200");
    // The slider: other masks, other registers, another line.
    let before = browser.evaluate("[...document.querySelectorAll('.mask button')].map(b => b.textContent).join('')");
    browser.evaluate(
        "(() => { const s = document.querySelector('#time'); s.value = 24; s.dispatchEvent(new Event('input')); })()",
    );
    let after = browser.evaluate("[...document.querySelectorAll('.mask button')].map(b => b.textContent).join('')");
    assert_eq!((before.as_str(), after.as_str()), (Some("################"), Some("bbbbbbbbbbbbbbb#")));
    assert!(browser.evaluate("document.querySelector('.cm-here').textContent").as_str().unwrap().contains("endrep"));
    assert_eq!(browser.evaluate("document.querySelector('#now').textContent.split(' ')[0]"), "24");
    browser.evaluate("document.querySelector('#steps [tabindex]').focus()");
    browser.ask(
        "Input.dispatchKeyEvent",
        json!({ "type": "keyDown", "key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37 }),
    );
    browser.until("document.querySelector('#now').textContent.startsWith('23')");
    browser.screenshot("steps");

    // The manual, the profile, dark, and another example.
    browser.evaluate("(() => { document.querySelector('[data-view=manual]').click(); const f = document.querySelector('#manual form'); f.querySelector('input').value = 'rcp'; f.requestSubmit(); })()");
    browser.until("document.querySelector('#manual pre').innerText.includes('1 / A')");
    browser.evaluate("document.querySelector('#theme').click()");
    browser.evaluate("(() => { const s = document.querySelector('#entries'); s.value = 'saxpy'; s.dispatchEvent(new Event('change')); })()");
    browser.until("ctm.state.entry === 'saxpy' && ctm.state.run");
    browser.evaluate("document.querySelector('[data-view=profile]').click()");
    browser.until("document.querySelectorAll('#profile tbody tr').length > 2");
    browser.screenshot("profile");

    // Shared: one file that needs no server.
    let html =
        browser.evaluate("fetch('api/share', { method: 'POST', body: JSON.stringify(ctm.state) }).then(r => r.text())");
    let file = browser.profile.join("shared.html");
    std::fs::write(&file, html.as_str().unwrap()).unwrap();

    // No request left the machine.
    let own = server.address();
    let requests = std::mem::take(&mut browser.requests);
    assert!(requests.len() > 5, "{requests:?}");
    assert!(
        requests.iter().all(|url| url.starts_with(&own) || url.starts_with("data:") || url.starts_with("blob:")),
        "{requests:?}"
    );
    drop(server);
    browser.open(&format!("file://{}", file.display()));
    browser
        .until("document.querySelectorAll('#profile tbody tr').length > 2 && document.querySelector('#picture img')");
    assert_eq!(browser.evaluate("document.querySelectorAll('#run, #share').length"), 0);
    let requests = std::mem::take(&mut browser.requests);
    assert!(requests.iter().all(|url| url.starts_with("file:") || url.starts_with("data:")), "{requests:?}");
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where servers run.
fn captures() -> PathBuf {
    root().join("crates/ctm-radeon/tests/captures")
}

fn captured() -> String {
    "plasma.capture".to_owned()
}

/// A recording of two launches: the histogram example.
fn recorded(name: &str) -> String {
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

#[test]
fn captures_and_recordings_are_answered() {
    let (capture, tape) = (captured(), recorded("answered"));
    let server = Server::with(&[capture.clone(), tape.clone()]);
    let open = server.ask("open", &json!({ "entry": capture }));
    assert_eq!((&open["given"], &open["files"]), (&"capture".into(), &json!([])));
    let draws = server.ask("launches", &json!({ "entry": capture }));
    let draws = draws["launches"].as_array().unwrap();
    assert!(draws.len() == 3 && draws[1].as_str().unwrap().starts_with("draw 2 "), "{draws:?}");
    // The first draw clears, the second one draws the picture.
    let run = |entry: &str, launch: u64| server.ask("run", &json!({ "entry": entry, "launch": launch }));
    let (clear, picture) = (run(&capture, 0), run(&capture, 1));
    assert_eq!((&picture["outputs"][0]["width"], &picture["domain"]), (&json!(64), &json!([0, 0, 63, 63])));
    assert!(clear["outputs"][0]["picture"] != picture["outputs"][0]["picture"]);
    assert!(picture["files"][0]["text"].as_str().unwrap().contains("MULADD_e"), "{picture}");
    let of = json!({ "entry": capture, "launch": 1, "at": [17, 40], "value": "PIX0.x" });
    assert!(server.ask("trace", &of)["steps"].as_array().unwrap().len() > 10);
    assert!(server.ask("why", &of)["text"].as_str().unwrap().starts_with("PIX0.x = "));
    assert!(server.ask("profile", &of)["lines"].as_array().unwrap().len() > 5);

    let open = server.ask("open", &json!({ "entry": tape }));
    assert_eq!(open["given"], "recording");
    let launches = server.ask("launches", &json!({ "entry": tape }));
    assert_eq!(launches["launches"][1], "launch 1: X1K, 10 instructions, (0, 0) to (15, 0)");
    // Scattered counts first, then their sums: as many as there are pixels.
    let (counts, sums) = (run(&tape, 0), run(&tape, 1));
    assert_eq!(counts["outputs"][0]["name"], "o0, uncached");
    assert_eq!((&sums["outputs"][0]["name"], &sums["outputs"][0]["width"]), (&"o0".into(), &json!(16)));
    assert!(sums["files"][0]["text"].as_str().unwrap().contains("end"), "{sums}");
    let of = json!({ "entry": tape, "launch": 1, "at": [3, 0], "value": "o0.r" });
    assert!(server.ask("trace", &of)["steps"].as_array().unwrap().len() > 5);
    assert!(server.ask("why", &of)["text"].as_str().unwrap().starts_with("o0.r = "));

    // Missing items.
    let wrong = |name: &str, question: Value| server.ask(name, &question)["error"].as_str().unwrap().to_owned();
    assert!(
        wrong("run", json!({ "entry": capture, "launch": 9 })).contains("there is no draw 10, there are draws 1 to 3")
    );
    assert!(wrong("run", json!({ "entry": capture })).contains("say which draw"));
    assert!(wrong("run", json!({ "entry": tape, "launch": 9 })).contains("there is no launch 9"));
    assert!(wrong("run", json!({ "entry": tape })).contains("say which launch"));
    assert!(
        wrong("trace", json!({ "entry": capture, "launch": 1, "at": [99, 0] }))
            .contains("does not run for pixel (99, 0)")
    );
    assert!(
        wrong("trace", json!({ "entry": tape, "launch": 1, "at": [99, 0] })).contains("not in the domain of launch 1")
    );
    // One that is damaged says so when it is opened, and the server goes on.
    let mut bytes = std::fs::read(captures().join(&capture)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    let damaged = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve/damaged.capture").display().to_string();
    std::fs::write(&damaged, bytes).unwrap();
    drop(server);
    let server = Server::with(std::slice::from_ref(&damaged));
    let said = server.ask("launches", &json!({ "entry": damaged }))["error"].as_str().unwrap().to_owned();
    assert!(said.contains("bad-capture"), "{said}");
    assert!(server.ask("open", &json!({ "entry": "saxpy" }))["files"].is_array());
}

#[test]
fn captures_and_recordings_in_a_browser() {
    let Some(mut browser) = Browser::start() else {
        println!("skipped: there is no Chromium (Debian's package `chromium`)");
        return;
    };
    let (capture, tape) = (captured(), recorded("browser"));
    let server = Server::with(&[capture.clone(), tape.clone()]);
    browser.open(&server.address());
    // The capture is opened at its last draw; the list has all of them.
    browser
        .until("document.querySelectorAll('#launches option').length === 3 && document.querySelector('#picture img')");
    assert_eq!(browser.evaluate("document.querySelector('#which').hidden"), false);
    assert_eq!(browser.evaluate("document.querySelector('#launches').value"), "2");
    browser.evaluate("(() => { const l = document.querySelector('#launches'); l.value = '1'; l.dispatchEvent(new Event('change')); })()");
    browser.until("ctm.state.launch === 1 && ctm.state.run && document.querySelector('#picture img')");
    browser.until("[...document.querySelectorAll('.cm-line')].some(l => l.textContent.includes('MULADD_e'))");
    assert_eq!(browser.evaluate("ctm.editor().state.readOnly"), true);
    browser.screenshot("capture");
    // A pixel, its steps, the slider, and the line in the text.
    browser.evaluate("(() => { const i = document.querySelector('#picture img'), b = i.getBoundingClientRect(); i.dispatchEvent(new MouseEvent('click', { clientX: Math.round(b.left + i.clientLeft + i.clientWidth * 17.5 / 64), clientY: Math.round(b.top + i.clientTop + i.clientHeight * 40.5 / 64) })); })()");
    browser.until("ctm.steps() && ctm.state.trace && !document.querySelector('#steps').hidden");
    assert_eq!(browser.evaluate("ctm.state.at.join()"), "17,40");
    browser.evaluate(
        "(() => { const s = document.querySelector('#time'); s.value = 5; s.dispatchEvent(new Event('input')); })()",
    );
    browser.until("document.querySelector('#now').textContent.startsWith('5') && document.querySelector('.cm-here')");
    assert_eq!(browser.evaluate("document.querySelectorAll('.mask button').length"), 64);
    browser.screenshot("capture-steps");
    browser.evaluate("document.querySelector('[data-view=profile]').click()");
    browser.until("document.querySelectorAll('#profile tbody tr').length > 5");

    // The recording: two launches.
    browser.evaluate(&format!(
        "(() => {{ const s = document.querySelector('#entries'); s.value = {}; s.dispatchEvent(new Event('change')); }})()",
        json!(tape)
    ));
    browser.until("ctm.state.given === 'recording' && ctm.state.run && ctm.state.launch === 1");
    browser.evaluate("(() => { const l = document.querySelector('#launches'); l.value = '0'; l.dispatchEvent(new Event('change')); })()");
    browser.until("ctm.state.launch === 0 && ctm.state.run && document.querySelector('#picture figcaption').textContent.includes('uncached')");
    browser.evaluate("document.querySelector('[data-view=steps]').click()");
    browser.until("ctm.steps() && ctm.state.trace && document.querySelectorAll('.mask button').length === 16");
    browser.screenshot("recording");
    // An example again: texts that can be edited, and no list.
    browser.evaluate("(() => { const s = document.querySelector('#entries'); s.value = 'saxpy'; s.dispatchEvent(new Event('change')); })()");
    browser.until("ctm.state.entry === 'saxpy' && ctm.state.run && !ctm.editor().state.readOnly && document.querySelector('#which').hidden");
}
