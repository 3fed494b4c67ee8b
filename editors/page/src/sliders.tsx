// Sliders of the job file: a number of a constant by hand, or played in time, with as many pictures a second as the engine makes.
import { signal } from "@preact/signals";
import { short } from "./numbers";
import { draw as drawView } from "./camera";
import { at, isShared, moved, redraw, rerun, run, status, viewer } from "./state";
import type { SliderState } from "./wire";

/** The slider that is played; -1: the turn of the meshes. */
const playing = signal<number | null>(null);
const SPIN = -1;
const spin = { constant: "turn", element: 0, from: 0, to: 1, value: 0, seconds: 6 };

const valueOf = (slider: SliderState, n: number) => n === SPIN ? viewer.value.time : moved.value[n] ?? slider.value;
const setValue = (n: number, value: number) => {
  if (n === SPIN) viewer.value = { ...viewer.value, time: value };
  else moved.value = { ...moved.value, [n]: value };
};

/** While a picture is drawn, only the newest position waits. */
let waiting = false, drawing: Promise<void> | null = null;
function draw() {
  waiting = true;
  drawing ??= (async () => {
    while (waiting) {
      waiting = false;
      await redraw();
    }
    drawing = null;
  })();
  return drawing;
}

/** The steps of the pixel follow the last picture. */
async function settle() {
  await drawing;
  if (at.value) rerun();
}

function move(n: number, value: number) {
  setValue(n, value);
  return n === SPIN ? drawView() : draw();
}

async function play(n: number) {
  playing.value = n;
  const slider = n === SPIN ? spin : run.value!.sliders[n], seconds = slider.seconds ?? slider.to - slider.from, entered = run.value!.sliders.length;
  const begin = performance.now(), first = (valueOf(slider, n) - slider.from) / (slider.to - slider.from);
  let pictures = 0, since = begin;
  while (playing.value === n && run.value?.sliders.length === entered) {
    const share = (first + (performance.now() - begin) / 1000 / seconds) % 1;
    setValue(n, slider.from + share * (slider.to - slider.from));
    if (!(await redraw())) break;
    pictures++;
    const passed = performance.now() - since;
    if (passed > 500) { status.value = `${((1000 * pictures) / passed).toFixed(0)} pictures a second`; [pictures, since] = [0, performance.now()]; }
    // The browser shows each picture.
    await new Promise((shown) => requestAnimationFrame(shown));
  }
  if (playing.value === n) playing.value = null;
  if (at.value) rerun();
}

export function Sliders() {
  const all = run.value?.sliders ?? [];
  const every: [SliderState, number][] = all.map((slider, n) => [slider, n]);
  if (run.value?.spins && !isShared.value) every.push([spin, SPIN]);
  if (!every.length) return null;
  return (
    <div id="sliders" role="group" aria-label="constants of the job">
      {every.map(([slider, n]) => {
        const name = `${slider.constant}${all.some((other, k) => k !== n && n !== SPIN && other.constant === slider.constant) || slider.element ? `[${slider.element}]` : ""}`, value = valueOf(slider, n);
        return (
          <div class="slider" key={n}>
            <label>{name} <input type="range" min={slider.from} max={slider.to} step={(slider.to - slider.from) / 1000} value={value} disabled={isShared.value}
              onInput={(e) => { playing.value = null; move(n, +e.currentTarget.value); }} onChange={settle} /></label>
            <output>{short(value, 4)}</output>
            {!isShared.value && <button class="icon" aria-label={`${playing.value === n ? "stop" : "play"} ${name}`} aria-pressed={playing.value === n} onClick={() => (playing.value === n ? (playing.value = null) : play(n))}>{playing.value === n ? "■" : "▶"}</button>}
          </div>
        );
      })}
    </div>
  );
}
