//! The page of `cargo xtask site` in Chromium, from a server of files: nothing of it needs ctm on the other side.
//!
//! `CTM_SITE=DIR` names the site. It takes minutes to build, so tests do not build it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so; times are for people")]

mod browser;

use browser::{Browser, captures, root};
use ctm_ide::serve::Local;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server of files, below a path.
struct Files {
    process: Child,
    address: String,
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn served(site: &Path) -> Files {
    let (parent, name) = (site.parent().unwrap(), site.file_name().unwrap().to_str().unwrap());
    let mut process = Command::new("python3")
        .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
        .arg(parent)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let port = line.split(" port ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    Files { address: format!("http://127.0.0.1:{port}/{name}/page/"), process }
}

/// A site, its server, and a browser; or a message that there is none.
fn started() -> Option<(Files, Browser)> {
    let site = std::env::var_os("CTM_SITE").map(PathBuf::from);
    let browser = site.as_ref().and_then(|_| Browser::start());
    match (site, browser) {
        (Some(site), Some(browser)) => Some((served(&site), browser)),
        _ => {
            println!("skipped: it needs Chromium, and CTM_SITE, a folder that `cargo xtask site` has made");
            None
        }
    }
}

/// The page has run an entry and explains a pixel.
const READY: &str = "window.ctm && ctm.state.trace.value && ctm.state.why.value && !ctm.state.working.value";

/// Opens a small program: the first one of the gallery takes seconds on a busy machine.
fn open_waves(browser: &mut Browser, address: &str) {
    browser.open(address);
    browser.until("window.ctm && ctm.state.entry.value");
    browser.evaluate("ctm.state.stop(), ctm.state.open('lessons/waves')");
    browser.until(&format!("ctm.state.entry.value === 'lessons/waves' && {READY}"));
}

fn native(page: &Local, name: &str, question: &Value) -> Value {
    serde_json::from_str(&page.ask(name, &question.to_string())).unwrap()
}

/// A function of JavaScript for `JSON.stringify`: numbers as a server sends them.
const NUMBERS: &str = "(_, value) => value instanceof Float32Array ? ctm.base64(new Uint8Array(value.buffer)) : value";

/// The answer of the page's engine.
fn asked(browser: &mut Browser, name: &str, question: &Value) -> Value {
    let text = browser.evaluate(&format!(
        "ctm.state.server.ask({}, {question}).then((answer) => JSON.stringify(answer, {NUMBERS}), (e) => JSON.stringify({{ error: e.message }}))",
        json!(name)
    ));
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

/// The value with every number as JavaScript has it, which writes 16.0 as 16.
fn numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(all) => all.into_iter().map(numbers).collect(),
        Value::Object(all) => Value::Object(all.into_iter().map(|(key, value)| (key, numbers(value))).collect()),
        other => other,
    }
}

/// Another text in the editor.
fn edit(browser: &mut Browser, text: &str) {
    let text = json!(text);
    browser.evaluate(&format!(
        "(() => {{ const e = ctm.editor(); e.dispatch({{ changes: {{ from: 0, to: e.state.doc.length, insert: {text} }} }}); }})()"
    ));
}

#[test]
fn each_example_has_the_bits_of_the_native_engine() {
    let Some((files, mut browser)) = started() else { return };
    open_waves(&mut browser, &files.address);
    let page = Local::new();
    let entries = native(&page, "entries", &json!({}));
    let entries = entries["entries"].as_array().unwrap();
    assert!(entries.len() > 20);
    for entry in entries {
        let name = entry["name"].as_str().unwrap();
        let (here, there) = (json!({ "entry": name }), json!({ "entry": name }));
        let (here, mut there) = (native(&page, "run", &here), asked(&mut browser, "run", &there));
        // On a busy machine a run may take longer than it may.
        for _ in 0..3 {
            if there["error"].as_str().is_some_and(|said| said.contains("time-budget")) {
                there = asked(&mut browser, "run", &json!({ "entry": name }));
            }
        }
        assert!(here["error"].is_null() && there["error"].is_null(), "{name}: {here}, {there}");
        let outputs = |answer: &Value| answer["outputs"].as_array().unwrap().clone();
        assert_eq!(outputs(&here).len(), outputs(&there).len(), "{name}");
        for (here, there) in outputs(&here).iter().zip(&outputs(&there)) {
            assert!(here["values"].is_string(), "{name}: too large for its values");
            assert!(here == there, "{name}: output {} differs", here["name"]);
        }
        // Steps of a pixel, with every value.
        if let Some(at) = entry["at"].as_array() {
            let question = json!({ "entry": name, "at": at });
            // The folder of the example has another number each time.
            let nameless = |mut trace: Value| {
                trace["name"].take();
                trace["title"].take();
                trace
            };
            let [here, there] = [native(&page, "trace", &question), asked(&mut browser, "trace", &question)];
            assert!(here["error"].is_null(), "{name}: {here}");
            assert!(numbers(nameless(here)) == numbers(nameless(there)), "{name}: steps");
        }
    }
    let question = json!({ "entry": "lessons/waves" });
    let both = [native(&page, "profile", &question), asked(&mut browser, "profile", &question)];
    let [here, there] = both.map(numbers);
    assert!(here["lines"].is_array(), "{here}");
    assert_eq!(here["lines"], there["lines"]);
    assert_eq!(here["waited"], there["waited"]);
    let cube = json!({ "entry": "draw/cube", "at": [70, 60] });
    let both = [native(&page, "inspect", &cube), asked(&mut browser, "inspect", &cube)];
    let [here, there] = both.map(numbers);
    assert!(here["draws"].is_array() && here == there, "draws");
    let topic = json!({ "topic": "MULADD", "language": "r700" });
    assert!(native(&page, "manual", &topic) == asked(&mut browser, "manual", &topic), "manual");
    // Everything came from the site.
    let own = files.address.split("/page/").next().unwrap();
    let local = |url: &String| url.starts_with(own) || url.starts_with("data:") || url.starts_with("blob:");
    assert!(browser.requests.iter().all(local), "{:?}", browser.requests);
}

#[test]
fn a_program_is_changed_broken_stopped_and_sent() {
    let Some((files, mut browser)) = started() else { return };
    open_waves(&mut browser, &files.address);
    browser.until("document.querySelectorAll('.cm-line').length > 10");
    let original = browser.evaluate("ctm.editor().state.doc.toString()");
    let original = original.as_str().unwrap().to_owned();

    // A mistake is found while typing, and reported by a run.
    edit(&mut browser, &original.replacen("frc", "frq", 1));
    browser.until("document.querySelector('#findings .error')");
    browser.evaluate("document.querySelector('#run').click()");
    browser.until("document.querySelector('#problem')?.innerText.includes('frq')");

    // An endless loop: texts are still checked, and Stop ends it at once.
    let endless = ".output colour = o0\n.const time = c0\n.int t = i0 (255, 0, 0)\n mov r1, time\n rep t\n rep t\n rep t\n rep t\n add r1, r1, 1\n endrep\n endrep\n endrep\n endrep\n mov colour, r1\n";
    edit(&mut browser, endless);
    browser.evaluate("document.querySelector('#run').click()");
    browser.until("document.querySelector('#stop')");
    std::thread::sleep(Duration::from_secs(1));
    let checked = asked(&mut browser, "check", &json!({ "text": "mov o0\n", "language": "x1k" }));
    assert_eq!(checked["findings"].as_array().unwrap().len(), 1, "{checked}");
    assert_eq!(browser.evaluate("ctm.state.working.value.what"), "running");
    let since = Instant::now();
    browser.evaluate("document.querySelector('#stop').click()");
    browser.until("!ctm.state.working.value && document.querySelector('#status').textContent === 'stopped'");
    assert!(since.elapsed() < Duration::from_millis(1500), "{:?}", since.elapsed());
    // A newer run replaces one that takes long.
    browser.evaluate("document.querySelector('#run').click()");
    std::thread::sleep(Duration::from_millis(600));
    let changed = original.replacen("frc", "mov", 1);
    edit(&mut browser, &changed);
    browser.evaluate("document.querySelector('#run').click()");
    browser.until(READY);

    // The link holds the changed text; another tab has the same text and the same picture.
    browser.evaluate("document.querySelector('#link').click()");
    browser.until("location.hash.startsWith('#program=') && !ctm.state.working.value");
    let numbers = format!("JSON.stringify(ctm.state.run.value.outputs[0], {NUMBERS})");
    let picture = browser.evaluate(&numbers);
    let link = browser.evaluate("location.href");
    let link = link.as_str().unwrap();
    assert!(link.len() < 2000, "{link}");
    browser.open(link);
    browser.until(READY);
    assert_eq!(browser.evaluate("ctm.editor().state.doc.toString()"), changed.as_str());
    assert_eq!(browser.evaluate(&numbers), picture);
    assert_ne!(browser.evaluate("ctm.state.originals.value['waves.x1k']"), changed.as_str());
    // Shared, it is a file that needs neither the site nor its engine.
    let html = browser.evaluate("ctm.sharedState().then((s) => ctm.state.server.share(s)).then((b) => b.text())");
    let file = browser.profile.join("shared.html");
    std::fs::write(&file, html.as_str().unwrap()).unwrap();
    // A link of which the end is missing.
    browser.open(&link[..link.len() - 20]);
    browser.until("document.querySelector('#problem')?.innerText.includes('the link is damaged')");
    browser.until("ctm.state.entry.value === 'mandelbrot'");
    drop(files);
    browser.open(&format!("file://{}", file.display()));
    browser.until("window.ctm && document.querySelectorAll('.lane').length === 16");
}

/// Drops files of a disk into the window.
fn drop_files(browser: &mut Browser, paths: &[PathBuf]) {
    // Chromium reads no path with `..`.
    let paths: Vec<String> = paths.iter().map(|path| path.canonicalize().unwrap().display().to_string()).collect();
    for kind in ["dragEnter", "dragOver", "drop"] {
        let data = json!({ "items": [], "files": paths, "dragOperationsMask": 1 });
        browser.ask("Input.dispatchDragEvent", json!({ "type": kind, "x": 300, "y": 300, "data": data }));
    }
}

#[test]
fn files_are_dropped_into_the_window() {
    let Some((files, mut browser)) = started() else { return };
    open_waves(&mut browser, &files.address);
    // A capture, at its last draw.
    drop_files(&mut browser, &[captures().join("plasma.capture")]);
    browser.until(&format!("ctm.state.given.value === 'capture' && {READY}"));
    browser.until("document.querySelector('#launches').options.length > 0 && ctm.state.run.value.outputs.length > 0");
    // A container, with a job that draws it.
    let container = browser.profile.join("cube.gsh");
    let cube = root().join("examples/draw/cube");
    let programs = [cube.join("cube.vsh"), cube.join("cube.psh")];
    let mut assembler = Command::new(env!("CARGO_BIN_EXE_ctm"));
    assert!(assembler.arg("asm").args(programs).arg("-o").arg(&container).status().unwrap().success());
    drop_files(&mut browser, &[container, root().join("docs/mandelbrot.png")]);
    browser.until("ctm.state.entry.value === 'cube.toml' && !ctm.state.working.value");
    // It lacks a texture, and says which. The picture was dropped as well, so the job can name it.
    browser.until("document.querySelector('#problem')?.innerText.includes('texture 0: nothing is bound')");
    edit(
        &mut browser,
        "programs = [\"cube.gsh\"]\nmesh = \"cube\"\nsize = [64, 64]\n[[draw]]\n[[draw.camera]]\nconstant = \"mvp\"\n[[draw.texture]]\nname = \"colour\"\ndata = \"mandelbrot.png\"\n",
    );
    browser.evaluate("document.querySelector('#run').click()");
    browser.until("ctm.state.run.value?.outputs[0]?.width === 64 && !ctm.state.working.value");
    // A job with its files; it runs as it does here.
    let saxpy = root().join("examples/saxpy");
    let all = ["job.toml", "saxpy.x1k", "x.npy", "y.npy"];
    drop_files(&mut browser, &all.map(|name| saxpy.join(name)));
    browser.until(&format!("ctm.state.entry.value === 'job.toml' && {READY}"));
    let own = asked(&mut browser, "run", &json!({ "entry": "job.toml" }));
    assert_eq!(own["outputs"], asked(&mut browser, "run", &json!({ "entry": "saxpy" }))["outputs"]);
    // They are still there after the engine has been stopped.
    browser.evaluate("ctm.state.server.ask('run', { entry: 'mandelbrot' }).catch(() => {}), ctm.state.stop()");
    assert_eq!(asked(&mut browser, "run", &json!({ "entry": "job.toml" }))["outputs"], own["outputs"]);
    // Nothing to open, which is said.
    drop_files(&mut browser, &[saxpy.join("x.npy")]);
    browser.until("document.querySelector('#status').textContent.includes('nothing to open')");
}

/// The time to the first picture, and of a run of 512 x 512, are printed: they are the machine's. Both stay far below the limit of an answer.
#[test]
fn the_first_picture_and_a_run_have_their_times() {
    let Some((files, mut browser)) = started() else { return };
    browser.open("about:blank");
    let watch = "const t = setInterval(() => { if (window.ctm?.state.run.value) { window.first = performance.now(); clearInterval(t); } }, 5);";
    browser.ask("Page.addScriptToEvaluateOnNewDocument", json!({ "source": watch }));
    browser.ask("Page.navigate", json!({ "url": files.address }));
    browser.until(&format!("window.first && {READY}"));
    let first = browser.evaluate("window.first").as_f64().unwrap();
    println!("the first picture: {first:.0} ms");
    for name in ["mandelbrot", "r700/mandelbrot"] {
        let answer = asked(&mut browser, "run", &json!({ "entry": name }));
        assert_eq!(answer["outputs"][0]["width"], 512, "{answer}");
        let time = answer["milliseconds"].as_f64().unwrap();
        println!("{name}: {time:.0} ms");
        assert!(time < 20_000.0, "{name}: {time}");
    }
}
