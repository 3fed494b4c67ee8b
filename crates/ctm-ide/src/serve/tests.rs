//! The server by its sockets: clients that are silent, slow, wrong, too large, or gone.

use super::*;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::thread::JoinHandle;

/// Every connection to these is read or written for so long at most: nothing here hangs.
const LONG: Duration = Duration::from_secs(120);

struct Running {
    shared: Arc<ServerState>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// A server with its usual times, and memory.
fn usual() -> (Times, ServerOptions) {
    (Times { transfer: TRANSFER, answer: ANSWER, grace: GRACE }, ServerOptions::default())
}

fn start((times, options): (Times, ServerOptions), jobs: &[PathBuf]) -> Running {
    let mut server = Server::bind(0, jobs, &options).unwrap();
    Arc::get_mut(&mut server.shared).unwrap().times = times;
    let shared = Arc::clone(&server.shared);
    Running { shared, thread: Some(std::thread::spawn(move || server.run())) }
}

impl Drop for Running {
    fn drop(&mut self) {
        Stopper { shared: Arc::clone(&self.shared) }.stop();
        let ended = self.thread.take().unwrap().join();
        assert!(std::thread::panicking() || ended.is_ok_and(|ended| ended.is_ok()));
    }
}

impl Running {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.shared.port)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        stream
    }

    fn head(&self, path: &str, length: u64) -> String {
        let ServerState { token, port, .. } = &*self.shared;
        format!("POST /{token}{path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {length}\r\n\r\n")
    }

    /// Sends bytes, and reads until the server closes: the status, 0 without an answer, and the body.
    fn raw(&self, request: &str) -> (u16, String) {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        answer(stream)
    }

    fn ask(&self, name: &str, question: &Value) -> (u16, String) {
        let body = question.to_string();
        self.raw(&format!("{}{body}", self.head(&format!("/api/{name}"), body.len() as u64)))
    }

    fn page(&self) -> (u16, String) {
        let ServerState { token, port, .. } = &*self.shared;
        self.raw(&format!("GET /{token}/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"))
    }
}

fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    // A connection that was closed for another one may be reset.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, text.split_once("\r\n\r\n").map_or("", |parts| parts.1).to_owned())
}

/// Waits until a condition holds.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A job whose program takes hours.
fn endless() -> Value {
    let loops = "rep t\n".repeat(4);
    let program = format!(".int t = i0 (255, 0, 0)\n{loops}add r1, r1, 1\n{}mov o0, r1\n", "endrep\n".repeat(4));
    let job = "program = \"mandelbrot.x1k\"\ndomain = [0, 0, 511, 511]\n[[output]]\nslot = 0\n";
    json!({ "entry": "mandelbrot", "files": { "mandelbrot.x1k": program, "job.toml": job } })
}

#[test]
fn silent_and_slow_clients_keep_nobody_out() {
    let server = start(usual(), &[]);
    let silent: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let mut slow: Vec<TcpStream> = (0..16).map(|_| server.connect()).collect();
    for _ in 0..3 {
        // Some of them have been closed.
        slow.iter_mut().for_each(|client| _ = client.write_all(b"P"));
        let since = Instant::now();
        assert_eq!(server.page().0, 200);
        assert_eq!(server.ask("entries", &json!({})).0, 200);
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(server.shared.connections.count() <= CONNECTIONS);
    drop((silent, slow));
    until("connections are closed", || server.shared.connections.count() == 0);
}

#[test]
fn a_request_has_a_deadline_as_a_whole() {
    let transfer = Duration::from_millis(500);
    let server = start((Times { transfer, ..usual().0 }, ServerOptions::default()), &[]);
    // A byte now and then, in the head and in the body.
    let head = server.head("/api/check", 1000);
    for begun in ["P", head.as_str()] {
        let mut stream = server.connect();
        stream.write_all(begun.as_bytes()).unwrap();
        let since = Instant::now();
        while stream.write_all(b" ").is_ok() {
            assert!(since.elapsed() < LONG, "{begun}");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(since.elapsed() >= transfer - Duration::from_millis(50), "{:?}", since.elapsed());
    }
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(answer(stream).0, 408);
    // One that says nothing has no answer.
    assert_eq!(answer(server.connect()), (0, String::new()));
}

/// No byte of these bodies is ever sent: the head is enough.
#[test]
fn heads_are_judged_before_bodies_are_read() {
    let server = start(usual(), &[]);
    let ServerState { token, port, .. } = &*server.shared;
    let own = format!("localhost:{port}");
    let post = |path: &str, headers: &str| server.raw(&format!("POST {path} HTTP/1.1\r\n{headers}\r\n")).0;
    let check = format!("/{token}/api/check");
    let length = "Content-Length: 33554432\r\n";
    for (path, headers, status) in [
        (&check, format!("Host: example.org\r\n{length}"), 403),
        (&check, format!("Host: {own}\r\nOrigin: http://example.org\r\n{length}"), 403),
        (&check, format!("Host: {own}\r\nOrigin: null\r\n{length}"), 403),
        (&"/0123456789abcdef0123456789abcdef/api/check".to_owned(), format!("Host: {own}\r\n{length}"), 404),
        (&format!("/{token}x/api/check"), format!("Host: {own}\r\n{length}"), 404),
        (&format!("/{token}/api/frobnicate"), format!("Host: {own}\r\n{length}"), 404),
        (&check, format!("Host: {own}\r\nHost: {own}\r\n{length}"), 400),
        (&check, format!("Host: {own}\r\nHost: example.org\r\n{length}"), 400),
        (&check, length.to_owned(), 400),
        (&check, format!("Host: {own}\r\nTransfer-Encoding: chunked\r\n"), 400),
        (&check, format!("Host: {own}\r\n{length}Transfer-Encoding: chunked\r\n"), 400),
        (&check, format!("Host: {own}\r\n{length}{length}"), 400),
        (&check, format!("Host: {own}\r\nContent-Length: 33554433\r\n"), 413),
        (&check, format!("Host: {own}\r\nContent-Length: 99999999999999999999999\r\n"), 413),
        (&check, format!("Host: {own}\r\nX: {}\r\n", "x".repeat(20_000)), 413),
    ] {
        assert_eq!(post(path, &headers), status, "{path} {}", &headers[..headers.len().min(80)]);
    }
    // An endless line without an end.
    let mut stream = server.connect();
    let _ = stream.write_all("x".repeat(40_000).as_bytes());
    assert_eq!(answer(stream).0, 413);
    // A large body that is refused does not lose the answer.
    let mut stream = server.connect();
    stream.write_all(format!("POST {check} HTTP/1.1\r\nHost: evil\r\n{length}\r\n").as_bytes()).unwrap();
    let mut body = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || _ = body.write_all(&vec![b' '; 32 << 20]));
    assert_eq!(answer(stream).0, 403);
    writer.join().unwrap();
}

#[test]
fn one_request_of_a_connection_is_answered() {
    let server = start(usual(), &[]);
    let body = r#"{"text":" mvo o0, r0\n","language":"ctm-x1k"}"#;
    let request = format!("{}{body}", server.head("/api/check", body.len() as u64));
    // Bytes beyond the length, and a second request.
    for more in ["garbage", &request] {
        let (status, said) = server.raw(&format!("{request}{more}"));
        assert_eq!(status, 200);
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["findings"].as_array().unwrap().len(), 1, "{said}");
    }
    // Less than the length.
    let mut stream = server.connect();
    stream.write_all(server.head("/api/check", 100).as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(answer(stream).0, 0);
    // A client that waits for leave.
    let mut stream = server.connect();
    let head = server.head("/api/check", body.len() as u64);
    stream.write_all(head.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n").as_bytes()).unwrap();
    let mut leave = [0; 25];
    stream.read_exact(&mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).unwrap();
    assert_eq!(answer(stream).0, 200);
    assert_eq!(server.ask("check", &json!("no object")).0, 400);
    assert_eq!(server.ask("share", &json!({ "a": "</script>" })).0, 200);
    assert_eq!(server.raw(&format!("{}{{x", server.head("/api/share", 2))).0, 400);
}

#[test]
fn an_answer_ends_with_its_client_and_with_its_time() {
    let (times, options) = usual();
    let answer_time = Duration::from_millis(700);
    for question in ["run", "profile", "trace", "why"] {
        let mut asked = endless();
        (asked["at"], asked["value"]) = (json!([3, 3]), json!("o0.r"));
        // A trace would be cut: the code before it is endless.
        if matches!(question, "trace" | "why") {
            let job = "domain = [0, 0, 511, 511]\nprogram = \"mandelbrot.x1k\"\n[[pass]]\n[[pass.output]]\nslot = 0\n\
                [[pass]]\n[[pass.output]]\nslot = 0\n";
            (asked["files"]["job.toml"], asked["launch"]) = (job.into(), json!(1));
        }
        let server = start((times, options.clone()), &[]);
        let body = asked.to_string();
        let mut stream = server.connect();
        stream.write_all(server.head(&format!("/api/{question}"), body.len() as u64).as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        until("the answer begins", || server.shared.work.running() == 1);
        let since = Instant::now();
        drop(stream);
        until("the answer ends", || server.shared.work.running() == 0);
        assert!(since.elapsed() < Duration::from_secs(10), "{question}: {:?}", since.elapsed());

        let server = start((Times { answer: answer_time, ..times }, options.clone()), &[]);
        let since = Instant::now();
        let (status, said) = server.ask(question, &asked);
        assert!(since.elapsed() < Duration::from_secs(15), "{question}: {:?}", since.elapsed());
        assert!(matches!(status, 200 | 503), "{question}: {status} {said}");
        assert!(said.contains("time") || said.contains("longer"), "{question}: {said}");
    }
}

#[test]
fn answers_share_one_memory() {
    let (times, options) = usual();
    let server = start((times, ServerOptions { memory: 64 << 20, ..options }), &[]);
    let job = "program = \"saxpy.x1k\"\ndomain = [0, 0, 4095, 4095]\n[[output]]\nslot = 0\n";
    let large = json!({ "entry": "saxpy", "files": { "job.toml": job, "saxpy.x1k": "mov o0, r0\n" } });
    let (status, said) = server.ask("run", &large);
    assert_eq!(status, 503, "{said}");
    assert!(said.contains("about 76") && said.contains("--memory"), "{said}");
    assert_eq!(server.ask("check", &json!({ "text": "; ".repeat(1 << 20) })).0, 503);
    assert_eq!(server.raw(&server.head("/api/check", 20 << 20)).0, 503);
    // Requests within limits are answered after refusals.
    assert_eq!(server.ask("run", &json!({ "entry": "saxpy" })).0, 200);
    assert!(server.shared.memory.take(64 << 20, Instant::now(), &|| true).is_ok());
}

#[test]
fn jobs_name_files_of_their_folder_or_of_one_that_is_allowed() {
    let all = std::env::temp_dir().join(format!("ctm-serve-folders-{}", std::process::id()));
    let own = all.join("own");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(all.join("secret.x1k"), "the secret is 12345\n").unwrap();
    std::fs::write(own.join("a.x1k"), "mov o0, r0\n").unwrap();
    let text = |program: &str| format!("program = '{program}'\ndomain = [0, 0, 7, 7]\n[[output]]\nslot = 0\n");
    let job = own.join("job.toml");
    std::fs::write(&job, text("a.x1k")).unwrap();
    let ask = |server: &Running, program: &str| {
        let files = json!({ "job.toml": text(program) });
        server.ask("run", &json!({ "entry": job.display().to_string(), "files": files })).1
    };
    let secret = all.join("secret.x1k").display().to_string();
    let server = start(usual(), std::slice::from_ref(&job));
    assert!(ask(&server, "a.x1k").contains(r#""values":""#));
    for program in [secret.as_str(), "../secret.x1k", "/etc/passwd"] {
        let said = ask(&server, program);
        assert!(said.contains("--allow") && !said.contains("12345") && !said.contains("root:"), "{said}");
    }
    let (times, options) = usual();
    let server =
        start((times, ServerOptions { allow: vec![all.clone()], ..options.clone() }), std::slice::from_ref(&job));
    assert!(ask(&server, "../secret.x1k").contains("the secret is"));
    assert!(ask(&server, "/etc/passwd").contains("--allow"));
    // A job given to the server is validated first.
    std::fs::write(&job, text("../secret.x1k")).unwrap();
    assert!(Server::check(&job, &options).is_err_and(|error| error.to_string().contains("--allow")));
    assert!(Server::check(&job, &ServerOptions { allow: vec![all.clone()], ..options }).is_ok());
    let _ = std::fs::remove_dir_all(&all);
}

#[test]
fn a_server_that_is_stopped_closes_everything_at_once() {
    let server = start(usual(), &[]);
    let silent: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let body = endless().to_string();
    let mut running = server.connect();
    running.write_all(server.head("/api/run", body.len() as u64).as_bytes()).unwrap();
    running.write_all(body.as_bytes()).unwrap();
    until("the answer begins", || server.shared.work.running() == 1);
    let since = Instant::now();
    drop(server);
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    assert_eq!(answer(running).0, 0);
    drop(silent);
}
