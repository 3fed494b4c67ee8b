// The page of `ctm serve`, and the file that it shares: then there is a state and no server.
import { Annotation, EditorState, Compartment, StateEffect, StateField } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, highlightActiveLine, drawSelection, hoverTooltip, Decoration } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { linter, lintGutter, lintKeymap, forceLinting } from "@codemirror/lint";
import { searchKeymap, highlightSelectionMatches } from "@codemirror/search";
import { language } from "./language.js";
import { Steps, element } from "./steps.js";

const $ = (id) => document.getElementById(id);
const shared = JSON.parse($("state").textContent);

// What is shown; a shared file begins with it.
const state = shared || {
  entry: null, given: null, launches: [], launch: null, files: [], words: null, file: 0, run: null, trace: null, at: null, now: 0, selected: undefined, profile: null, manual: "", view: "picture",
};
let steps = null, editor = null;

// Questions under way, by name, that a new one of the same name makes pointless: the server drops what nobody waits for.
const latest = new Map();
const replaced = ["check", "hover", "complete", "run", "trace", "profile"];

async function ask(name, question) {
  const control = new AbortController();
  if (replaced.includes(name)) {
    latest.get(name)?.abort();
    latest.set(name, control);
  }
  let response;
  try {
    response = await fetch("api/" + name, { method: "POST", body: JSON.stringify(question), signal: control.signal });
  } catch {
    if (control.signal.aborted) throw Object.assign(new Error("a newer question has replaced this one"), { replaced: true });
    throw new Error("the server has gone: start `ctm serve` again");
  }
  if (!response.ok) throw new Error((await response.text()).trim());
  const answer = await response.json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

function status(text) {
  $("status").textContent = text;
  $("status").title = text;
}

// Does something that takes a while; what goes wrong stands in the view's place.
async function busy(what, place, work) {
  status(what + " ...");
  try {
    await work();
  } catch (error) {
    if (error.replaced) return;
    status("");
    if (place) { $(place).textContent = ""; $(place).append(element("pre", { role: "alert" }, error.message)); }
    else status(error.message);
  }
}

// ---- texts

const languages = new Compartment(), fixed = new Compartment();
const here = StateEffect.define();
const hereField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    marks = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(here)) continue;
      const line = effect.value;
      marks = line > 0 && line <= transaction.state.doc.lines
        ? Decoration.set([Decoration.line({ class: "cm-here" }).range(transaction.state.doc.line(line).from)])
        : Decoration.none;
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const current = () => state.files[state.file];
const texts = () => Object.fromEntries(state.files.map((file) => [file.name, file.text]));
// Of a capture or a recording nothing can be edited.
const question = (more) => ({ entry: state.entry, files: state.given ? {} : texts(), launch: state.launch, ...more });
const inText = (offset) => ({ language: current().language, text: current().text, offset });

const findings = linter(async (view) => {
  const file = current();
  if (shared || !file || !file.language) { showFindings([]); return []; }
  const answer = await ask("check", { language: file.language, text: view.state.doc.toString() }).catch((e) => { if (!e.replaced) status(e.message); return { findings: [] }; });
  const length = view.state.doc.length;
  const found = answer.findings.map((f) => ({
    from: Math.min(f.from, length), to: Math.min(Math.max(f.to, f.from), length), severity: f.severity, message: f.message, source: f.rule,
  }));
  showFindings(found);
  return found;
}, { delay: 200 });

function showFindings(found) {
  $("findings").textContent = "";
  for (const finding of found) {
    const line = editor.state.doc.lineAt(finding.from);
    $("findings").append(element("button", {
      class: finding.severity,
      onclick: () => { editor.dispatch({ selection: { anchor: finding.from }, scrollIntoView: true }); editor.focus(); },
    }, `${line.number}:${finding.from - line.from + 1} ${finding.severity}: ${finding.message}`));
  }
}

const hover = hoverTooltip(async (view, offset) => {
  if (shared || !current().language) return null;
  const answer = await ask("hover", inText(offset)).catch(() => ({}));
  if (!answer.text) return null;
  const word = view.state.wordAt(offset);
  return {
    pos: word ? word.from : offset,
    end: word ? word.to : offset,
    above: true,
    create: () => ({ dom: element("div", { class: "hover" }, answer.text.replace(/^```.*\n?/gm, "")) }),
  };
});

async function complete(context) {
  const word = context.matchBefore(/[A-Za-z_0-9]*/);
  if (shared || !current().language || (word.from === word.to && !context.explicit && context.state.sliceDoc(word.from - 1, word.from) !== ".")) return null;
  const answer = await ask("complete", inText(context.pos)).catch(() => ({ items: [] }));
  return { from: word.from, options: answer.items, validFor: /^[A-Za-z_0-9]*$/ };
}

async function goToDefinition(view) {
  const answer = await ask("definition", inText(view.state.selection.main.head)).catch(() => ({}));
  if (answer.offset !== undefined && answer.offset !== null) view.dispatch({ selection: { anchor: answer.offset }, scrollIntoView: true });
}

async function format() {
  const file = current();
  if (state.given) return status(`the programs of a ${state.given} are as they are`);
  if (!file.language) return status("only programs are laid out");
  const { text } = await ask("format", { language: file.language, text: file.text });
  if (text !== file.text) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  status("laid out");
}

const run = () => busy("running", "picture", async () => {
  if (!state.given) await listLaunches();
  const answer = await ask("run", question({}));
  if (state.given) {
    state.files = answer.files || [];
    delete answer.files;
    state.file = 0;
    drawFiles();
  }
  state.run = answer;
  if (state.at && !inside(state.at)) state.at = null;
  status(`done in ${answer.milliseconds.toFixed(1)} ms`);
  drawPicture();
  show(state.view === "manual" || state.view === "profile" ? "picture" : state.view);
  if (state.view === "steps") trace(state.at);
});

const keys = [
  { key: "Mod-Enter", run: () => (run(), true) },
  { key: "Shift-Alt-f", run: () => (busy("laying out", null, format), true) },
  { key: "F12", run: (view) => (goToDefinition(view), true) },
  { key: "F1", run: (view) => { const w = view.state.wordAt(view.state.selection.main.head); manual(w ? view.state.sliceDoc(w.from, w.to) : ""); return true; } },
];

function makeEditor() {
  const changed = EditorView.updateListener.of((update) => {
    if (update.docChanged && !update.transactions.some((t) => t.annotation(switching))) current().text = update.state.doc.toString();
  });
  editor = new EditorView({
    parent: $("editor"),
    state: EditorState.create({
      doc: "",
      extensions: [
        lineNumbers(), highlightActiveLine(), drawSelection(), history(), highlightSelectionMatches(), lintGutter(), findings, hover,
        autocompletion({ override: [complete] }), hereField, changed, languages.of([]),
        fixed.of(EditorState.readOnly.of(Boolean(shared))),
        EditorView.contentAttributes.of({ "aria-label": "program text" }),
        keymap.of([...keys, ...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]),
        EditorView.domEventHandlers({ dblclick: (_, view) => { if (steps) steps.goToLine(view.state.doc.lineAt(view.state.selection.main.head).number); } }),
      ],
    }),
  });
}

const switching = Annotation.define();

function openFile(number) {
  state.file = number;
  const file = current() || { text: "", language: null };
  editor.dispatch({
    changes: { from: 0, to: editor.state.doc.length, insert: file.text },
    effects: [
      languages.reconfigure(language(file.language, state.words)),
      fixed.reconfigure(EditorState.readOnly.of(Boolean(shared || state.given))),
      here.of(0),
    ],
    annotations: switching.of(true),
    selection: { anchor: 0 },
  });
  [...$("files").children].forEach((tab, n) => tab.setAttribute("aria-selected", n === number));
  forceLinting(editor);
}

function drawFiles() {
  $("files").textContent = "";
  state.files.forEach((file, n) => $("files").append(element("button", { role: "tab", onclick: () => openFile(n) }, file.name)));
  // Programs are what one comes for; the job is beside them.
  openFile(shared || state.given ? state.file : Math.min(1, state.files.length - 1));
}

const open = (name) => busy("opening", "picture", async () => {
  const answer = await ask("open", { entry: name });
  Object.assign(state, { entry: name, given: answer.given || null, launches: [], launch: null, file: 0, files: answer.files, run: null, trace: null, at: null, profile: null, now: 0, selected: undefined });
  steps = null;
  for (const view of ["picture", "steps", "profile"]) $(view).textContent = "";
  drawFiles();
  drawLaunches();
  if (state.given) {
    await listLaunches();
    if (!state.launches.length) throw new Error(`the ${state.given} has none`);
  }
  await run();
});

// ---- launches: passes, draws, or the launches of a recording

async function listLaunches() {
  const { launches } = await ask("launches", question({}));
  state.launches = launches;
  if (state.launch >= launches.length) state.launch = null;
  if (state.given && state.launch === null) state.launch = launches.length ? launches.length - 1 : null;
  drawLaunches();
}

function drawLaunches() {
  const list = $("launches");
  list.textContent = "";
  $("which").hidden = !state.given && state.launches.length < 2;
  if (!state.given) list.append(element("option", { value: "" }, "the last one that has the pixel"));
  state.launches.forEach((text, n) => list.append(element("option", { value: n }, text)));
  list.value = state.launch === null ? "" : state.launch;
}

function choose(launch) {
  Object.assign(state, { launch, run: null, trace: null, at: null, profile: null, now: 0, selected: undefined });
  steps = null;
  for (const view of ["picture", "steps", "profile"]) $(view).textContent = "";
  run();
}

// ---- views

function show(view) {
  state.view = view;
  for (const tab of $("views").children) {
    const chosen = tab.dataset.view === view;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    $(tab.dataset.view).hidden = !chosen;
  }
  if (view === "steps" && !state.trace && !shared) trace(state.at);
  if (view === "profile" && !state.profile && !shared) profile();
  if (view === "manual" && !$("manual").childNodes.length) drawManual();
}

function inside([i, j]) {
  const d = state.run && state.run.domain;
  return d && i >= d[0] && j >= d[1] && i <= d[2] && j <= d[3];
}

function drawPicture() {
  const place = $("picture");
  place.textContent = "";
  if (!state.run) return;
  if (state.run.said) place.append(element("pre", {}, state.run.said));
  if (!state.run.outputs.length) place.append(element("p", {}, state.given ? "It has no output that can be shown." : "The job has no output."));
  for (const output of state.run.outputs) {
    const image = element("img", { src: output.picture, alt: `output ${output.name}`, title: "click a pixel to see what it did" });
    const frame = element("div", { class: "canvas" }, image);
    if (output.width < 256) { frame.style.width = "min(100%, 24rem)"; image.style.width = "100%"; }
    image.onclick = (event) => {
      const box = image.getBoundingClientRect();
      const i = output.left + Math.floor(((event.clientX - box.left - image.clientLeft) / image.clientWidth) * output.width);
      const j = output.top + Math.floor(((event.clientY - box.top - image.clientTop) / image.clientHeight) * output.height);
      trace([i, j]);
    };
    if (state.at) {
      const cross = element("div", { class: "cross" });
      cross.style.left = (100 * (state.at[0] - output.left + 0.5)) / output.width + "%";
      cross.style.top = (100 * (state.at[1] - output.top + 0.5)) / output.height + "%";
      frame.append(cross);
    }
    place.append(element("figure", {}, element("figcaption", {}, `${output.name}: ${output.width} x ${output.height}, ${output.channels} channels`), frame));
  }
}

const trace = (at) => busy("tracing", "steps", async () => {
  if (!state.run) throw new Error("run the job first");
  const d = state.run.domain;
  state.at = at || [Math.floor((d[0] + d[2] + 1) / 2), Math.floor((d[1] + d[3] + 1) / 2)];
  state.trace = await ask("trace", question({ at: state.at }));
  state.now = 0;
  state.selected = undefined;
  status(`processor (${state.at.join(", ")})`);
  drawPicture();
  drawSteps();
  show("steps");
});

function drawSteps() {
  const file = state.files.findIndex((f) => state.trace.name.endsWith(f.name));
  if (file >= 0 && file !== state.file) openFile(file);
  const place = $("steps");
  place.textContent = "";
  if (!shared) {
    const field = (n, label) => element("input", { type: "number", min: 0, max: 4095, value: state.at[n], "aria-label": label });
    const [i, j] = [field(0, "column"), field(1, "row")];
    const go = () => trace([+i.value, +j.value]);
    place.append(element("form", { class: "controls", onsubmit: (event) => { event.preventDefault(); go(); } }, "processor", i, j, element("button", {}, "Trace")));
  }
  const body = element("div", { tabindex: 0, "aria-label": "steps" });
  place.append(body);
  steps = new Steps(body, state.trace, {
    now: state.now,
    selected: state.selected,
    onLine: (line) => {
      if (steps) { state.now = steps.now; state.selected = steps.selected; }
      const known = file >= 0 && file === state.file && line > 0 && line <= editor.state.doc.lines;
      const effects = [here.of(known ? line : 0)];
      if (known) effects.push(EditorView.scrollIntoView(editor.state.doc.line(line).from, { y: "nearest" }));
      editor.dispatch({ effects });
    },
    onWhy: shared ? null : async (value, position) => (await ask("why", question({ at: position, value })).catch((e) => ({ text: e.message }))).text,
  });
}

const profile = () => busy("counting", "profile", async () => {
  state.profile = await ask("profile", question({}));
  status("counted");
  drawProfile();
});

function drawProfile() {
  const place = $("profile"), { lines } = state.profile;
  place.textContent = "";
  if (!shared) place.append(element("p", {}, element("button", { onclick: profile }, "Count again")));
  if (state.profile.fault) place.append(element("pre", { role: "alert" }, state.profile.fault));
  const most = Math.max(1, ...lines.map((l) => l.clocks));
  const body = element("tbody");
  for (const line of lines) {
    const row = element("tr", { title: `line ${line.line}`, onclick: () => editor.dispatch({ selection: { anchor: editor.state.doc.line(Math.min(line.line, editor.state.doc.lines)).from }, scrollIntoView: true }) });
    row.style.background = `color-mix(in srgb, var(--changed) ${(35 * line.clocks) / most}%, transparent)`;
    const texts = [line.runs, line.lanes.toFixed(1), (100 * line.split).toFixed(0) + "%", line.fetches, line.clocks, line.text];
    row.append(...texts.map((text) => element("td", {}, String(text))));
    body.append(row);
  }
  const head = element("tr", {}, ...["runs", "lanes", "split", "fetches", "clocks", state.profile.name.split("/").pop()].map((t) => element("th", {}, t)));
  place.append(element("table", {}, element("thead", {}, head), body));
  for (const [name, text] of [["instructions", "instructions of each processor"], ["waited", "instructions for which each processor waited"]]) {
    const map = state.profile[name];
    place.append(element("figure", {}, element("figcaption", {}, `${text}: white is ${map.most}`), element("div", { class: "canvas" }, element("img", { src: map.picture, alt: text }))));
  }
}

function drawManual(text) {
  const place = $("manual");
  place.textContent = "";
  const field = element("input", { type: "search", placeholder: "rcp, MULADD, JUMP_FUNC ...", "aria-label": "what to look up", value: state.manual });
  if (!shared) place.append(element("form", { class: "controls", onsubmit: (event) => { event.preventDefault(); manual(field.value); } }, field, element("button", {}, "Look up")));
  place.append(element("pre", {}, text || "The manual's page of an operation, a word or a field. F1 in the text looks up the word at the cursor."));
}

async function manual(topic) {
  state.manual = topic;
  show("manual");
  const answer = await ask("manual", { topic, language: current() && current().language }).catch((e) => ({ text: e.message }));
  drawManual(answer.text);
}

const share = () => busy("writing", null, async () => {
  const response = await fetch("api/share", { method: "POST", body: JSON.stringify(state) });
  if (!response.ok) throw new Error(await response.text());
  const link = element("a", { href: URL.createObjectURL(await response.blob()), download: `${(state.entry || "ctm").split("/").pop().replace(/\.toml$/, "")}.html` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  status("one file, in the downloads");
});

// ---- the whole

function theme(dark) {
  document.documentElement.classList.toggle("dark", dark);
}

async function begin() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme(dark.matches);
  dark.onchange = () => theme(dark.matches);
  $("theme").onclick = () => theme(!document.documentElement.classList.contains("dark"));
  makeEditor();
  for (const tab of $("views").children) tab.onclick = () => show(tab.dataset.view);
  $("views").onkeydown = (event) => {
    const tabs = [...$("views").children], at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
    if (at >= 0 && tabs[to]) { tabs[to].focus(); tabs[to].click(); }
  };
  document.addEventListener("keydown", (event) => {
    const view = { 1: "picture", 2: "steps", 3: "profile", 4: "manual" }[event.key];
    if (event.altKey && view) { event.preventDefault(); show(view); }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !shared && !event.defaultPrevented) { event.preventDefault(); run(); }
  });
  if (shared) {
    for (const id of ["run", "format", "share"]) $(id).remove();
    $("entries").append(element("option", {}, state.entry || ""));
    drawLaunches();
    $("launches").disabled = true;
    drawFiles();
    if (state.run) drawPicture();
    if (state.trace) drawSteps();
    if (state.profile) drawProfile();
    show(state.view);
    return status("a shared page: nothing runs here");
  }
  $("run").onclick = run;
  $("format").onclick = () => busy("laying out", null, format);
  $("share").onclick = share;
  $("entries").onchange = () => open($("entries").value);
  $("launches").onchange = () => choose($("launches").value === "" ? null : +$("launches").value);
  await busy("opening", "picture", async () => {
    state.words = await ask("words", {});
    const { entries } = await ask("entries", {});
    $("entries").append(...entries.map((name) => element("option", { value: name }, name)));
    show("picture");
    await open(entries[0]);
  });
}

// For tests, and for whoever opens the console.
window.ctm = { state, editor: () => editor, steps: () => steps };
begin();
