// Time in steps: a strip with the executing lanes of each step, and the buttons of a debugger.
import { useEffect, useRef } from "preact/hooks";
import { runToLine, view } from "./editor";
import { dark, lane, now, profile, step, steps } from "./state";

export function Timeline() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const all = steps.value;
  const draw = () => {
    const to = canvas.current;
    if (!to || !all) return;
    const box = to.getBoundingClientRect(), ratio = devicePixelRatio || 1, css = getComputedStyle(to), colour = (name: string) => css.getPropertyValue(name).trim();
    to.width = Math.round(box.width * ratio); to.height = Math.round(box.height * ratio);
    const pen = to.getContext("2d")!, lanes = all.data.positions.length;
    pen.scale(ratio, ratio);
    for (let x = 0; x < box.width; x++) {
      const from = Math.floor((x / box.width) * all.count), until = Math.max(from + 1, Math.floor(((x + 1) / box.width) * all.count));
      let most = 0, own = false;
      for (let n = from; n < until && n < all.count; n++) {
        most = Math.max(most, all.executing(n).size);
        own ||= all.executing(n).has(lane.value);
      }
      const height = (most / lanes) * (box.height - 4);
      pen.fillStyle = own ? colour("--run") : colour("--branch");
      pen.fillRect(x, box.height - height, 1, height);
    }
    const x = ((now.value + 0.5) / all.count) * box.width;
    pen.fillStyle = colour("--text");
    pen.fillRect(x - 1, 0, 2, box.height);
  };
  useEffect(() => { draw(); });
  useEffect(() => {
    const watch = new ResizeObserver(() => draw());
    if (canvas.current) watch.observe(canvas.current);
    return () => watch.disconnect();
  }, [all]);
  void [now.value, lane.value, dark.value, profile.value];
  if (!all) return <footer id="timeline" aria-label="time"><p class="hint">Time: no pixel is chosen yet. Click one in the picture.</p></footer>;
  const instruction = all.instruction(now.value), end = all.data.fault ? `fault: ${all.data.fault}` : all.data.cut ? "the record is cut here" : "end of the program";
  const button = (label: string, title: string, to: () => void) => <button class="icon" title={title} aria-label={title} onClick={to}>{label}</button>;
  return (
    <footer id="timeline" aria-label="time">
      <div class="bar">
        <span class="group">
          {button("|◀", "to the first step (Home)", () => step(0))}
          {button("◀", "one step back (Left)", () => step(now.value - 1))}
          {button("▶", "one step on (Right)", () => step(now.value + 1))}
          {button("▶|", "to the last step (End)", () => step(all.count - 1))}
        </span>
        <span class="group">
          <button title="over the loop, branch or call that begins here (Shift-Right)" onClick={() => step(all.over(now.value))}>over</button>
          <button title="to the next execution of the cursor's line; a double click on a line as well" onClick={() => view && runToLine(view.state.doc.lineAt(view.state.selection.main.head).number)}>to line</button>
        </span>
        <output id="now" aria-live="polite">step <b>{now.value + 1}</b> of {all.count}</output>
        <code id="what">{instruction?.line ? `line ${instruction.line}: ` : ""}{instruction?.text.replace(/\s+/g, " ")}</code>
        {now.value === all.count - 1 && <span class="dim">{end}</span>}
      </div>
      <div class="strip">
        <canvas ref={canvas} aria-hidden="true" />
        <input id="time" type="range" min={0} max={all.count - 1} value={now.value} aria-label="step" aria-valuetext={`step ${now.value + 1}: ${instruction?.text}`} onInput={(e) => step(+e.currentTarget.value)} />
      </div>
    </footer>
  );
}
