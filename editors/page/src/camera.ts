// The viewer of a draw job: a drag of the picture turns it around the mesh, the wheel takes it nearer.
import { signal } from "@preact/signals";
import { at, redraw, rerun, viewer } from "./state";

/** The picture's wheel, drags and keys move the viewer, instead of choosing and enlarging pixels. */
export const isCamera = signal(false);

const still = { turn: [0, 0] as [number, number], distance: 1, time: 0 };

/** While a picture is drawn, only the newest position waits. */
let waiting = false, drawing: Promise<void> | null = null, settling: ReturnType<typeof setTimeout> | undefined;
export function draw() {
  waiting = true;
  drawing ??= (async () => {
    while (waiting) {
      waiting = false;
      await redraw();
      await new Promise((shown) => requestAnimationFrame(shown));
    }
    drawing = null;
  })();
  // The steps of the pixel follow when the movement is over.
  clearTimeout(settling);
  settling = setTimeout(async () => { await drawing; if (at.value) rerun(); }, 350);
}

export function turn(right: number, up: number) {
  const { turn } = viewer.value;
  viewer.value = { ...viewer.value, turn: [turn[0] + right, Math.max(-178, Math.min(178, turn[1] + up))] };
  draw();
}

export function approach(factor: number) {
  viewer.value = { ...viewer.value, distance: Math.max(0.05, Math.min(20, viewer.value.distance * factor)) };
  draw();
}

export function resetViewer() {
  viewer.value = { ...still, time: viewer.value.time };
  draw();
}
