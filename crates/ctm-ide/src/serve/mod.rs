//! The page: what `ctm serve` shows in a browser.
//!
//! | file | what |
//! |---|---|
//! | `http` | requests and answers |
//! | `entries` | what can be opened: examples and the user's jobs |
//! | `api` | what the page asks for |
//!
//! The page listens on this machine only, behind an address that holds a random token, and answers to the names of this machine only: another page in the same browser can
//! neither guess the address nor make the browser carry it here under a name of its own. It loads nothing from anywhere, and says so to the browser
//! (`Content-Security-Policy`). Nothing is kept between two questions: each client holds its own texts.
//!
//! `page.html` and `page.css` are written by hand, `page.js` is made of `editors/page` by `cargo xtask page`.

mod api;
mod entries;
mod http;

use ctm_exec::Control;
use entries::Entry;
use http::{Request, Response};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

const PAGE: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

/// Requests that are answered at the same time; others wait for their turn in the system's queue.
const CLIENTS: usize = 16;

/// A server of the page.
pub struct Server {
    listener: TcpListener,
    token: String,
    port: u16,
    entries: Arc<Vec<Entry>>,
    stopped: Arc<AtomicBool>,
}

/// Ends a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    stopped: Arc<AtomicBool>,
    address: SocketAddr,
}

impl Stopper {
    /// The server takes no more requests; those that run are answered.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        // It waits for a connection.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

impl Server {
    /// A server on a port of this machine; 0: any that is free. `jobs` can be opened beside the examples.
    ///
    /// # Errors
    /// The port is taken, or the system has no random numbers.
    pub fn bind(port: u16, jobs: &[PathBuf]) -> std::io::Result<Self> {
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).map_err(|e| std::io::Error::other(format!("there are no random numbers: {e}")))?;
        crate::folder::remove_leftovers(entries::PREFIX);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let token = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { listener, token, port, entries: Arc::new(entries::all(jobs)), stopped: Arc::default() })
    }

    /// Where the page is.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        Stopper { stopped: Arc::clone(&self.stopped), address }
    }

    /// Answers until it is stopped.
    pub fn run(&self) {
        let turns = Turns::default();
        std::thread::scope(|scope| {
            for stream in self.listener.incoming() {
                if self.stopped.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                turns.take();
                let turns = &turns;
                scope.spawn(move || {
                    self.serve(&stream);
                    turns.give();
                });
            }
        });
    }

    fn serve(&self, stream: &TcpStream) {
        let response = match http::read(stream) {
            Ok(None) => return,
            Ok(Some(request)) => self.answer(&request, stream),
            Err(response) => response,
        };
        http::write(stream, &response);
    }

    fn answer(&self, request: &Request, stream: &TcpStream) -> Response {
        let names = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !names.contains(&request.host) {
            return Response::text(403, "this page answers to 127.0.0.1 and localhost only");
        }
        let ours = |origin: &str| names.iter().any(|name| origin.strip_prefix("http://") == Some(name));
        if request.origin.as_deref().is_some_and(|origin| !ours(origin)) {
            return Response::text(403, "another page has nothing to ask here");
        }
        let Some(path) = request.path.strip_prefix(&format!("/{}/", self.token)) else {
            return Response::text(404, "there is nothing here; the address that `ctm serve` prints has the page");
        };
        match (request.method.as_str(), path) {
            ("GET", "") => page(None, &json!({})),
            ("POST", "api/share") => match serde_json::from_slice::<Value>(&request.body) {
                Ok(state) => page(Some(&state), &state),
                Err(e) => Response::text(400, &format!("the question is no JSON: {e}")),
            },
            ("POST", path) => {
                let Some(name) = path.strip_prefix("api/") else { return Response::text(404, "there is nothing here") };
                let question: Value = match serde_json::from_slice(&request.body) {
                    Ok(question) => question,
                    Err(e) => return Response::text(400, &format!("the question is no JSON: {e}")),
                };
                let control = Control::new();
                let _watch = Watch::new(stream, &control);
                Response::json(&api::answer(name, &question, &self.entries, &control))
            }
            ("GET", _) => Response::text(404, "there is nothing here"),
            _ => Response::text(405, "the page is asked by GET and POST"),
        }
    }
}

/// The page; with `shared`, a file that needs no server.
fn page(shared: Option<&Value>, state: &Value) -> Response {
    // Nothing in the data may end the script element.
    let state = state.to_string().replace('<', "\\u003c");
    let (state, policy) = match shared {
        Some(_) => (state, "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"),
        None => (
            "null".to_owned(),
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'",
        ),
    };
    let html = filled(PAGE, &[("@POLICY@", policy), ("@STYLE@", STYLE), ("@STATE@", &state), ("@SCRIPT@", SCRIPT)]);
    let headers =
        format!("Content-Security-Policy: {policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n");
    Response { status: 200, kind: "text/html; charset=utf-8", headers, body: html.into_bytes() }
}

/// A text with its marks, which stand in this order, replaced; what is put in is not looked at.
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

/// How many requests are under way.
#[derive(Default)]
struct Turns {
    taken: Mutex<usize>,
    free: Condvar,
}

impl Turns {
    fn take(&self) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self.free.wait_while(taken, |taken| *taken >= CLIENTS).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
    }

    fn give(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.free.notify_one();
    }
}

/// Cancels what a client has asked for when the client goes away.
struct Watch {
    done: Arc<AtomicBool>,
}

/// Questions whose clients are watched; a question is answered without it where there are too many.
static WATCHED: AtomicUsize = AtomicUsize::new(0);

impl Watch {
    fn new(stream: &TcpStream, control: &Control) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        if let Ok(stream) = stream.try_clone()
            && WATCHED.load(Ordering::Relaxed) < CLIENTS
        {
            let (done, control) = (Arc::clone(&done), control.clone());
            WATCHED.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || {
                let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
                while !done.load(Ordering::Relaxed) {
                    // Nothing comes any more but the end.
                    match stream.peek(&mut [0]) {
                        Ok(0) => {
                            control.cancel();
                            break;
                        }
                        Ok(_) => std::thread::sleep(Duration::from_millis(100)),
                        Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                        }
                        Err(_) => {
                            control.cancel();
                            break;
                        }
                    }
                }
                WATCHED.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Self { done }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
    }
}
