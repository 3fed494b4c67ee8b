//! The page of `ctm serve` in a browser.
//!
//! | file | content |
//! |---|---|
//! | `http` | requests and answers |
//! | `connections` | open connections, and which one is closed for another |
//! | `work` | the threads that answer |
//! | `memory` | the memory of all requests together |
//! | `question` | requests of the page, read from JSON |
//! | `entries` | entries to open: examples and the user's jobs |
//! | `gallery` | the examples |
//! | `wire` | the types of the answers, which the page's script has as well |
//! | `api` | the answers |
//! | `steps` | traces, and origins of values |
//! | `pictures` | outputs, as numbers and pictures |
//! | `local` | the answers in one process, without a server |
//! | `site` | the page as files, for hosts of files |
//! | `dropped` | files that are put on the page there |
//!
//! The page listens on this machine only, at an address with a random token, and answers to the names of this machine only: another page in the same browser can
//! neither guess the address nor make the browser carry it here under a name of its own. It loads nothing from anywhere, and says so to the browser
//! (`Content-Security-Policy`). Nothing is kept between two questions: each client holds its own texts.
//!
//! A request has four stages, each with a bound. Its *head* is read and judged on a thread of the connection; connections are bounded, and those that are not judged yet make
//! room for new ones. Its *body* is read when the head is right, in memory from the common budget. The *answer* is made by one of a fixed number of threads until a deadline,
//! while the connection's thread watches for the client to leave; memory for arrays and pictures comes from the same budget. Then it is *sent*, again until a deadline.
//!
//! **Invariant.** A client without the token costs a connection for the time of a request, and nothing else.
//!
//! `page.html` and `page.css` are written by hand, `page.js.gz` is made of `editors/page` by `cargo xtask page`.

mod api;
mod connections;
mod context;
mod cost;
mod dropped;
mod entries;
mod gallery;
mod http;
mod inspect;
mod local;
mod memory;
mod numbers;
mod pictures;
mod progress;
mod question;
mod runs;
mod site;
mod steps;
#[cfg(test)]
mod tests;
mod texts;
mod wire;
mod work;

use connections::{Connection, Connections};
use ctm::job::{Folders, JobError};
use ctm_exec::{Control, Instant};
use entries::PageEntry;
pub use local::Local;
pub use site::{SiteFile, site};

use flate2::read::GzDecoder;
use http::{Head, HttpFailure, Response, Wire};
use memory::{HostMemory, Share};
use question::Question;
use std::cell::RefCell;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use work::Workers;

const PAGE: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");

/// The script of the page.
fn script() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let (compressed, mut text) = (include_bytes!("../../assets/page.js.gz"), String::new());
        // A test compares it with its sources.
        let _ = GzDecoder::new(&compressed[..]).read_to_string(&mut text);
        text
    });
    &TEXT
}

/// Connections that are open at a time.
const CONNECTIONS: usize = 64;
/// Requests that are answered at a time; others wait for their turn.
const WORKERS: usize = 4;
/// The longest body, in bytes.
const LONGEST_BODY: u64 = 32 << 20;
/// How long a request may take to come, head and body, and an answer to go.
const TRANSFER: Duration = Duration::from_secs(10);
/// How long an answer may be made, its time in the queue included.
const ANSWER: Duration = Duration::from_secs(20);
/// An answer that is cancelled has as long to end by itself before the client gets an error.
const GRACE: Duration = Duration::from_secs(2);
/// How often a connection looks whether its client is still there.
const TICK: Duration = Duration::from_millis(50);
/// How long a server that is stopped waits for answers under way, which are cancelled.
const LEAVE: Duration = Duration::from_secs(1);

/// Limits and entries of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Bytes of memory for all requests together.
    pub memory: u64,
    /// Folders beside a job's own whose files jobs may name.
    pub allow: Vec<PathBuf>,
}

impl Default for ServerOptions {
    /// A gibibyte, and the folders of the jobs.
    fn default() -> Self {
        Self { memory: 1 << 30, allow: Vec::new() }
    }
}

/// Times of a request.
#[derive(Clone, Copy, Debug)]
struct Times {
    transfer: Duration,
    answer: Duration,
    grace: Duration,
}

/// A server of the page.
pub struct Server {
    listener: TcpListener,
    shared: Arc<ServerState>,
}

/// State shared by the threads of a server.
struct ServerState {
    token: String,
    port: u16,
    entries: Vec<PageEntry>,
    folders: Folders,
    times: Times,
    memory: Arc<HostMemory>,
    connections: Connections,
    work: Arc<Workers>,
    stopped: AtomicBool,
}

/// Ends a server from another thread.
#[derive(Clone)]
pub struct Stopper {
    shared: Arc<ServerState>,
}

impl std::fmt::Debug for Stopper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stopper").field("port", &self.shared.port).finish_non_exhaustive()
    }
}

impl Stopper {
    /// The server closes its connections, cancels the answers under way, and ends.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.work.stop();
        self.shared.connections.close();
        // It waits for a connection.
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.shared.port));
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

impl Server {
    /// A server on a port of this machine; 0: any that is free. `jobs` can be opened beside the examples.
    ///
    /// # Errors
    /// The port is taken, or the system has no random numbers.
    pub fn bind(port: u16, jobs: &[PathBuf], options: &ServerOptions) -> std::io::Result<Self> {
        let random = random()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let shared = ServerState {
            token: random.iter().map(|byte| format!("{byte:02x}")).collect(),
            port: listener.local_addr()?.port(),
            entries: entries::all(jobs),
            folders: Folders::new(&options.allow),
            times: Times { transfer: TRANSFER, answer: ANSWER, grace: GRACE },
            memory: HostMemory::new(options.memory),
            connections: Connections::new(CONNECTIONS),
            work: Arc::default(),
            stopped: AtomicBool::new(false),
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Looks whether a job can be opened: a job or draw job is read, and its files lie where they may. Of captures and recordings, more is known when they are opened.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check(job: &std::path::Path, options: &ServerOptions) -> Result<(), JobError> {
        entries::check(job, &Folders::new(&options.allow))
    }

    /// Where the page is.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.shared.port, self.shared.token)
    }

    /// Its stop signal.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper { shared: Arc::clone(&self.shared) }
    }

    /// Answers until it is stopped.
    ///
    /// # Errors
    /// There can be no threads.
    pub fn run(&self) -> std::io::Result<()> {
        let shared = &self.shared;
        shared.work.start(WORKERS)?;
        for stream in self.listener.incoming() {
            if shared.stopped.load(Ordering::SeqCst) {
                break;
            }
            // Without a descriptor for it, the connection waits in the system until one is free.
            let Ok(stream) = stream else {
                std::thread::sleep(TICK);
                continue;
            };
            match shared.connections.admit(stream) {
                Ok(connection) => ServerState::begin(shared, connection),
                Err(stream) => {
                    let _ = stream.set_nonblocking(true);
                    http::write(&mut &stream, &Response::text(503, "the page answers too many requests; ask again"));
                }
            }
        }
        shared.connections.close();
        let until = Instant::now() + LEAVE;
        while shared.work.running() + shared.connections.count() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// A request that is right so far.
enum Asked {
    /// The page itself.
    Page,
    /// The page with a state, as one file.
    Share,
    /// A question by its name.
    Question(&'static str),
}

impl ServerState {
    /// Serves a connection on a thread of its own.
    fn begin(shared: &Arc<Self>, connection: Arc<Connection>) {
        let (own, served) = (Arc::clone(shared), Arc::clone(&connection));
        let serve = move || {
            own.serve(&served);
            own.connections.remove(&served);
        };
        if std::thread::Builder::new().name("ctm-page-client".into()).spawn(serve).is_err() {
            shared.connections.remove(&connection);
        }
    }

    fn serve(self: &Arc<Self>, connection: &Connection) {
        let mut wire = Wire { stream: &connection.stream, deadline: Instant::now() + self.times.transfer };
        let response = match self.request(connection, &mut wire) {
            Ok(response) | Err(HttpFailure::Refused(response)) => response,
            Err(HttpFailure::Gone) => return,
        };
        wire.deadline = Instant::now() + self.times.transfer;
        http::write(&mut wire, &response);
        drop(response);
        connection.set_busy(false);
        wire.close();
    }

    fn request(self: &Arc<Self>, connection: &Connection, wire: &mut Wire<'_>) -> Result<Response, HttpFailure> {
        let mut head = http::read_head(wire)?;
        let asked = self.judge(&head)?;
        connection.set_busy(true);
        if let Asked::Page = asked {
            return Ok(page(false, "null"));
        }
        // The body and the strings that are read from it, or the texts that a file is made of.
        let bytes = head.length * if let Asked::Share = asked { 4 } else { 2 };
        let wanted = || !wire.is_closed() && !self.stopped.load(Ordering::SeqCst);
        let share = self.memory.take_for_body(bytes, wire.deadline, &wanted);
        let share = share.map_err(|why| Response::text(503, &why))?;
        let body = http::read_body(wire, &mut head)?;
        self.answered(asked, body, share, wire)
    }

    /// Whether a request will be answered, by its head alone.
    fn judge(&self, head: &Head) -> Result<Asked, Response> {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let is_ours = |host: &str| names.iter().any(|name| name.eq_ignore_ascii_case(host));
        if !is_ours(&head.host) {
            return Err(Response::text(403, "this page answers to 127.0.0.1 and localhost only"));
        }
        if head.origin.as_deref().is_some_and(|origin| !origin.strip_prefix("http://").is_some_and(is_ours)) {
            return Err(Response::text(403, "another page has nothing to ask here"));
        }
        let nothing = || Response::text(404, "there is nothing here");
        let Some(path) = head.path.strip_prefix('/').and_then(|path| path.strip_prefix(self.token.as_str())) else {
            return Err(Response::text(404, "there is nothing here; the address that `ctm serve` prints has the page"));
        };
        let asked = match (head.method.as_str(), path) {
            ("GET", "/") => Asked::Page,
            ("GET", _) => return Err(nothing()),
            ("POST", "/api/share") => Asked::Share,
            ("POST", path) => {
                let name = path.strip_prefix("/api/").and_then(api::question).ok_or_else(nothing)?;
                Asked::Question(name)
            }
            _ => return Err(Response::text(405, "the page is asked by GET and POST")),
        };
        if head.length > LONGEST_BODY {
            let (length, most) = (head.length, LONGEST_BODY);
            return Err(Response::text(413, &format!("a body of {length} bytes is too long; at most {most}")));
        }
        Ok(asked)
    }

    /// Has the answer made, until its deadline or until the client goes.
    fn answered(
        self: &Arc<Self>,
        asked: Asked,
        body: Vec<u8>,
        share: Share,
        wire: &Wire<'_>,
    ) -> Result<Response, HttpFailure> {
        let deadline = Instant::now() + self.times.answer;
        let control = Control::new().until(deadline);
        let (send, receive) = sync_channel(1);
        let (own, under) = (Arc::clone(self), control.clone());
        self.work.push(move || {
            let response = own.answer(&asked, body, deadline, &under);
            drop(share);
            let response = own.kept(response, deadline, &under);
            // A client that has gone does not wait for it.
            let _ = send.send(response);
        });
        loop {
            match receive.recv_timeout(TICK) {
                Ok(response) => return Ok(response),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.stopped.load(Ordering::SeqCst) => {
                    return Err(HttpFailure::Gone);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Response::text(500, "the answer failed by a mistake of ctm; please report it"));
                }
            }
            if self.stopped.load(Ordering::SeqCst) || wire.has_gone() {
                control.cancel();
                return Err(HttpFailure::Gone);
            }
            if Instant::now() > deadline + self.times.grace {
                control.cancel();
                let seconds = self.times.answer.as_secs_f64();
                return Ok(Response::text(
                    503,
                    &format!("the answer takes longer than {seconds} s, and was cancelled"),
                ));
            }
        }
    }

    /// A queued answer, with its reserved memory.
    fn kept(&self, mut response: Response, deadline: Instant, control: &Control) -> Response {
        match self.memory.take(response.body.len() as u64, deadline, &|| !control.is_over()) {
            Ok(share) => response.share = Some(share),
            Err(why) => response = Response::text(503, &why),
        }
        response
    }

    fn answer(&self, asked: &Asked, body: Vec<u8>, deadline: Instant, control: &Control) -> Response {
        if control.is_over() {
            return Response::text(503, "the page answers too many requests; ask again");
        }
        let wrong = |e: &dyn std::fmt::Display| Response::text(400, &format!("the question is no JSON: {e}"));
        match asked {
            Asked::Page => page(false, "null"),
            // It goes into the file as it is, once it is known to be JSON.
            Asked::Share => match std::str::from_utf8(&body) {
                Ok(text) => match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                    Ok(_) => page(true, text),
                    Err(e) => wrong(&e),
                },
                Err(e) => wrong(&e),
            },
            Asked::Question(name) => {
                let question: Question = match serde_json::from_slice(&body) {
                    Ok(question) => question,
                    Err(e) => return wrong(&e),
                };
                drop(body);
                let context = context::AnswerContext {
                    entries: &self.entries,
                    folders: &self.folders,
                    memory: &self.memory,
                    control,
                    deadline,
                    shares: RefCell::default(),
                    apart: None,
                };
                match api::answer(name, &question, &context) {
                    Ok(answer) => Response::json(answer),
                    Err(why) => Response::text(503, &why),
                }
            }
        }
    }
}

/// The random part of an address.
#[cfg(not(target_family = "wasm"))]
fn random() -> std::io::Result<[u8; 16]> {
    let mut random = [0u8; 16];
    getrandom::fill(&mut random).map_err(|e| std::io::Error::other(format!("there are no random numbers: {e}")))?;
    Ok(random)
}

/// A browser has no servers.
#[cfg(target_family = "wasm")]
fn random() -> std::io::Result<[u8; 16]> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The page; with `shared`, a file that needs no server. The state is JSON.
fn page(shared: bool, state: &str) -> Response {
    // Nothing in the data may end the script element.
    let state = state.replace('<', "\\u003c");
    let connect = if shared { "" } else { "; connect-src 'self'" };
    let policy =
        format!("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:{connect}");
    let style = [ctm::trace::PALETTE, STYLE].concat();
    let html = filled(PAGE, &[("@POLICY@", &policy), ("@STYLE@", &style), ("@STATE@", &state), ("@SCRIPT@", script())]);
    let headers =
        format!("Content-Security-Policy: {policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n");
    Response { status: 200, kind: "text/html; charset=utf-8", headers, body: html.into_bytes(), share: None }
}

/// A text with its marks, which are in this order, replaced; inserted texts are not searched.
fn filled(template: &str, marks: &[(&str, &str)]) -> String {
    let (mut out, mut rest) = (String::new(), template);
    for (mark, text) in marks {
        let (before, behind) = rest.split_once(mark).unwrap_or((rest, ""));
        out.push_str(before);
        out.push_str(text);
        rest = behind;
    }
    out.push_str(rest);
    out
}
