// The picture: zoom to pixels with values, numbers under the pointer, channels, colours for numbers beyond 0 to 1, and the difference to a kept run.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { approach, isCamera, resetViewer, turn } from "./camera";
import { asFloat, byte, hex, short } from "./numbers";
import { at, choose, draws, fragment, inspected, isShared, kept, launch, marked, mesh, output, run, showMesh, shownOutput, steps, tab, trace, valuesOf, vertex } from "./state";
import { Sliders } from "./sliders";
import { isPixel } from "./steps";
import type { Output, Shape } from "./wire";

const channel = signal("all");
const range = signal<"auto" | "unit" | "false">("auto");
const difference = signal(false);
const hovered = signal<[number, number] | null>(null);
/** Zoom: screen pixels for each pixel, 0: the whole picture; and the pixel in the middle. */
const zoom = signal({ scale: 0, x: 0, y: 0 });

const letters = "rgba";
const bits = new DataView(new ArrayBuffer(4));
const bitsOf = (value: number) => (bits.setFloat32(0, value), bits.getUint32(0));

/** The numbers that are shown: of an output, or its difference to the kept run. */
function numbers(out: Output) {
  const own = valuesOf(out);
  if (!difference.value || !own) return own;
  const other = valuesOf(kept.value?.outputs.find((o) => o.name === out.name && o.width === out.width && o.height === out.height));
  return other ? own.map((value, n) => Math.abs(value - other[n])) : own;
}

/** The least and the largest finite number, where some leave 0 to 1; otherwise 0 and 1. */
function limits(values: Float32Array, channels: number): [number, number] {
  let low = Infinity, high = -Infinity, beyond = 0;
  for (let n = 0; n < values.length; n++) {
    const value = values[n];
    if (channels === 4 && n % 4 === 3) continue;
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
    if (value < -0.001 || value > 1.001) beyond++;
  }
  return beyond * 50 > values.length || (difference.value && high > 0) ? [difference.value ? 0 : low, high > low ? high : low + 1] : [0, 1];
}

/** The picture as colours. */
export function paint(out: Output): ImageData | null {
  const values = numbers(out);
  if (!values || !out.width || !out.height) return null;
  const image = new ImageData(out.width, out.height), { channels } = out;
  const [low, high] = range.value === "auto" ? limits(values, channels) : [0, 1];
  const only = channel.value === "all" ? -1 : Math.min(letters.indexOf(channel.value), channels - 1);
  for (let pixel = 0; pixel < out.width * out.height; pixel++) {
    const from = pixel * channels, to = pixel * 4;
    let strange = "";
    for (let c = 0; c < 3; c++) {
      const source = only >= 0 ? only : channels === 1 ? 0 : c;
      const value = source < channels ? values[from + source] : 0;
      if (Number.isNaN(value)) strange = "nan";
      else if (!strange && range.value === "false") strange = value > 1.0001 ? "high" : value < -0.0001 ? "low" : "";
      image.data[to + c] = byte((value - low) / (high - low));
    }
    if (strange) image.data.set({ nan: [255, 0, 255], high: [255, 70, 40], low: [40, 110, 255] }[strange]!, to);
    image.data[to + 3] = 255;
  }
  return image;
}

/** The address of a PNG of an output: 0 is black, 1 is white. */
export function plain(out: Output): string | null {
  const values = valuesOf(out);
  if (!values || !out.width || !out.height) return null;
  const canvas = document.createElement("canvas"), image = new ImageData(out.width, out.height), { channels } = out;
  canvas.width = out.width; canvas.height = out.height;
  for (let pixel = 0; pixel < out.width * out.height; pixel++) {
    const colour = [0, 1, 2].map((c) => byte(channels === 1 ? values[pixel] : c < channels ? values[pixel * channels + c] : 0));
    image.data.set([...colour, channels === 4 ? byte(values[pixel * 4 + 3]) : 255], 4 * pixel);
  }
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

export function readout(out: Output | undefined, pixel: [number, number] | null) {
  const values = out && numbers(out);
  if (!out || !pixel) return null;
  const x = pixel[0] - out.left, y = pixel[1] - out.top;
  if (x < 0 || y < 0 || x >= out.width || y >= out.height) return null;
  const of = values ? [...values.subarray((y * out.width + x) * out.channels, (y * out.width + x + 1) * out.channels)] : [];
  return { at: pixel, values: of };
}

/** The colour of a pixel in the picture. */
export function colourAt(out: Output | undefined, pixel: [number, number], image: ImageData | null) {
  if (!out || !image) return null;
  const x = pixel[0] - out.left, y = pixel[1] - out.top;
  if (x < 0 || y < 0 || x >= out.width || y >= out.height) return null;
  const n = (y * out.width + x) * 4;
  return `rgb(${image.data[n]} ${image.data[n + 1]} ${image.data[n + 2]})`;
}

let last: { key: unknown[]; image: ImageData | null; canvas: HTMLCanvasElement } | null = null;
export function painted(out: Output) {
  const key = [out, channel.value, range.value, difference.value, kept.value];
  if (!last || key.some((part, n) => part !== last!.key[n])) {
    const canvas = document.createElement("canvas"), image = paint(out);
    canvas.width = out.width; canvas.height = out.height;
    if (image) canvas.getContext("2d")!.putImageData(image, 0, 0);
    last = { key, image, canvas };
  }
  return last;
}

/** Primitives that are outlined in the picture. */
export function primitives(): { kind: "mesh" | "lost" | "own"; shapes: Shape[] }[] {
  const all = inspected.value?.draws ?? [], found: ReturnType<typeof primitives> = [];
  if (mesh.value) found.push({ kind: "mesh", shapes: all.flatMap((d) => d.shapes) });
  const { draw, key } = marked.value ?? { draw: -1, key: "" };
  if (tab.value === "funnel" && all[draw]) found.push({ kind: "lost", shapes: all[draw].shapes.filter((s) => s.lost === key) });
  if (vertex.value) found.push({ kind: "own", shapes: (all[launch.value ?? all.length - 1]?.shapes ?? []).filter((s) => s.instance === vertex.value![1] && s.vertices.includes(vertex.value![0])) });
  else if (mesh.value || tab.value === "history" || tab.value === "vertices") {
    const one = fragment.value ?? lastFragment();
    if (one) found.push({ kind: "own", shapes: (all[one.draw]?.shapes ?? []).filter((s) => s.primitive === one.primitive && s.instance === one.instance) });
  }
  return found;
}

/** The last fragment of the pixel that was stored, otherwise the last one. */
export function lastFragment() {
  const all = (inspected.value?.draws ?? []).flatMap((d, draw) => d.fragments.map((f) => ({ ...f, draw })));
  return all.filter((f) => f.kept).pop() ?? all.pop();
}

export function Picture() {
  const canvas = useRef<HTMLCanvasElement>(null), drag = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const out = shownOutput.value;

  const view = () => {
    const box = canvas.current!.getBoundingClientRect(), fit = Math.min(box.width / out!.width, box.height / out!.height);
    const scale = zoom.value.scale || fit;
    const x = zoom.value.scale ? zoom.value.x : out!.width / 2, y = zoom.value.scale ? zoom.value.y : out!.height / 2;
    return { box, fit, scale, left: box.width / 2 - x * scale, top: box.height / 2 - y * scale };
  };
  /** Drags and the wheel move the viewer. */
  const moves = () => isCamera.value && Boolean(run.value?.viewer) && !isShared.value;
  const pixelAt = (event: { clientX: number; clientY: number }): [number, number] | null => {
    const v = view(), x = Math.floor((event.clientX - v.box.left - v.left) / v.scale), y = Math.floor((event.clientY - v.box.top - v.top) / v.scale);
    return x < 0 || y < 0 || x >= out!.width || y >= out!.height ? null : [x + out!.left, y + out!.top];
  };
  const zoomTo = (factor: number, to?: [number, number]) => {
    const v = view(), scale = Math.min(96, v.scale * factor);
    if (scale <= v.fit) { zoom.value = { scale: 0, x: 0, y: 0 }; return; }
    const middle = to ?? at.value ?? [out!.left + out!.width / 2, out!.top + out!.height / 2];
    zoom.value = { scale, x: middle[0] - out!.left + 0.5, y: middle[1] - out!.top + 0.5 };
  };

  const draw = () => {
    const to = canvas.current;
    if (!to || !out) return;
    const { box, scale, left, top } = view(), ratio = devicePixelRatio || 1;
    to.width = Math.round(box.width * ratio); to.height = Math.round(box.height * ratio);
    const pen = to.getContext("2d")!, css = getComputedStyle(to), colour = (name: string) => css.getPropertyValue(name).trim();
    pen.scale(ratio, ratio);
    pen.imageSmoothingEnabled = false;
    const { image, canvas: source } = painted(out);
    if (image) pen.drawImage(source, left, top, out.width * scale, out.height * scale);
    else if (fallback.current) pen.drawImage(fallback.current, left, top, out.width * scale, out.height * scale);
    const cell = (p: [number, number]) => [left + (p[0] - out.left) * scale, top + (p[1] - out.top) * scale] as const;
    if (scale >= 34 && image) {
      const values = numbers(out)!;
      pen.font = "12px ui-monospace, monospace";
      for (let y = Math.max(0, Math.floor(-top / scale)); y < out.height && top + y * scale < box.height; y++)
        for (let x = Math.max(0, Math.floor(-left / scale)); x < out.width && left + x * scale < box.width; x++) {
          const n = (y * out.width + x) * 4, light = image.data[n] * 0.3 + image.data[n + 1] * 0.6 + image.data[n + 2] * 0.1;
          pen.fillStyle = light > 130 ? "#000" : "#fff";
          for (let c = 0; c < Math.min(out.channels, Math.floor(scale / 13)); c++)
            pen.fillText(short(values[(y * out.width + x) * out.channels + c], 3), left + x * scale + 3, top + y * scale + 13 + 13 * c, scale - 4);
        }
    }
    // Primitives: all of the mesh, those of a stage of the funnel, and those of the pixel or the vertex.
    const stroke = (shapes: Shape[], ink: string, width: number) => {
      pen.beginPath();
      for (const { corners } of shapes) {
        if (!corners) continue;
        corners.forEach(([x, y], n) => pen[n ? "lineTo" : "moveTo"](left + (x - out.left) * scale, top + (y - out.top) * scale));
        pen.closePath();
      }
      pen.strokeStyle = ink; pen.lineWidth = width; pen.lineJoin = "round";
      pen.stroke();
    };
    for (const { shapes, kind } of primitives()) {
      if (kind === "mesh") stroke(shapes, colour("--accent"), 1);
      else { stroke(shapes, "#000", 4); stroke(shapes, kind === "lost" ? colour("--changed") : colour("--accent-bright"), 2); }
    }
    // The group, then the pixel.
    const group = vertex.value ? [] : trace.value?.positions.filter(isPixel) ?? [];
    const has = new Set(group.map((p) => p.join()));
    pen.lineWidth = 1.5;
    for (const [ink, width] of [["#000", 3.5], [colour("--accent-bright"), 1.5]] as const) {
      pen.strokeStyle = ink; pen.lineWidth = width;
      pen.beginPath();
      for (const p of group) {
        const [x, y] = cell(p);
        const edge = (dx: number, dy: number, x1: number, y1: number, x2: number, y2: number) => {
          if (!has.has([p[0] + dx, p[1] + dy].join())) { pen.moveTo(x1, y1); pen.lineTo(x2, y2); }
        };
        edge(0, -1, x, y, x + scale, y); edge(0, 1, x, y + scale, x + scale, y + scale);
        edge(-1, 0, x, y, x, y + scale); edge(1, 0, x + scale, y, x + scale, y + scale);
      }
      pen.stroke();
    }
    if (at.value) {
      const [x, y] = cell(at.value), half = Math.max(scale, 5) / 2, [mx, my] = [x + scale / 2, y + scale / 2];
      for (const [ink, width] of [["#000", 4], ["#fff", 2]] as const) {
        pen.strokeStyle = ink; pen.lineWidth = width;
        pen.strokeRect(mx - half, my - half, 2 * half, 2 * half);
        if (scale < 12) for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
          pen.beginPath(); pen.moveTo(mx + dx * (half + 3), my + dy * (half + 3)); pen.lineTo(mx + dx * (half + 10), my + dy * (half + 10)); pen.stroke();
        }
      }
    }
  };
  const fallback = useRef<HTMLImageElement | null>(null);
  useEffect(() => { draw(); });
  useEffect(() => {
    if (!canvas.current) return;
    const watch = new ResizeObserver(() => draw());
    watch.observe(canvas.current);
    // Wheel events are cancelled, which a passive listener cannot.
    const wheel = (event: WheelEvent) => { event.preventDefault(); if (moves()) { approach(event.deltaY < 0 ? 1 / 1.12 : 1.12); return; } zoomTo(event.deltaY < 0 ? 1.4 : 1 / 1.4, pixelAt(event) ?? undefined); };
    canvas.current!.addEventListener("wheel", wheel, { passive: false });
    const of = canvas.current!;
    return () => { watch.disconnect(); of.removeEventListener("wheel", wheel); };
  }, [out]);
  useEffect(() => {
    if (!out || out.values) { fallback.current = null; return; }
    const image = new Image();
    image.onload = () => { fallback.current = image; draw(); };
    image.src = out.picture!;
  }, [out]);
  // Drawn again when any of these changes.
  void [isCamera.value, mesh.value, inspected.value, fragment.value, marked.value, vertex.value, tab.value, zoom.value, at.value, trace.value, range.value, channel.value, difference.value, kept.value];

  const move = (i: number, j: number) => {
    if (!out || isShared.value) return;
    const from = at.value ?? [out.left + (out.width >> 1), out.top + (out.height >> 1)];
    choose([Math.max(out.left, Math.min(out.left + out.width - 1, from[0] + i)), Math.max(out.top, Math.min(out.top + out.height - 1, from[1] + j))]);
  };
  const view3d: Record<string, () => void> = {
    ArrowLeft: () => turn(-10, 0), ArrowRight: () => turn(10, 0), ArrowUp: () => turn(0, 10), ArrowDown: () => turn(0, -10),
    "+": () => approach(1 / 1.25), "=": () => approach(1 / 1.25), "-": () => approach(1.25), "0": resetViewer,
  };
  const keys: Record<string, () => void> = moves() ? view3d : {
    ArrowLeft: () => move(-1, 0), ArrowRight: () => move(1, 0), ArrowUp: () => move(0, -1), ArrowDown: () => move(0, 1),
    "+": () => zoomTo(1.5), "=": () => zoomTo(1.5), "-": () => zoomTo(1 / 1.5), "0": () => (zoom.value = { scale: 0, x: 0, y: 0 }), Enter: () => move(0, 0),
  };
  if (!out) return <div class="panel" id="picture"><div class="bar"><h2>Picture</h2></div><p class="hint">{run.value ? "There is no output that can be shown as a picture." : "No picture yet."}</p></div>;
  const outputs = run.value!.outputs;
  return (
    <div class="panel" id="picture">
      <div class="bar">
        <h2 class={draws.value ? "unseen" : ""}>Picture</h2>
        {outputs.length > 1
          ? <select aria-label="output" value={output.value} onChange={(e) => (output.value = +e.currentTarget.value)}>{outputs.map((o, n) => <option value={n}>{o.name}</option>)}</select>
          : !draws.value && <span class="dim">{out.name}</span>}
        <select aria-label="channels" value={channel.value} onChange={(e) => (channel.value = e.currentTarget.value)}>
          <option value="all">all</option>
          {[...letters].slice(0, out.channels).map((l) => <option value={l}>{l}</option>)}
        </select>
        <select aria-label="range" value={range.value} onChange={(e) => (range.value = e.currentTarget.value as "auto")} title="how numbers become colours: fitted to their range, 0 to 1, or with those beyond 0 to 1 marked: red above, blue below, magenta NaN">
          <option value="auto">fitted</option><option value="unit">0 to 1</option><option value="false">beyond</option>
        </select>
        <span class="group">
          <button class="icon" aria-label="zoom out" onClick={() => zoomTo(1 / 2)}>−</button>
          <button class="icon" aria-label="fit: the whole picture" title="the whole picture (0)" onClick={() => (zoom.value = { scale: 0, x: 0, y: 0 })}>fit</button>
          <button class="icon" aria-label="zoom in" onClick={() => zoomTo(2)}>+</button>
        </span>
        {!isShared.value && (kept.value
          ? <label class="check"><input type="checkbox" checked={difference.value} onChange={(e) => (difference.value = e.currentTarget.checked)} /> difference</label>
          : <button onClick={() => (kept.value = run.value)} title="keep this picture; after a change, see the difference to it">Keep</button>)}
        {run.value?.viewer && !isShared.value && <button id="camera" aria-pressed={isCamera.value} title="wheel, arrow keys, plus and minus move the viewer instead of enlarging pixels; a drag turns it, 0 takes it back" onClick={() => (isCamera.value = !isCamera.value)}>camera</button>}
        {draws.value && !isShared.value && <button id="mesh" aria-pressed={mesh.value} title="outlines the primitives in the window" onClick={() => showMesh(!mesh.value)}>mesh</button>}
        {kept.value && !isShared.value && <button class="icon" aria-label="forget the kept picture" onClick={() => { kept.value = null; difference.value = false; }}>×</button>}
      </div>
      <canvas
        ref={canvas} tabIndex={0} role="application" aria-label={`picture ${out.name}, ${out.width} by ${out.height}: ${moves() ? "arrow keys turn the viewer, plus and minus take it nearer and farther, 0 takes it back" : "arrow keys choose a pixel, plus and minus zoom"}${at.value ? `; pixel ${at.value.join(", ")}` : ""}`}
        onMouseMove={(e) => {
          hovered.value = pixelAt(e);
          const from = drag.current;
          // Of a whole picture, too, a drag turns the viewer.
          const turns = run.value?.viewer && !isShared.value && (moves() || !zoom.value.scale);
          if (from && turns && e.buttons === 1 && (from.moved || Math.abs(e.clientX - from.x) + Math.abs(e.clientY - from.y) > 3)) {
            turn((from.x - e.clientX) * 0.5, (e.clientY - from.y) * 0.5);
            drag.current = { x: e.clientX, y: e.clientY, moved: true };
          } else if (from && zoom.value.scale && Math.abs(e.clientX - from.x) + Math.abs(e.clientY - from.y) > 3) {
            zoom.value = { ...zoom.value, x: zoom.value.x - (e.clientX - from.x) / zoom.value.scale, y: zoom.value.y - (e.clientY - from.y) / zoom.value.scale };
            drag.current = { x: e.clientX, y: e.clientY, moved: true };
          }
        }}
        onMouseDown={(e) => (drag.current = { x: e.clientX, y: e.clientY, moved: false })}
        onMouseLeave={() => { hovered.value = null; drag.current = null; }}
        onClick={(e) => {
          const moved = drag.current?.moved, pixel = pixelAt(e);
          drag.current = null;
          if (!moved && pixel && !isShared.value) choose(pixel);
        }}
        onKeyDown={(e) => { if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); keys[e.key](); } }}
      />
      <Sliders />
      <Readout out={out} />
    </div>
  );
}

function Readout({ out }: { out: Output }) {
  const of = readout(out, hovered.value ?? at.value);
  void [launch.value, steps.value];
  if (!of) return <output class="readout" aria-live="off">Click a pixel: its steps, its group and the reason for its colour appear.</output>;
  return (
    <output class="readout" aria-live="off">
      <b>({of.at.join(", ")})</b>
      {of.values.length > 2 && <i class="swatch" style={{ background: `rgb(${of.values.slice(0, 3).map(byte).join(" ")})` }} />}
      {of.values.map((value, n) => (
        <span><span class="dim">{out.channels === 1 ? "" : letters[n]}</span> {short(value)} <span class="dim">{byte(value)} {hex(bitsOf(value))}</span></span>
      ))}
    </output>
  );
}
export { asFloat };
