// The page of `ctm serve`, and the file that it shares: then there is a state and no server.
import { effect } from "@preact/signals";
import { render } from "preact";
import { useRef } from "preact/hooks";
import { acceptDrops } from "./drop";
import { Editor, Findings, view } from "./editor";
import { Funnel, History, VertexTable } from "./draws";
import { Gallery, greet, Greeting, Tour } from "./gallery";
import { Glsl } from "./glsl";
import { Group } from "./group";
import { copyLink, followLink } from "./link";
import { Picture, primitives } from "./picture";
import { Registers } from "./registers";
import { restore, share, sharedState } from "./share";
import { base64 } from "./numbers";
import * as state from "./state";
import { Manual, Profile } from "./tabs";
import { Timeline } from "./timeline";
import { WhyPanel } from "./why";

const { busy, draws, entry, file, files, gallery, given, isShared, launch, launches, problem, run, server, show, status, step, steps, tab, working } = state;

function Header() {
  const waiting = working.value, seconds = waiting && waiting.tick ? Math.round((waiting.tick - waiting.since) / 1000) : 0;
  return (
    <header>
      <h1>ctm</h1>
      <button id="programs" disabled={isShared.value} aria-haspopup="dialog" title="all built-in programs, and your files" onClick={() => (gallery.value = true)}><span class="dim">program</span> <b>{entry.value.split("/").slice(-2).join("/")}</b> ▾</button>
      {(given.value || launches.value.length > 1) && (
        <label id="which">launch <select id="launches" disabled={isShared.value} value={launch.value ?? ""} onChange={(e) => state.chooseLaunch(e.currentTarget.value === "" ? null : +e.currentTarget.value)}>
          {!given.value && <option value="">the last one that has the pixel</option>}
          {launches.value.map((text, n) => <option value={n}>{text}</option>)}
        </select></label>
      )}
      {!isShared.value && <button id="run" title="run the program (Ctrl-Enter)" onClick={() => state.runJob()}>Run</button>}
      {!isShared.value && <button id="format" title="lay the program out (Shift-Alt-F)" onClick={() => state.layOut()}>Format</button>}
      {!isShared.value && <button id="share" title="one HTML file with everything that is shown" onClick={() => busy("writing", share)}>Share</button>}
      {!isShared.value && server.isLocal && <button id="link" title="the address of this page with the program in it, to send to others" onClick={() => busy("writing", copyLink)}>Link</button>}
      {!isShared.value && <button id="help" title="a tour of five steps" onClick={() => (state.tour.value = 0)}>Tour</button>}
      <button id="theme" class="icon" aria-label="light or dark" title="light or dark" aria-pressed={state.dark.value} onClick={() => (state.dark.value = !state.dark.value)}>◐</button>
      <output id="status" role="status">{waiting ? `${waiting.what} …${waiting.share !== undefined ? ` ${Math.round(100 * waiting.share)} %` : seconds > 1 ? ` ${seconds} s` : ""}` : status.value}</output>
      {waiting && !isShared.value && <button id="stop" title="ends what is under way: nothing is lost" onClick={() => state.stop()}>Stop</button>}
      {waiting && (waiting.share === undefined
        ? <div class="progress" role="progressbar" aria-label={waiting.what} />
        : <div class="progress known" role="progressbar" aria-label={waiting.what} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(100 * waiting.share)} style={{ width: `${100 * waiting.share}%` }} />)}
    </header>
  );
}

function Texts() {
  return (
    <section id="left" aria-label="texts">
      <div class="tabs" role="tablist" aria-label="files" onKeyDown={arrows}>
        {files.value.map((one, n) => <button role="tab" id={`file-${n}`} aria-controls="editor-panel" aria-selected={n === file.value} tabIndex={n === file.value ? 0 : -1} onClick={() => (file.value = n)}>{one.name}</button>)}
      </div>
      <Glsl />
      <div id="editor-panel" role="tabpanel" aria-labelledby={`file-${file.value}`}><Editor /></div>
      <Findings />
    </section>
  );
}

/** Arrow keys go from tab to tab. */
function arrows(event: KeyboardEvent) {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")], at = tabs.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
  if (at >= 0 && to !== undefined && tabs[to]) { event.preventDefault(); event.stopPropagation(); tabs[to].click(); tabs[to].focus(); }
}

function Inspector() {
  const views: [state.View, string][] = [["steps", "Registers and why"], ["profile", "Profile"], ["manual", "Manual"]];
  if (draws.value) views.push(["history", "Pixel history"], ["funnel", "Why nothing?"], ["vertices", "Vertices"]);
  return (
    <div id="inspector">
      <div class="tabs" role="tablist" aria-label="views" onKeyDown={arrows}>
        {views.map(([name, text], n) => <button role="tab" id={`view-${name}`} data-view={name} aria-controls="view" title={`Alt-${n + 1}`} aria-selected={tab.value === name} tabIndex={tab.value === name ? 0 : -1} onClick={() => show(name)}>{text}</button>)}
      </div>
      <div id="view" role="tabpanel" aria-labelledby={`view-${tab.value}`}>
        {tab.value === "steps" && <div class="halves"><Registers /><WhyPanel /></div>}
        {tab.value === "profile" && <Profile />}
        {tab.value === "manual" && <Manual />}
        {tab.value === "history" && <History />}
        {tab.value === "funnel" && <Funnel />}
        {tab.value === "vertices" && <VertexTable />}
      </div>
    </div>
  );
}

/** A bar between two parts, moved by the mouse or by arrow keys; it sets a share of its parent. */
function Splitter({ name, across, label }: { name: string; across: boolean; label: string }) {
  const bar = useRef<HTMLDivElement>(null);
  const set = (share: number) => {
    const held = Math.max(15, Math.min(85, share));
    bar.current!.parentElement!.style.setProperty(name, `${held}%`);
    bar.current!.setAttribute("aria-valuenow", String(Math.round(held)));
  };
  const shareOf = (event: { clientX: number; clientY: number }) => {
    const box = bar.current!.parentElement!.getBoundingClientRect();
    return across ? (100 * (event.clientX - box.left)) / box.width : (100 * (event.clientY - box.top)) / box.height;
  };
  return (
    <div ref={bar} class={`splitter ${across ? "across" : "down"}`} role="separator" tabIndex={0} aria-label={label} aria-orientation={across ? "vertical" : "horizontal"} aria-valuenow={45} aria-valuemin={15} aria-valuemax={85}
      onPointerDown={(e) => { bar.current!.setPointerCapture(e.pointerId); }}
      onPointerMove={(e) => { if (bar.current!.hasPointerCapture(e.pointerId)) set(shareOf(e)); }}
      onKeyDown={(e) => {
        const by = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[e.key];
        if (by) { e.preventDefault(); e.stopPropagation(); set(+bar.current!.getAttribute("aria-valuenow")! + by); }
      }} />
  );
}

function App() {
  return (
    <>
      <Header />
      <Greeting />
      {problem.value && <div id="problem" role="alert"><pre tabIndex={0}>{problem.value}</pre><button class="icon" aria-label="close the message" onClick={() => (problem.value = "")}>×</button></div>}
      {run.value?.said && <details id="said"><summary>{run.value.said.split("\n").filter((l) => l && !l.startsWith(" ")).length} findings of the run</summary><pre tabIndex={0}>{run.value.said}</pre></details>}
      <main>
        <Texts />
        <Splitter name="--left" across label="width of the text" />
        <section id="right" aria-label="results">
          <div id="top"><Picture /><Splitter name="--picture" across label="width of the picture" /><Group /></div>
          <Splitter name="--top" across={false} label="height of the picture" />
          <Inspector />
        </section>
      </main>
      <Timeline />
      <Gallery />
      <Tour />
    </>
  );
}

document.addEventListener("keydown", (event) => {
  const chosen = ({ 1: "steps", 2: "profile", 3: "manual", 4: "history", 5: "funnel", 6: "vertices" } as const)[event.key as "1"];
  if (event.altKey && chosen && (draws.value || event.key < "4")) { event.preventDefault(); show(chosen); return; }
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !isShared.value && !event.defaultPrevented) { event.preventDefault(); state.runJob(); return; }
  const target = event.target as HTMLElement, typing = target.closest("input, select, textarea, .cm-editor, dialog, [role=application], [role=tablist]");
  if (event.defaultPrevented || typing || event.ctrlKey || event.metaKey || event.altKey || !steps.value) return;
  const all = steps.value, { now } = state;
  const to = event.key === "ArrowRight" && event.shiftKey ? all.over(now.value) : { ArrowLeft: now.value - 1, ArrowRight: now.value + 1, Home: 0, End: all.count - 1 }[event.key];
  if (to !== undefined) { event.preventDefault(); step(to); }
});

// Before anything is drawn again: pictures take their colours from the page.
effect(() => { document.documentElement.classList.toggle("dark", state.dark.value); });

async function begin() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  state.dark.value = system.matches;
  system.onchange = () => (state.dark.value = system.matches);
  const restored = await restore();
  // Before anything is drawn: answers take time.
  const asked = restored ? null : [server.ask("words", {}), server.ask("entries", {})] as const;
  render(<App />, document.getElementById("page")!);
  if (!asked) return;
  greet();
  await busy("opening", async () => {
    const [words, { entries }] = await Promise.all(asked);
    state.words.value = words;
    state.entries.value = entries;
  });
  if (server.put) acceptDrops();
  const follow = async () => { let followed = false; await state.attempt(async () => { followed = await followLink(); }); return followed; };
  addEventListener("hashchange", follow);
  // A damaged link says so, beside the first example.
  if (await follow()) return;
  const said = problem.value;
  if (state.entries.value.length) await state.open(state.entries.value[0].name);
  if (said) problem.value = said;
}

// For tests, and for the console.
Object.assign(window, { ctm: { state, base64, editor: () => view, outlined: primitives, sharedState } });
begin();
