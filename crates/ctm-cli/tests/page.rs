//! The page in Chromium, where there is one: each thing that a user does there, with what is seen.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod browser;

use browser::{Browser, Server, captured, recorded, root};
use serde_json::json;

/// A browser, or a message that there is none.
fn started() -> Option<Browser> {
    let browser = Browser::start();
    if browser.is_none() {
        println!("skipped: there is no Chromium (Debian's package `chromium`)");
    }
    browser
}

/// The page has run an entry and explains a pixel.
const READY: &str = "window.ctm && ctm.state.trace.value && ctm.state.why.value && !ctm.state.working.value";

/// Opens the page of an entry.
fn opened(browser: &mut Browser, server: &Server, entry: &str) {
    browser.open(&server.address());
    browser.until(READY);
    if entry != "mandelbrot" {
        browser.evaluate(&format!("ctm.state.open({})", json!(entry)));
        browser.until(&format!("ctm.state.entry.value === {} && {READY}", json!(entry)));
    }
}

/// Clicks a pixel of the picture, shown as a whole.
fn click(browser: &mut Browser, column: u32, row: u32) {
    let place = browser.evaluate(&format!(
        "(() => {{ const c = document.querySelector('#picture canvas'), b = c.getBoundingClientRect(), o = ctm.state.shownOutput.value,
            s = Math.min(b.width / o.width, b.height / o.height);
         return [b.left + b.width / 2 + ({column}.5 - o.left - o.width / 2) * s, b.top + b.height / 2 + ({row}.5 - o.top - o.height / 2) * s]; }})()"
    ));
    for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        browser.ask(
            "Input.dispatchMouseEvent",
            json!({ "type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": 1 }),
        );
    }
    // Where a pixel of the picture is smaller than one of the screen, its neighbour may be hit.
    browser.until(&format!(
        "ctm.state.at.value && Math.abs(ctm.state.at.value[0] - {column}) < 3 && Math.abs(ctm.state.at.value[1] - {row}) < 3 && {READY}"
    ));
    browser.evaluate(&format!("ctm.state.choose([{column}, {row}])"));
    browser.until(&format!("ctm.state.at.value.join() === '{column},{row}' && {READY}"));
}

fn press(browser: &mut Browser, key: &str, modifiers: u32) {
    let code = match key {
        "Enter" => 13,
        "ArrowLeft" => 37,
        "ArrowRight" => 39,
        "F1" => 112,
        _ => 0,
    };
    for kind in ["keyDown", "keyUp"] {
        browser.ask(
            "Input.dispatchKeyEvent",
            json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers }),
        );
    }
}

fn size(browser: &mut Browser, width: u32, height: u32, dark: bool) {
    browser.ask(
        "Emulation.setDeviceMetricsOverride",
        json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
    );
    browser.evaluate(&format!("ctm.state.dark.value = {dark}"));
}

#[test]
fn a_program_is_seen_stepped_explained_changed_and_shared() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    browser.open(&server.address());
    // A first visit: the picture is there, a pixel is chosen, and three sentences say what to do.
    browser.until(READY);
    browser.until("document.querySelectorAll('.cm-line').length > 10");
    let greeting = browser.evaluate("document.querySelector('#greeting p').textContent");
    assert_eq!(greeting.as_str().unwrap().matches(['.', '?']).count(), 3, "{greeting}");
    browser.evaluate("document.querySelector('#greeting .go').click()");
    for step in 1..=5 {
        browser.until(&format!("document.querySelector('#tour h2').textContent.endsWith('{step} of 5')"));
        browser.evaluate("document.querySelector('#tour .go').click()");
    }
    browser.until("!document.querySelector('#tour') && !document.querySelector('#greeting')");

    // A mistake, typed: the finding is there, and goes with it.
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(), at = t.indexOf('frc   t.rgb'); e.dispatch({ changes: { from: at, to: at + 3, insert: 'frq' } }); })()");
    browser.until("document.querySelector('#findings .error')");
    let said = browser.evaluate("document.querySelector('#findings').innerText");
    assert!(said.as_str().unwrap().contains("frq") && said.as_str().unwrap().contains("did you mean"), "{said}");
    browser.evaluate("document.querySelector('#run').click()");
    browser.until("document.querySelector('#problem')");
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(), at = t.indexOf('frq'); e.dispatch({ changes: { from: at, to: at + 3, insert: 'frc' } }); })()");
    browser.until("!document.querySelector('#findings .error')");
    browser.evaluate("ctm.editor().focus()");
    press(&mut browser, "Enter", 2);
    browser.until(&format!("!document.querySelector('#problem') && {READY}"));

    // A pixel, clicked: its steps, the line with values, its group as pixels.
    click(&mut browser, 120, 200);
    browser.evaluate("ctm.state.step(24)");
    browser.until("document.querySelector('#now').textContent.startsWith('step 25 of')");
    let line = browser.evaluate("document.querySelector('.cm-here').textContent");
    assert!(line.as_str().unwrap().contains("endrep"), "{line}");
    assert_eq!(browser.evaluate("document.querySelectorAll('.lane').length"), 16);
    let names = browser.evaluate("document.querySelector('.lane.selected').getAttribute('aria-label')");
    assert!(names.as_str().unwrap().contains("pixel (120, 200)"), "{names}");
    assert!(browser.evaluate("document.querySelectorAll('.lane.break').length").as_u64().unwrap() > 0);
    browser.evaluate("document.querySelector('#inspector .tabs button').focus(), document.activeElement.blur()");
    press(&mut browser, "ArrowLeft", 0);
    browser.until("document.querySelector('#now').textContent.startsWith('step 24 of')");
    // The line shows operands and the result, and rows of registers are changed ones first.
    browser.evaluate("ctm.state.step(1)");
    browser.until("/→/.test(document.querySelector('.cm-here .inline-values')?.textContent)");
    browser.until("document.querySelector('#registers tbody tr').classList.contains('changed')");
    let heads = browser.evaluate(
        "[...document.querySelectorAll('#registers thead th')].map((h) => h.textContent).slice(1, 5).join('')",
    );
    assert_eq!(heads, "rgba");
    // A lane, clicked, is the pixel.
    browser.evaluate("document.querySelector('.lane:not(.selected)').click()");
    browser.until(&format!("ctm.state.at.value.join() !== '120,200' && {READY}"));

    // Why: a tree whose lines go to their steps.
    let first = browser.evaluate("document.querySelector('#why .node').textContent");
    assert!(first.as_str().unwrap().starts_with("o0."), "{first}");
    assert_eq!(browser.evaluate("document.querySelector('#why').getBoundingClientRect().bottom <= innerHeight"), true);
    browser.evaluate("document.querySelectorAll('#why .node:not(:disabled)')[1].click()");
    browser.until("document.querySelector('#why .node.here')");
    browser.evaluate("document.querySelector('#why .fold[aria-expanded=true]').click()");
    browser.until("document.querySelectorAll('#why .node').length === 1");

    // The manual beside a word, and not its index.
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(); e.dispatch({ selection: { anchor: t.indexOf('rep   turns') - 3 } }); e.focus(); })()");
    press(&mut browser, "F1", 0);
    browser.until(
        "ctm.state.manual.value.topic === 'rep' && document.querySelector('#manual pre').textContent.length > 40",
    );
    assert!(browser.evaluate("document.querySelector('#manual pre').textContent.length").as_u64().unwrap() < 4000);

    // Counts, with a column beside the text.
    browser.evaluate("ctm.state.show('profile')");
    browser.until(
        // Beside other work, the time of an answer may be over before the first group has ended: asked again.
        "(document.querySelectorAll('#profile tbody tr').length > 5 && document.querySelectorAll('.heat').length > 5) || (ctm.state.problem.value && (ctm.state.problem.value = '', ctm.state.count(), false))",
    );
    browser.evaluate("ctm.state.show('steps')");

    // A job file: colours, and a mistyped key is found while typing.
    browser.evaluate("document.querySelector('#left [role=tab]').click()");
    browser.until("document.querySelector('.cm-line') && ctm.state.file.value === 0");
    browser.until("document.querySelector('.cm-line span[class]')");
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(), at = t.indexOf('domain'); e.dispatch({ changes: { from: at, to: at + 6, insert: 'domian' } }); })()");
    browser.until("document.querySelector('#findings .error') && document.querySelector('#findings').innerText.includes('domian')");
    browser.evaluate("ctm.state.open('mandelbrot')");
    browser.until(READY);

    // Shared: one file below a megabyte that needs no server.
    let html = browser.evaluate("ctm.sharedState().then((s) => ctm.state.server.share(s)).then((b) => b.text())");
    let html = html.as_str().unwrap();
    assert!(html.len() < 1 << 20, "{} bytes", html.len());
    let file = browser.profile.join("shared.html");
    std::fs::write(&file, html).unwrap();
    let own = server.address();
    let requests = std::mem::take(&mut browser.requests);
    assert!(requests.len() > 5, "{requests:?}");
    let local = |url: &String| url.starts_with(&own) || url.starts_with("data:") || url.starts_with("blob:");
    assert!(requests.iter().all(local), "{requests:?}");
    drop(server);
    browser.open(&format!("file://{}", file.display()));
    browser.until(
        "window.ctm && document.querySelectorAll('.lane').length === 16 && document.querySelector('#why .node')",
    );
    assert_eq!(browser.evaluate("document.querySelectorAll('#run, #share').length"), 0);
    let requests = std::mem::take(&mut browser.requests);
    assert!(requests.iter().all(|url| url.starts_with("file:") || url.starts_with("data:")), "{requests:?}");
}

/// Numbers that leave 0 to 1 are fitted to colours, and can be marked; each pixel has its numbers; a changed program has its difference.
#[test]
fn a_picture_has_numbers_ranges_and_a_difference() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    opened(&mut browser, &server, "nbody");
    let colours = "(() => { const c = document.querySelector('#picture canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set(); for (let n = 0; n < d.length; n += 4) seen.add(d[n] << 16 | d[n + 1] << 8 | d[n + 2]); return seen.size; })()";
    assert!(browser.evaluate(colours).as_u64().unwrap() > 40);
    let readout = browser.evaluate("document.querySelector('.readout').textContent");
    assert!(readout.as_str().unwrap().contains("0x") && readout.as_str().unwrap().starts_with('('), "{readout}");
    // Zoomed in, the numbers stand in the pixels.
    for _ in 0..3 {
        browser.evaluate("document.querySelector('[aria-label=\"zoom in\"]').click()");
    }
    browser.evaluate("document.querySelector('#picture canvas').focus()");
    press(&mut browser, "ArrowRight", 0);
    browser.until(&format!("ctm.state.at.value[0] === 5 && {READY}"));
    // A kept picture, and the difference that a changed program makes.
    browser.evaluate("ctm.state.open('mandelbrot')");
    browser.until(&format!("ctm.state.entry.value === 'mandelbrot' && {READY}"));
    browser.evaluate("[...document.querySelectorAll('#picture button')].find((b) => b.textContent === 'Keep').click()");
    browser.until("document.querySelector('#picture .check input')");
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(), at = t.indexOf('0.55, 0.65'); e.dispatch({ changes: { from: at, to: at + 4, insert: '0.50' } }); ctm.state.runJob(); })()");
    browser.until("ctm.state.run.value !== ctm.state.kept.value && ctm.state.run.value && !ctm.state.working.value");
    browser.evaluate("document.querySelector('#picture .check input').click()");
    browser.until("document.querySelector('#picture .check input').checked");
    assert!(browser.evaluate(colours).as_u64().unwrap() > 4);
}

/// The history of a pixel, where primitives and pixels ended, and the vertices of a draw.
#[test]
fn a_draw_has_its_fragments_its_funnel_and_its_vertices() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    opened(&mut browser, &server, "draw/cube");
    browser.evaluate("document.querySelector('[data-view=history]').click()");
    browser.until("document.querySelectorAll('.fragments > li').length > 0 && !ctm.state.working.value");
    click(&mut browser, 160, 120);
    // The two faces that cover the middle: the nearer one is stored, and is followed.
    browser.until("document.querySelectorAll('.fragments > li').length === 2");
    let kept = browser.evaluate("document.querySelector('.fragments > li.kept').textContent");
    let kept = kept.as_str().unwrap();
    assert!(
        kept.contains("passes") && kept.contains("exported to 0") && kept.contains("target 0") && kept.contains('→'),
        "{kept}"
    );
    browser.until("document.querySelector('.fragments > li.here button[aria-pressed=true]')");
    // Its triangle is outlined in the picture.
    assert_eq!(browser.evaluate("ctm.outlined().map((o) => `${o.kind} ${o.shapes.length}`).join()"), "own 1");
    // A pixel beside the cube: no fragment.
    browser.evaluate("ctm.state.choose([2, 2])");
    browser.until("document.querySelector('#history .hint') && !ctm.state.working.value");
    let said = browser.evaluate("document.querySelector('#history').textContent");
    assert!(said.as_str().unwrap().contains("No primitive covers this pixel"), "{said}");

    // Where they ended.
    browser.evaluate("document.querySelector('[data-view=funnel]').click()");
    browser.until("document.querySelectorAll('#funnel tr.total').length === 4");
    let numbers = browser
        .evaluate("[...document.querySelectorAll('#funnel tr.total')].map((r) => r.cells[0].textContent).join()");
    assert!(numbers.as_str().unwrap().starts_with("12,"), "{numbers}");
    // A job that culls everything says so.
    browser.evaluate("document.querySelector('#left [role=tab]').click()");
    browser.until("ctm.state.file.value === 0");
    browser.evaluate("(() => { const e = ctm.editor(), t = e.state.doc.toString(), at = t.indexOf('mesh ='); e.dispatch({ changes: { from: at, insert: 'scissor = [0, 0, 1, 1]\\n' } }); ctm.state.runJob(); })()");
    browser.until("document.querySelector('#funnel [role=alert]') && !ctm.state.working.value");
    let said = browser.evaluate("document.querySelector('#funnel [role=alert]').textContent");
    let said = said.as_str().unwrap();
    assert!(
        said.contains("Nothing is drawn")
            && said.contains("outside the scissor")
            && said.contains("columns 0..1, rows 0..1"),
        "{said}"
    );

    // Vertices: fetched and exported values; a click follows the vertex program in its text.
    browser.evaluate("ctm.state.open('draw/cube')");
    browser.until(&format!("ctm.state.entry.value === 'draw/cube' && {READY}"));
    browser.evaluate("document.querySelector('[data-view=vertices]').click()");
    browser.until("document.querySelectorAll('#vertices tbody tr').length >= 24 && !ctm.state.working.value");
    browser.until("document.querySelectorAll('#vertices tr.changed').length === 3");
    let heads = browser.evaluate(
        "[...document.querySelectorAll('#vertices thead tr:last-child th')].map((h) => h.textContent).join()",
    );
    assert!(heads.as_str().unwrap().contains("POS0") && heads.as_str().unwrap().contains("PARAM0"), "{heads}");
    browser.evaluate("document.querySelector('#vertices tbody button').click()");
    browser.until("ctm.state.vertex.value && ctm.state.trace.value && document.querySelector('.cm-here')");
    browser.until("document.querySelector('#left [role=tab][aria-selected=true]').textContent === 'cube.vsh'");
}

/// Constants with ranges in the job file are sliders, and are played.
#[test]
fn sliders_move_and_play() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    opened(&mut browser, &server, "lessons/waves");
    let first = "ctm.state.run.value.outputs[0].values";
    let before = browser.evaluate(first);
    browser.evaluate("(() => { const s = document.querySelector('.slider input'); s.value = 0.5; s.dispatchEvent(new Event('input', { bubbles: true })); s.dispatchEvent(new Event('change', { bubbles: true })); })()");
    browser.until(&format!("ctm.state.run.value.sliders[0].value === 0.5 && {READY}"));
    assert_ne!(browser.evaluate(first), before);
    let bits = browser.evaluate("(() => { const all = ctm.state.steps.value; for (let n = 0; n < all.count; n++) for (const r of all.reads(n, ctm.state.lane.value)) if (r.name === 'c0.r') return r.bits; })()");
    assert_eq!(bits, 0.5f32.to_bits(), "steps have the slider's value");
    browser.evaluate("document.querySelector('.slider button').click()");
    browser.until("/pictures a second/.test(ctm.state.status.value)");
    browser.evaluate("document.querySelector('.slider button').click()");
    browser.until(&format!(
        "document.querySelector('.slider button').getAttribute('aria-pressed') === 'false' && {READY}"
    ));
}

/// The wheel and a drag of the picture move the viewer of a draw, keys as well, and meshes turn; the steps of the pixel are those of the moved picture.
#[test]
fn a_mesh_is_turned_and_approached() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    opened(&mut browser, &server, "draw/cube");
    let covered = "(() => { const o = ctm.state.shownOutput.value, v = ctm.state.valuesOf(o); let n = 0; for (let at = 0; at < v.length; at += 4) if (v[at] + v[at + 1] + v[at + 2] > 0.35) n++; return n; })()";
    let picture = "ctm.state.shownOutput.value.values";
    let (before, size) = (browser.evaluate(picture), browser.evaluate(covered).as_u64().unwrap());
    let middle = browser.evaluate("(() => { const b = document.querySelector('#picture canvas').getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()");
    let (x, y) = (middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap());
    for (kind, x, buttons) in [
        ("mousePressed", x, 1),
        ("mouseMoved", x + 30.0, 1),
        ("mouseMoved", x + 80.0, 1),
        ("mouseReleased", x + 80.0, 0),
    ] {
        browser.ask(
            "Input.dispatchMouseEvent",
            json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 }),
        );
    }
    browser.until(&format!("ctm.state.viewer.value.turn[0] === -40 && {picture} !== {before} && {READY}"));
    // In the mode of the camera the wheel goes nearer: twice as near covers more.
    browser.evaluate("document.querySelector('#camera').click()");
    for _ in 0..4 {
        browser.ask(
            "Input.dispatchMouseEvent",
            json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -100 }),
        );
    }
    browser.until(&format!("ctm.state.viewer.value.distance < 0.65 && {covered} > {}", size * 5 / 4));
    // The traced pixel exports the colours of the picture.
    let agrees = "(() => { const o = ctm.state.shownOutput.value, v = ctm.state.valuesOf(o), [i, j] = ctm.state.at.value, all = ctm.state.steps.value; if (!all || ctm.state.working.value) return false; const wrote = all.writes(all.count - 1, ctm.state.lane.value).find((w) => w.name === 'PIX0.x'); const f = new Float32Array(new Uint32Array([wrote.bits]).buffer)[0]; return Math.abs(Math.min(1, Math.max(0, f)) - v[(j * o.width + i) * 4]) < 0.01; })()";
    browser.until(agrees);
    // Keys, and back.
    browser.evaluate("document.querySelector('#picture canvas').focus()");
    press(&mut browser, "ArrowRight", 0);
    browser.until("ctm.state.viewer.value.turn[0] === -30");
    browser.evaluate("document.querySelector('#picture canvas').dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true }))");
    browser.until(&format!("ctm.state.viewer.value.distance === 1 && {picture} === {before} && {READY}"));
    // Its meshes turn, at the rate of the engine.
    browser.evaluate("[...document.querySelectorAll('.slider button')].find((b) => b.getAttribute('aria-label') === 'play turn').click()");
    browser.until("/pictures a second/.test(ctm.state.status.value) && ctm.state.viewer.value.time > 0");
    browser.evaluate("[...document.querySelectorAll('.slider button')].find((b) => b.getAttribute('aria-label') === 'stop turn').click()");
    browser.until(&format!("{picture} !== {before} && {READY}"));
}

/// The driver's program below its GLSL: pairs of lines have one colour, a click goes to an instruction, and `why` names the line.
#[test]
fn compiler_output_is_beside_its_source() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    opened(&mut browser, &server, "lessons/marble");
    browser.until("document.querySelectorAll('#glsl .pair').length >= 5 && document.querySelectorAll('.cm-line.pair').length > 10");
    assert_eq!(browser.evaluate("document.querySelector('#glsl h2').textContent"), "marble.frag");
    // The export is the line that assigns the colour, and it has the colour of that line.
    let first = browser.evaluate("document.querySelector('#why .node').textContent");
    assert!(first.as_str().unwrap().contains("marble.frag:24 colour = vec4(base"), "{first}");
    browser.evaluate("ctm.state.step(1e9)");
    browser.until("document.querySelector('#glsl [aria-current]')?.textContent.includes('colour = vec4(base') && document.querySelector('.cm-here.pair')");
    let inks = browser.evaluate("[document.querySelector('#glsl [aria-current]').parentElement, document.querySelector('.cm-here')].map((e) => [...e.classList].find((c) => c.startsWith('ink-')))");
    assert_eq!(inks[0], inks[1]);
    // A click on the line of the light goes to an instruction that reads it.
    browser.evaluate("[...document.querySelectorAll('#glsl button.source')].find((b) => b.textContent.includes('normalize(light')).click()");
    browser.until(
        "document.querySelector('#glsl [aria-current]')?.textContent.includes('normalize(light') && document.querySelector('.cm-here') && !ctm.state.working.value",
    );
    let line = browser.evaluate("document.querySelector('.cm-here').textContent");
    assert!(["DOT4", "RECIPSQRT", "MUL", "MOV", "ADD"].iter().any(|op| line.as_str().unwrap().contains(op)), "{line}");
    // The vertex program has its own shader.
    browser.evaluate("ctm.state.chooseVertex([3, 0])");
    browser.until("document.querySelector('#glsl h2').textContent === 'marble.vert' && !ctm.state.working.value");
}

/// A count shows its share, and can be stopped.
#[test]
fn a_profile_shows_its_share_and_stops() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    opened(&mut browser, &server, "mandelbrot");
    // A part of the picture: the interpreter counts it in a second or two.
    browser.evaluate("ctm.state.files.value = ctm.state.files.value.map((f) => f.name === 'job.toml' ? { ...f, text: f.text.replace(/^domain = .*$/m, 'domain = [96, 160, 255, 319]') } : f), ctm.state.runJob()");
    browser.until(&format!("ctm.state.run.value.domain[2] === 255 && {READY}"));
    browser.evaluate("ctm.seen = [], new MutationObserver(() => { const bar = document.querySelector('header [role=progressbar][aria-valuenow]'); if (bar) ctm.seen.push(+bar.getAttribute('aria-valuenow')); }).observe(document.querySelector('header'), { subtree: true, childList: true, attributes: true }), ctm.state.show('profile')");
    browser.until("document.querySelectorAll('#profile tbody tr').length > 5 && !ctm.state.working.value");
    let seen = browser.evaluate("ctm.seen");
    let seen: Vec<u64> = seen.as_array().unwrap().iter().map(|share| share.as_u64().unwrap()).collect();
    assert!(!seen.is_empty() && seen.is_sorted() && seen.iter().all(|&share| share <= 100), "{seen:?}");
    browser.evaluate("ctm.state.profile.value = null, ctm.state.count(), 0");
    browser.until("document.querySelector('#stop')");
    browser.evaluate("document.querySelector('#stop').click()");
    browser
        .until("!ctm.state.working.value && ctm.state.status.value === 'stopped' && !document.querySelector('#stop')");
    assert_eq!(browser.evaluate("ctm.state.profile.value"), serde_json::Value::Null);
}

/// The pointer gives numbers, zoom enlarges pixels, parts have other sizes, nothing is cut at the right, and steps name the instruction.
#[test]
fn a_picture_answers_the_pointer_and_parts_are_moved() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    opened(&mut browser, &server, "draw/cube");
    let at = browser.evaluate("(() => { const b = document.querySelector('#picture canvas').getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()");
    let chosen = browser.evaluate("document.querySelector('.readout').textContent");
    browser.ask("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": at[0], "y": at[1], "button": "none" }));
    browser.until(&format!("document.querySelector('.readout').textContent !== {chosen}"));
    let hovered = browser.evaluate("document.querySelector('.readout').textContent");
    let hovered = hovered.as_str().unwrap();
    assert!((hovered.starts_with("(160, 1") || hovered.starts_with("(159, 1")) && hovered.contains("0x"), "{hovered}");
    let drawn = "document.querySelector('#picture canvas').toDataURL()";
    let whole = browser.evaluate(drawn);
    browser.ask(
        "Input.dispatchMouseEvent",
        json!({ "type": "mouseWheel", "x": at[0], "y": at[1], "deltaX": 0, "deltaY": -100 }),
    );
    browser.until(&format!("{drawn} !== {whole}"));
    let width = "document.querySelector('#left').getBoundingClientRect().width";
    let before = browser.evaluate(width).as_f64().unwrap();
    browser.evaluate("document.querySelector('[role=separator]').focus()");
    for _ in 0..3 {
        press(&mut browser, "ArrowRight", 0);
    }
    assert!(browser.evaluate(width).as_f64().unwrap() > before + 20.0);
    assert_eq!(
        browser.evaluate(
            "(() => { const c = document.querySelector('.cm-scroller'); return c.scrollWidth <= c.clientWidth + 1; })()"
        ),
        true,
        "lines wrap"
    );
    browser.evaluate("ctm.state.step(2)");
    browser.until("/^line [0-9]+: .*[A-Z]{3}/.test(document.querySelector('#what').textContent)");
    let heads = browser.evaluate(
        "[...document.querySelectorAll('#registers thead th')].map((h) => h.textContent).slice(1, 5).join('')",
    );
    assert_eq!(heads, "xyzw");
}

/// The page of a trace has all 16 lanes at 1366 pixels, and dark colours where the system has them.
#[test]
fn the_page_of_a_trace_fits_and_is_dark() {
    let Some(mut browser) = started() else { return };
    let page = browser.profile.join("trace.html");
    let job = root().join("examples/mandelbrot/job.toml");
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(["trace".as_ref(), job.as_os_str(), "--at".as_ref(), "120,200".as_ref(), "-o".as_ref(), page.as_os_str()])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    browser.open(&format!("file://{}", page.display()));
    browser.until("document.readyState === 'complete' && document.body.innerText.length > 200");
    let back = "getComputedStyle(document.body).backgroundColor";
    browser.ask(
        "Emulation.setDeviceMetricsOverride",
        json!({ "width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": false }),
    );
    let scheme = |browser: &mut Browser, value: &str| {
        browser.ask(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] }),
        );
        browser.until("document.documentElement.scrollWidth <= innerWidth");
    };
    scheme(&mut browser, "light");
    browser.until(&format!("{back} === 'rgb(255, 255, 255)'"));
    scheme(&mut browser, "dark");
    browser.until(&format!("{back} !== 'rgb(255, 255, 255)'"));
}

/// A walk of someone who has never seen it: why is this pixel of the cube dark?
#[test]
fn a_newcomer_finds_why_a_pixel_of_the_cube_is_dark() {
    let Some(mut browser) = started() else { return };
    let server = Server::start();
    browser.open(&server.address());
    browser.until(READY);
    // The cube, from the gallery, where a sentence says what to do.
    browser.evaluate("document.querySelector('#programs').click()");
    browser.until("document.querySelectorAll('#gallery .card').length === 30");
    let card = "[...document.querySelectorAll('#gallery .card')].find((c) => c.textContent.includes('draw/cube'))";
    browser.until(&format!("{card}.textContent.includes('why it is dark')"));
    browser.until("document.querySelectorAll('#gallery img').length >= 2");
    browser.evaluate(&format!("{card}.click()"));
    browser.until(&format!("ctm.state.entry.value === 'draw/cube' && {READY}"));
    // The darkest pixel of the front, clicked.
    let dark = browser.evaluate("(() => { const o = ctm.state.shownOutput.value, v = ctm.state.valuesOf(o); let best = [0, 0], least = 9; for (let y = 60; y < 180; y++) for (let x = 90; x < 230; x++) { const n = (y * o.width + x) * 4, light = v[n] + v[n + 1] + v[n + 2]; if (v[n + 3] > 0.9 && light > 0.02 && light < least) { least = light; best = [x, y]; } } return best; })()");
    click(&mut browser, dark[0].as_u64().unwrap() as u32, dark[1].as_u64().unwrap() as u32);
    // The text of the pixel program is there, with a line marked.
    assert_eq!(
        browser.evaluate("document.querySelector('#left [role=tab][aria-selected=true]').textContent"),
        "cube.psh"
    );
    browser.until("document.querySelector('.cm-here')");
    // Why: the export's red is the texture's red times the light, and each is one line with its number.
    let tree = "[...document.querySelectorAll('#why .node')].map((n) => n.textContent)";
    let lines = browser.evaluate(tree);
    let lines: Vec<&str> = lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(lines[0].starts_with("PIX0.x") && lines[0].contains("EXP_DONE"), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("R2.x") && line.contains("x: MUL R2.x, R2.x, R3.x")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("SAMPLE R2")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("R3.x") && line.contains("ADD R3.x")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("R2.y")), "only the asked channel: {lines:?}");
    // A click on the multiplication goes to its step; the line says the factors.
    browser.evaluate(
        "[...document.querySelectorAll('#why .node')].find((n) => n.textContent.includes('MUL R2.x')).click()",
    );
    browser.until("document.querySelector('#why .node.here') && document.querySelector('.cm-here').textContent.includes('MUL R2.x')");
    browser.until("/R2.x/.test(document.querySelector('.cm-here .inline-values').textContent)");
}

#[test]
fn captures_and_recordings_are_seen() {
    let Some(mut browser) = started() else { return };
    let (capture, tape) = (captured(), recorded("browser"));
    let server = Server::with(&[capture.clone(), tape.clone()]);
    browser.open(&server.address());
    // The capture is opened at its last draw; the list has all of them.
    browser.until("window.ctm && document.querySelectorAll('#launches option').length === 3 && ctm.state.run.value && !ctm.state.working.value");
    assert_eq!(browser.evaluate("document.querySelector('#launches').value"), "2");
    browser.evaluate("ctm.state.chooseLaunch(1)");
    browser.until("ctm.state.launch.value === 1 && ctm.state.run.value && !ctm.state.working.value");
    browser.until("[...document.querySelectorAll('.cm-line')].some(l => l.textContent.includes('MULADD_e'))");
    assert_eq!(browser.evaluate("ctm.editor().state.readOnly"), true);
    click(&mut browser, 17, 40);
    browser.evaluate("ctm.state.step(5)");
    browser.until(
        "document.querySelector('#now').textContent.startsWith('step 6 ') && document.querySelector('.cm-here')",
    );
    assert_eq!(browser.evaluate("document.querySelectorAll('.lane').length"), 64);
    browser.screenshot("capture");
    browser.evaluate(&format!("ctm.state.open({})", json!(tape)));
    browser.until("ctm.state.given.value === 'recording' && ctm.state.launch.value === 1 && !ctm.state.working.value");
    browser.evaluate("ctm.state.chooseLaunch(0)");
    browser.until("ctm.state.launch.value === 0 && ctm.state.run.value?.outputs[0]?.name.includes('uncached') && !ctm.state.working.value");
    browser.evaluate("ctm.state.open('saxpy')");
    browser.until("ctm.state.entry.value === 'saxpy' && ctm.state.run.value && !ctm.state.working.value && !ctm.editor().state.readOnly && !document.querySelector('#which')");
}

/// The pictures of docs/page.md, which CTM_PICTURES=1 makes anew; otherwise they are known to be there.
#[test]
fn the_pictures_of_the_page_are_made() {
    let shots: [(&str, &str, [u32; 2], &str); 4] = [
        ("page", "mandelbrot", [120, 200], "ctm.state.step(24)"),
        ("page-history", "draw/cube", [160, 120], "ctm.state.show('history')"),
        (
            "page-steps",
            "draw/cube",
            [70, 60],
            "ctm.state.show('steps'), ctm.state.step(ctm.state.steps.value.count - 3)",
        ),
        ("page-glsl", "lessons/marble", [128, 96], "ctm.state.show('steps'), ctm.state.step(18)"),
    ];
    let path = |name: &str| root().join(format!("docs/{name}.png"));
    if std::env::var_os("CTM_PICTURES").is_none() {
        assert!(shots.iter().map(|shot| shot.0).chain(["page-capture"]).all(|name| path(name).is_file()));
        return;
    }
    let Some(mut browser) = started() else { return };
    let server = Server::with(&[captured()]);
    let entry = captured();
    browser.open(&server.address());
    browser.until("window.ctm && ctm.state.run.value && !ctm.state.working.value");
    size(&mut browser, 1280, 800, false);
    browser.evaluate("ctm.state.greeting.value = false");
    browser.evaluate(&format!("ctm.state.open({})", json!(entry)));
    browser.until("ctm.state.given.value === 'capture' && ctm.state.run.value && !ctm.state.working.value");
    browser.evaluate("ctm.state.choose([17, 40])");
    browser.until(READY);
    browser.evaluate("ctm.state.step(5)");
    let save = |browser: &mut Browser, name: &str| {
        std::thread::sleep(std::time::Duration::from_millis(400));
        std::fs::write(path(name), browser.png()).unwrap();
    };
    save(&mut browser, "page-capture");
    for (name, entry, at, then) in shots {
        browser.evaluate(&format!("ctm.state.open({})", json!(entry)));
        browser.until(&format!("ctm.state.entry.value === {} && {READY}", json!(entry)));
        browser.evaluate(&format!("ctm.state.choose({})", json!(at)));
        browser.until(READY);
        browser.evaluate(then);
        browser.until(READY);
        save(&mut browser, name);
    }
}

/// Nothing is cut, small or without a name: at the sizes of a phone, a small and a large screen, light and dark, in every view.
#[test]
fn every_view_fits_and_is_accessible() {
    let Some(mut browser) = started() else { return };
    let axe = std::fs::read_to_string(root().join("editors/page/node_modules/axe-core/axe.min.js")).ok();
    if axe.is_none() {
        println!("axe-core is not there (`npm ci` in editors/page): only sizes are looked at");
    }
    let server = Server::start();
    for (entry, views) in [
        ("mandelbrot", ["steps", "profile", "manual", "gallery", "tour"].as_slice()),
        ("draw/cube", ["steps", "history", "funnel", "vertices"].as_slice()),
        ("lessons/marble", ["steps"].as_slice()),
    ] {
        opened(&mut browser, &server, entry);
        if let Some(axe) = &axe {
            browser.evaluate(&format!("{axe}; 1"));
        }
        browser.evaluate(match entry {
            "mandelbrot" => "ctm.state.step(24)",
            "draw/cube" => "ctm.state.showMesh(true)",
            _ => "ctm.state.step(30)",
        });
        fits(&mut browser, entry, views, axe.is_some());
    }
}

fn fits(browser: &mut Browser, entry: &str, views: &[&str], has_axe: bool) {
    for (width, height) in [(390, 844), (1366, 768), (1920, 1080)] {
        for dark in [false, true] {
            size(browser, width, height, dark);
            for &view in views {
                let what = format!("{entry}, {view} at {width}, {}", if dark { "dark" } else { "light" });
                browser.evaluate(&match view {
                    "gallery" => "ctm.state.gallery.value = true".to_owned(),
                    "tour" => "ctm.state.gallery.value = false, ctm.state.tour.value = 3".to_owned(),
                    view => {
                        format!("ctm.state.problem.value = '', ctm.state.tour.value = -1, ctm.state.show('{view}')")
                    }
                });
                browser.until(
                    "!ctm.state.working.value && (ctm.state.tab.value !== 'profile' || ctm.state.profile.value || ctm.state.problem.value)",
                );
                browser.until("!['history', 'funnel'].includes(ctm.state.tab.value) || ctm.state.inspected.value");
                browser.until("ctm.state.tab.value !== 'vertices' || ctm.state.vertices.value");
                let colours = if dark { "dark" } else { "light" };
                let name = format!("{}-{view}-{width}-{colours}", entry.rsplit('/').next().unwrap());
                browser.screenshot(&name);
                // Thumbnails come one by one, a profile says so where its time is over, and a tour scrolls a small window.
                if !["gallery", "profile", "tour"].contains(&view) {
                    browser.golden(&name);
                }
                let wide = browser.evaluate("document.documentElement.scrollWidth > innerWidth");
                assert_eq!(wide, false, "{what} is wider than the window");
                if width > 900 {
                    let high = browser.evaluate("document.documentElement.scrollHeight > innerHeight");
                    assert_eq!(high, false, "{what} is higher than the window");
                }
                let small = browser.evaluate("[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) && parseFloat(getComputedStyle(e).fontSize) < 12).map((e) => e.outerHTML.slice(0, 80)).join()");
                assert_eq!(small, "", "{what} has text below 12 pixels");
                if has_axe {
                    let found = browser.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')}`).join('\\n'))");
                    assert_eq!(found, "", "{what}");
                }
            }
        }
    }
}
