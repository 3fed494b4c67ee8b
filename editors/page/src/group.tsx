// The pixel's group: its lanes where their pixels are, in the picture's colours, with the reason why one waits.
import { signal } from "@preact/signals";
import { colourAt, painted } from "./picture";
import { chooseLane, isShared, lane, now, shownOutput, steps, vertex } from "./state";
import { isPixel } from "./steps";

const focused = signal(-1);

/** Column and row of each lane: where its pixel is, as far as the group is a small rectangle, and helpers below; otherwise in order. */
function places(positions: [number, number][]) {
  const real = positions.filter(isPixel), helpers = new Map<number, number>();
  positions.forEach((position, n) => { if (!isPixel(position)) helpers.set(n, helpers.size); });
  const i0 = Math.min(...real.map((p) => p[0])), j0 = Math.min(...real.map((p) => p[1]));
  const width = Math.max(...real.map((p) => p[0])) - i0 + 1, height = Math.max(...real.map((p) => p[1])) - j0 + 1;
  const known = new Set(real.map((p) => p.join()));
  const compact = !vertex.value && real.length > 0 && known.size === real.length && width <= 24 && height <= 24;
  const across = compact ? width : Math.min(16, Math.max(4, Math.ceil(Math.sqrt(positions.length))));
  const of = (n: number) => {
    if (!compact) return [n % across, Math.floor(n / across)];
    const helper = helpers.get(n);
    return helper === undefined ? [positions[n][0] - i0, positions[n][1] - j0] : [helper % across, height + Math.floor(helper / across)];
  };
  return { across, compact, of };
}

export function Group() {
  const all = steps.value, out = shownOutput.value;
  if (!all) return <div class="panel" id="group"><div class="bar"><h2>Group</h2></div><p class="hint">The pixels that run together with the chosen one: one place in the program for all of them.</p></div>;
  const { positions } = all.data, grid = places(positions), { letters, stack } = all.flow(now.value);
  const image = out ? painted(out).image : null;
  const executing = all.executing(now.value).size;
  const side = Math.max(12, Math.min(36, Math.floor(270 / grid.across) - 2)), many = side < 20 ? "small" : "";
  const keys: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  return (
    <div class="panel" id="group">
      <div class="bar"><h2>Group</h2><span class="dim"><b id="active">{executing}</b> of {positions.length} lanes execute this step</span></div>
      <div class={`lanes ${many}`} role="group" aria-label="lanes of the group" style={{ gridTemplateColumns: `repeat(${grid.across}, auto)`, "--size": `max(12px, min(${side}px, calc((100cqi - 44px) / ${grid.across} - 2px)))` }}
        onKeyDown={(e) => {
          const by = keys[e.key], from = focused.value < 0 ? lane.value : focused.value;
          if (!by) return;
          e.preventDefault();
          e.stopPropagation();
          const [x, y] = grid.of(from), to = positions.findIndex((_, n) => grid.of(n)[0] === x + by[0] && grid.of(n)[1] === y + by[1]);
          if (to >= 0) { focused.value = to; (e.currentTarget.querySelector(`[data-lane="${to}"]`) as HTMLElement)?.focus(); }
        }}>
        {positions.map((position, n) => {
          const { kind, text } = all.state(now.value, n, letters), [x, y] = grid.of(n), real = isPixel(position);
          const name = `lane ${n}: ${real ? (vertex.value ? `vertex ${position[0]}${position[1] ? ` of instance ${position[1]}` : ""}` : `pixel (${position.join(", ")})`) : "a helper beside the triangle"}, ${text}`;
          return (
            <button
              data-lane={n} class={`lane ${kind}${n === lane.value ? " selected" : ""}`} aria-label={name} title={name} aria-pressed={n === lane.value}
              tabIndex={n === (focused.value < 0 ? lane.value : focused.value) ? 0 : -1}
              style={{ gridColumn: x + 1, gridRow: y + 1, "--pixel": (real && !vertex.value && colourAt(out, position, image)) || "var(--panel)" }}
              disabled={!real || (isShared.value && !all.has(n))}
              onFocus={() => (focused.value = n)} onClick={() => chooseLane(n)}
            ><span aria-hidden="true">{{ run: "", continue: "c", break: "b", none: "·", branch: letters[n] }[kind]}</span></button>
          );
        })}
      </div>
      <div class="key"><span><i class="run" />executes</span><span><i class="branch" />waits: branch</span><span><i class="continue" />continue</span><span><i class="break" />left the loop</span></div>
      <p class="dim small">{stack.length ? `stack: ${stack.join(", ")}` : "stack: empty"}{grid.compact ? "" : "; lanes in order"}</p>
    </div>
  );
}
