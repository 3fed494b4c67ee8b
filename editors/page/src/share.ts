// One file with what is shown. Its state is compressed; the numbers of pictures go along while the file stays small.
import { batch } from "@preact/signals";
import { base64 } from "./numbers";
import { plain } from "./picture";
import { at, draws, entry, file, files, given, inspected, isShared, lane, launch, launches, now, output, profile, run, server, type Shared, status, trace, vertices, why, words } from "./state";
import type { Output } from "./wire";

const MOST = 380_000;

async function zipped(state: Shared) {
  const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("gzip"));
  return base64(new Uint8Array(await new Response(stream).arrayBuffer()));
}

export async function sharedState() {
  const state: Shared = {
    entry: entry.value, files: files.value, file: file.value, words: words.value, run: run.value, trace: trace.value, at: at.value, now: now.value,
    profile: profile.value, why: why.value, given: given.value, launches: launches.value, launch: launch.value, output: output.value,
    draws: draws.value, inspected: inspected.value, vertices: vertices.value,
  };
  // In the file numbers are text.
  const asText = (values: Output["values"]) => (values instanceof Float32Array ? base64(new Uint8Array(values.buffer)) : values);
  if (state.run) state.run = { ...state.run, outputs: state.run.outputs.map((o) => ({ ...o, values: asText(o.values) })) };
  let text = await zipped(state);
  if (text.length > MOST && state.run) {
    state.run = { ...state.run, outputs: state.run.outputs.map((o) => ({ ...o, picture: o.picture ?? plain(o), values: null })) };
    text = await zipped(state);
  }
  // Without the primitives and vertices.
  if (text.length > MOST && (state.inspected || state.vertices)) {
    state.vertices = null;
    state.inspected = state.inspected && { draws: state.inspected.draws.map((d) => ({ ...d, shapes: [] })) };
    text = await zipped(state);
  }
  // The values of the chosen lane alone.
  if (text.length > MOST && state.trace) {
    const own = lane.value;
    state.trace = { ...state.trace, steps: state.trace.steps.map((s) => ({ ...s, lanes: s.lanes.filter((l) => l[0] === own) })), start: state.trace.start.filter((s) => s[0] === own) };
    text = await zipped(state);
  }
  return JSON.stringify({ gzip: text });
}

export async function share() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await server.share(await sharedState()));
  link.download = `${(entry.value || "ctm").split("/").pop()!.replace(/\.toml$/, "")}.html`;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  status.value = "one file, in the downloads";
}

/** Shows the state of a shared file, if this page is one. */
export async function restore() {
  const held = JSON.parse(document.getElementById("state")!.textContent!);
  if (!held) return false;
  const text = atob(held.gzip), packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const state: Shared = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  batch(() => {
    isShared.value = true;
    entry.value = state.entry; words.value = state.words; files.value = state.files; file.value = state.file; run.value = state.run;
    at.value = state.at; trace.value = state.trace; now.value = state.now; profile.value = state.profile; why.value = state.why;
    given.value = state.given; launches.value = state.launches; launch.value = state.launch; output.value = state.output;
    draws.value = state.draws ?? false; inspected.value = state.inspected ?? null; vertices.value = state.vertices ?? null;
    if (state.trace) lane.value = state.trace.lane;
    status.value = "a shared page: nothing runs here";
  });
  return true;
}
