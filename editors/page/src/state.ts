// What the page shows, and what its buttons do. Components read the signals.
import { batch, computed, signal } from "@preact/signals";
import type { Words } from "./language";
import { floats, type Form } from "./numbers";
import { Local } from "./local";
import { Http, Replaced, type Server } from "./server";
import { isPixel, Steps } from "./steps";
import type { Entry, Inspected, Output, PageFinding, ProfileCounts, Run, TextFile, Trace, Vertices, WhyTree } from "./wire";

/** What a shared file holds. */
export interface Shared {
  entry: string; files: TextFile[]; file: number; words: Words; run: Run | null; trace: Trace | null; at: [number, number] | null;
  now: number; profile: ProfileCounts | null; why: WhyTree[] | null; given: string | null; draws?: boolean; inspected?: Inspected | null; vertices?: Vertices | null; launches: string[]; launch: number | null; output: number;
}

/** A page without a server names its worker. */
const worker = document.documentElement.dataset.engine;
export const server: Server = worker ? new Local(worker) : new Http();
export const isShared = signal(false);

export const entries = signal<Entry[]>([]);
export const entry = signal("");
export const given = signal<string | null>(null);
/** The entry draws: its pixels have histories, and its draws have primitives. */
export const draws = signal(false);
export const files = signal<TextFile[]>([]);
/** The texts of the entry as it was opened. */
export const originals = signal<Record<string, string>>({});
export const file = signal(0);
/** Files that are listings: nothing to edit. */
export const listings = signal(new Set<string>());
export const words = signal<Words>({});
export const launches = signal<string[]>([]);
export const launch = signal<number | null>(null);
export const findings = signal<PageFinding[]>([]);

export const run = signal<Run | null>(null);
export const kept = signal<Run | null>(null);
export const output = signal(0);
export const at = signal<[number, number] | null>(null);
export const trace = signal<Trace | null>(null);
export const now = signal(0);
export const lane = signal(0);
export const why = signal<WhyTree[] | null>(null);
export const profile = signal<ProfileCounts | null>(null);
export const inspected = signal<Inspected | null>(null);
export const vertices = signal<Vertices | null>(null);
/** The fragment that is followed, instead of the last one of the pixel: its draw, and which run of the program it is. */
export const fragment = signal<{ draw: number; run: number; primitive: number; instance: number } | null>(null);
/** The vertex that is followed, instead of a pixel: its number and instance. */
export const vertex = signal<[number, number] | null>(null);
/** A stage of a funnel whose primitives are marked. */
export const marked = signal<{ draw: number; key: string } | null>(null);
export const mesh = signal(false);
/** How far the viewer of a draw has moved: degrees to the right and up, its distance as a multiple of the job's, and the point of the animation. */
export const viewer = signal<{ turn: [number, number]; distance: number; time: number }>({ turn: [0, 0], distance: 1, time: 0 });
/** Positions of sliders that have been moved, by number. */
export const moved = signal<Record<number, number>>({});
export const manual = signal<{ topic: string; text: string }>({ topic: "", text: "" });

export type View = "steps" | "profile" | "manual" | "history" | "funnel" | "vertices";
export const tab = signal<View>("steps");
export const form = signal<Form>("float");
export const gallery = signal(false);
export const tour = signal(-1);
export const greeting = signal(false);
export const dark = signal(false);
export const status = signal("");
export const problem = signal("");
/** Work under way; `share` of it is done, where that is known. */
export const working = signal<{ what: string; since: number; tick: number; share?: number } | null>(null);
/** Asks the editor to go to a line. */
export const goTo = signal<{ line: number; file?: string } | null>(null);

export const steps = computed(() => (trace.value ? new Steps(trace.value) : null));
export const shownOutput = computed<Output | undefined>(() => run.value?.outputs[output.value] ?? run.value?.outputs[0]);

const decoded = new WeakMap<Output, Float32Array | null>();
export function valuesOf(of: Output | undefined) {
  if (!of) return null;
  if (!decoded.has(of)) decoded.set(of, typeof of.values === "string" ? floats(of.values) : of.values);
  return decoded.get(of) ?? null;
}

/** Numbers from 0 to 1, and not all the same. */
function looksLikeAPicture(of: Output) {
  const values = valuesOf(of);
  if (!values) return false;
  let within = 0, differ = false;
  for (const value of values) {
    if (value >= -0.01 && value <= 1.01) within++;
    differ ||= value !== values[0];
  }
  return differ && within * 20 >= values.length * 19;
}

export const current = () => files.value[file.value];
const texts = () => Object.fromEntries(files.value.filter((one) => !listings.value.has(one.name)).map((one) => [one.name, one.text]));
// Of a capture or a recording nothing can be edited.
export const question = (more: object = {}) => ({ entry: entry.value, files: given.value ? {} : texts(), launch: launch.value, sliders: Object.entries(moved.value).map(([n, value]) => [+n, value] as [number, number]), ...(draws.value && !given.value && viewer.value), ...more });

/** What is traced: the pixel, one of its fragments, or a vertex. */
const traced = () => vertex.value
  ? { at: vertex.value, stage: "vertex" }
  : { at: at.value, ...(fragment.value && { launch: fragment.value.draw, fragment: fragment.value.run }) };

/** Does something that takes a while, and says so. */
export async function busy(what: string, work: () => Promise<void>) {
  const mine = { what, since: Date.now(), tick: 0 };
  working.value = mine;
  const timer = setInterval(() => { if (working.value?.since === mine.since) working.value = { ...working.value, tick: Date.now() }; }, 250);
  try {
    await work();
    problem.value = "";
  } catch (error) {
    if (!(error instanceof Replaced)) problem.value = (error as Error).message;
  } finally {
    clearInterval(timer);
    if (working.value?.since === mine.since) working.value = null;
  }
}

/** Does something that ends with `open`, which has a message of its own: only errors before it are shown. */
export async function attempt(work: () => Promise<void>) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Replaced)) problem.value = (error as Error).message;
  }
}

/** The state that a link holds beside the entry. */
export interface Linked { texts?: Record<string, string>; launch?: number | null; sliders?: Record<number, number>; at?: [number, number] | null }

export const open = (name: string, linked: Linked = {}) => busy("opening", async () => {
  const answer = await server.ask("open", { entry: name });
  batch(() => {
    entry.value = name; listings.value = new Set(); given.value = answer.given; draws.value = answer.draws; launches.value = []; launch.value = linked.launch ?? null;
    originals.value = Object.fromEntries(answer.files.map((one) => [one.name, one.text]));
    files.value = answer.files.map((one) => ({ ...one, text: linked.texts?.[one.name] ?? one.text }));
    run.value = kept.value = null; output.value = 0; clear(); at.value = linked.at ?? null; mesh.value = false; moved.value = linked.sliders ?? {}; viewer.value = { turn: [0, 0], distance: 1, time: 0 };
    if (!answer.draws && drawn.includes(tab.value)) tab.value = "steps";
    // Programs are what one comes for; the job is beside them.
    file.value = answer.given ? 0 : Math.max(0, answer.files.length - 1);
  });
  await runNow();
  const outputs = run.value?.outputs ?? [];
  output.value = Math.max(0, outputs.findIndex(looksLikeAPicture));
  // A pixel is chosen from the start, so that everything there is can be seen.
  const d = run.value?.domain, known = entries.value.find((one) => one.name === name)?.at;
  if (d && !at.value && run.value?.outputs.length) {
    const middle: [number, number] = [(d[0] + d[2] + 1) >> 1, (d[1] + d[3] + 1) >> 1];
    await traceNow(known ?? middle, 0).catch(noSteps);
    if (!trace.value) at.value = null;
  }
  await inspectNow();
});

/** Views of draws alone. */
const drawn: View[] = ["history", "funnel", "vertices"];

export function stop() {
  server.stop();
  working.value = null;
  status.value = "stopped";
}

function clear() {
  trace.value = null; why.value = null; profile.value = null; now.value = 0;
  inspected.value = null; vertices.value = null; fragment.value = null; vertex.value = null; marked.value = null;
}

export const runJob = () => busy("running", runNow);

async function listLaunches() {
  const list = (await server.ask("launches", question())).launches;
  launches.value = list;
  if (launch.value !== null && launch.value >= list.length) launch.value = null;
  if (given.value && launch.value === null) launch.value = list.length ? list.length - 1 : null;
  if (given.value && !list.length) throw new Error(`the ${given.value} has none`);
}

async function runNow() {
  // A run of the last launch need not know the others, which are listed after it.
  const isLast = !given.value && launch.value === null;
  if (!isLast) await listLaunches();
  const answer = await server.ask("run", question());
  batch(() => {
    if (answer.files.length) { files.value = answer.files; file.value = 0; }
    clear();
    run.value = answer;
    if (output.value >= answer.outputs.length) output.value = 0;
    if (at.value && !inside(at.value)) at.value = null;
    status.value = `ran in ${answer.milliseconds.toFixed(1)} ms`;
  });
  if (isLast && files.value.length) await listLaunches();
  if (at.value) await traceNow(at.value, 0).catch(noSteps);
  if (tab.value === "profile") await profileNow();
  await inspectNow();
}

/** Runs with the sliders as they are, and shows the picture alone. */
export async function redraw() {
  try {
    const answer = await server.ask("run", question());
    batch(() => { run.value = answer; trace.value = null; why.value = null; inspected.value = null; problem.value = ""; });
    return true;
  } catch (error) {
    if (!(error instanceof Replaced)) problem.value = (error as Error).message;
    return false;
  }
}

/** The steps of the pixel after sliders have been moved. */
export const rerun = () => busy("tracing", async () => {
  await traceNow(at.value!, Infinity).catch(noSteps);
  await inspectNow();
});

function noSteps(error: Error) {
  if (error instanceof Replaced) return;
  trace.value = null;
  status.value = error.message;
}

export function chooseLaunch(number: number | null) {
  launch.value = number;
  runJob();
}

export function inside([i, j]: [number, number]) {
  const d = run.value?.domain;
  return !d || (i >= d[0] && j >= d[1] && i <= d[2] && j <= d[3]);
}

/** Follows a pixel; at the same step where it has that many. */
export const choose = (pixel: [number, number], step = now.value) => busy("tracing", async () => {
  batch(() => { fragment.value = null; vertex.value = null; at.value = pixel; });
  // Pixels without a fragment have a history as well: why there is none.
  const history = inspectNow();
  await traceNow(pixel, step).catch((error) => { if (!draws.value) throw error; noSteps(error); });
  await history;
});

/** Follows a fragment of the pixel. */
export const chooseFragment = (of: NonNullable<typeof fragment.value>) => busy("tracing", async () => {
  batch(() => { fragment.value = of; vertex.value = null; });
  await traceNow(at.value!, Infinity);
});

/** Follows a vertex. */
export const chooseVertex = (of: [number, number]) => busy("tracing", async () => {
  batch(() => { vertex.value = of; fragment.value = null; });
  await traceNow(of, Infinity);
});

/** The pixel whose fragments are inspected. */
let inspectedAt = "";

/** What the views of draws show. */
async function inspectNow(again = false) {
  if (!draws.value || isShared.value) return;
  const of = at.value?.join() ?? "";
  if ((drawn.includes(tab.value) || mesh.value) && (again || !inspected.value || inspectedAt !== of)) {
    inspected.value = await server.ask("inspect", question({ at: at.value }));
    inspectedAt = of;
  }
  if (tab.value === "vertices" && !vertices.value) vertices.value = await server.ask("vertices", question());
}

async function traceNow(pixel: [number, number], step: number) {
  if (!vertex.value) at.value = pixel;
  let answer;
  try {
    answer = await server.ask("trace", question(traced()));
  } catch (error) {
    if (!(error instanceof Replaced)) batch(() => { trace.value = null; why.value = null; });
    throw error;
  }
  batch(() => {
    trace.value = answer;
    lane.value = answer.lane;
    why.value = null;
    now.value = Math.max(0, Math.min(step, answer.steps.length - 1));
    status.value = `${vertex.value ? `vertex ${pixel[0]}` : `pixel (${pixel.join(", ")})`}: ${answer.steps.length} steps`;
    if (!drawn.includes(tab.value)) tab.value = "steps";
    showText();
  });
  await explainLast();
}

/** The text of the traced program, as a file if it is none yet. */
function showText() {
  const traced = trace.value!;
  const base = (name: string) => name.split("/").pop()!;
  let number = files.value.findIndex((one) => base(one.name) === base(traced.name));
  if (number < 0) {
    listings.value = new Set([...listings.value, base(traced.name)]);
    files.value = [...files.value, { name: base(traced.name), text: traced.text, language: traced.isa === "x1k" ? "ctm-x1k" : "ctm-r700" }];
    number = files.value.length - 1;
  }
  if (file.value !== number) file.value = number;
}

/** A lane of the group becomes the pixel. */
export function chooseLane(number: number) {
  const position = trace.value?.positions[number];
  if (!position || !isPixel(position)) return;
  if (isShared.value) {
    if (steps.value!.has(number)) batch(() => { lane.value = number; at.value = position; });
    return;
  }
  if (vertex.value) chooseVertex(position);
  else if (position.join() !== at.value?.join() || !fragment.value) choose(position);
}

export function step(to: number) {
  const all = steps.value;
  if (all && to >= 0) now.value = Math.max(0, Math.min(all.count - 1, to));
}

// ---- why

/** The origin of a value after a step. */
export const explain = (place: string, after = now.value) => busy("asking why", async () => {
  const answer = await server.ask("why", question({ ...traced(), value: place, step: after + 1 }));
  why.value = answer.trees;
});

/** At first: the last thing that the program wrote for the pixel, most often its colour. */
async function explainLast() {
  const all = steps.value;
  if (!all || isShared.value) return;
  for (let n = all.count - 1; n >= 0; n--) {
    const wrote = all.writes(n, all.data.lane).filter((write) => /^(o\d|PIX|POS|PARAM)/.test(write.name));
    if (!wrote.length) continue;
    const answer = await server.ask("why", question({ ...traced(), value: wrote[0].name }));
    why.value = answer.trees;
    return;
  }
}

// ---- profile and manual

async function profileNow() {
  const ticket = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  let over = false;
  if (working.value) working.value = { ...working.value, what: "counting every lane" };
  const watch = async () => {
    while (!over) {
      await new Promise((later) => setTimeout(later, 200));
      const share = over ? null : (await server.ask("progress", { ticket }).catch(() => ({ share: null }))).share;
      if (!over && share !== null && working.value) working.value = { ...working.value, share };
    }
  };
  // A worker that counts answers nothing else.
  if (!server.isLocal) void watch();
  try {
    profile.value = await server.ask("profile", question({ ticket }));
    status.value = "counted";
  } finally {
    over = true;
  }
}

export const count = () => busy("counting every lane", profileNow);

export function show(view: typeof tab.value) {
  tab.value = view;
  if (view === "profile" && !profile.value && !isShared.value) count();
  if (drawn.includes(view)) busy("drawing", () => inspectNow());
}

/** The primitives over the picture, or not. */
export function showMesh(to: boolean) {
  mesh.value = to;
  if (to) busy("drawing", () => inspectNow());
}

export const lookUp = (topic: string) => busy("looking up", async () => {
  tab.value = "manual";
  manual.value = { topic, text: "" };
  const answer = await server.ask("manual", { topic, language: current()?.language });
  manual.value = { topic, text: answer.text };
});

export const layOut = () => busy("laying out", async () => {
  const one = current();
  if (given.value) throw new Error(`the programs of a ${given.value} are as they are`);
  if (!one?.language || one.language === "toml") throw new Error("only programs are laid out");
  const { text } = await server.ask("format", { language: one.language, text: one.text });
  setText(text);
  status.value = "laid out";
});

/** The open file has another text. */
export function setText(text: string) {
  files.value = files.value.map((one, n) => (n === file.value ? { ...one, text } : one));
}
