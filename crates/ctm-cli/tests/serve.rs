//! `ctm serve`: the page by its own protocol; `page.rs` has it in a browser.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::browser;

use browser::{Server, captured, captures, recorded};
use serde_json::{Value, json};
#[cfg(target_os = "linux")]
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

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
    assert_eq!(entries["entries"][0]["name"], "mandelbrot");
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
    assert!(saxpy["outputs"][0]["values"].is_string() && saxpy["outputs"][0]["picture"].is_null(), "{saxpy}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // Runs leave no directories.
    let name = format!("ctm-page-{}-", server.process.id());
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name)).count(), 0);
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
    assert!(std::process::Command::new("kill").args(["-INT", &process]).status().unwrap().success());
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
    assert!(clear["outputs"][0]["values"] != picture["outputs"][0]["values"]);
    assert!(picture["files"][0]["text"].as_str().unwrap().contains("MULADD_e"), "{picture}");
    let of = json!({ "entry": capture, "launch": 1, "at": [17, 40], "value": "PIX0.x" });
    assert!(server.ask("trace", &of)["steps"].as_array().unwrap().len() > 10);
    assert_eq!(server.ask("why", &of)["trees"][0]["nodes"][0]["place"], "PIX0.x");
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
    assert_eq!(server.ask("why", &of)["trees"][0]["nodes"][0]["place"], "o0.r");

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
