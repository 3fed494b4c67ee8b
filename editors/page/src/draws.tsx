// Views of draws: the history of a pixel, where primitives and pixels ended, and the vertices.
import { asFloat, byte, short } from "./numbers";
import { lastFragment } from "./picture";
import { at, chooseFragment, chooseVertex, fragment, inspected, isShared, launch, marked, vertex, vertices, working } from "./state";
import type { HistoryFragment, InspectedDraw, LostCount } from "./wire";

const floatsOf = (bits: number[]) => bits.map(asFloat);
const text = (bits: number[]) => floatsOf(bits).map((v) => short(v, 5)).join(", ");
const Colour = ({ bits }: { bits: number[] }) => <i class="swatch" style={{ background: `rgb(${floatsOf(bits).slice(0, 3).map((v) => byte(Number.isNaN(v) ? 0 : v)).join(" ")})` }} />;
const waiting = () => <p class="hint">{working.value ? "Drawing …" : "Nothing has been drawn."}</p>;

export function History() {
  const all = inspected.value?.draws;
  const own = fragment.value ?? lastFragment();
  const isOwn = (draw: number, f: HistoryFragment) => Boolean(own && own.draw === draw && own.run === f.run && own.primitive === f.primitive && own.instance === f.instance);
  return (
    <div class="panel scrolls" id="history" tabIndex={0} role="group" aria-label="pixel history">
      <div class="bar"><h2>Pixel history</h2><span class="dim">{at.value ? `every fragment that came to (${at.value.join(", ")}), in order; a click follows it` : "click a pixel"}</span></div>
      {!all ? waiting() : all.every((d) => !d.fragments.length) && <p class="hint">No primitive covers this pixel: it has its clear colour. <b>Why nothing?</b> shows where primitives ended.</p>}
      {all?.map((d, draw) => d.fragments.length > 0 && (
        <section key={draw}>
          <h3>{d.name}</h3>
          <ol class="fragments">
            {d.fragments.map((f, n) => (
              <li key={n} class={`${f.kept ? "kept" : "gone"}${isOwn(draw, f) ? " here" : ""}`}>
                <button disabled={f.run === null || isShared.value} aria-pressed={isOwn(draw, f)} title={f.run === null ? "the pixel program did not run for it" : "follow this fragment"}
                  onClick={() => chooseFragment({ draw, run: f.run!, primitive: f.primitive, instance: f.instance })}>
                  {f.exported[0] ? <Colour bits={f.exported[0].bits} /> : <i class="swatch" />}
                  <b>primitive {f.primitive}</b>{f.instance ? ` of instance ${f.instance}` : ""}{f.sample !== null ? `, sample ${f.sample}` : ""}, {f.front ? "front" : "back"} <span class="badge">{f.ending}</span>
                </button>
                <ul>
                  {f.tests.map((t) => (
                    <li>{f.tests.length > 1 ? `sample ${t.sample}: ` : ""}depth {short(t.depth, 6)} against {short(t.stored_depth, 6)}: <b class={t.depth_passes ? "yes" : "no"}>{t.depth_passes ? "passes" : "fails"}</b>
                      {(!t.stencil_passes || t.stored_stencil > 0) && <>; stencil {t.stored_stencil} there: <b class={t.stencil_passes ? "yes" : "no"}>{t.stencil_passes ? "passes" : "fails"}</b></>}</li>
                  ))}
                  {f.exported.map((e) => <li>exported to {e.output}: <Colour bits={e.bits} /> <code>{text(e.bits)}</code></li>)}
                  {f.stored.map((s) => <li>target {s.target}: <Colour bits={s.before} /> <code>{text(s.before)}</code> → <Colour bits={s.after} /> <code>{text(s.after)}</code></li>)}
                </ul>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

/** A sentence about a draw of which nothing is seen. */
function reason(d: InspectedDraw) {
  if (d.failed) return "This draw failed: the message of the run says why.";
  if (d.stored || d.lost.some((l) => l.key === "depth-only")) return "";
  if (!d.primitives) return "Nothing is drawn: no primitive was assembled. The mesh has no whole primitive, or no instance.";
  const most = d.lost.filter((l) => l.pixels === d.rasterised > 0).sort((a, b) => b.count - a.count)[0];
  return most ? `Nothing is drawn: of ${d.rasterised ? `${d.covered} pixels` : `${d.primitives} primitives`}, ${most.count} are ${most.words}${most.state ? `: ${most.state}` : ""}.` : "";
}

export function Funnel() {
  const all = inspected.value?.draws;
  return (
    <div class="panel scrolls" id="funnel" tabIndex={0} role="group" aria-label="why is nothing drawn?">
      <div class="bar"><h2>Why is nothing drawn?</h2><span class="dim">where primitives and pixels of each draw ended, and the state that ended them</span></div>
      {!all && waiting()}
      {all?.map((d, draw) => {
        const total = (label: string, count: number, of: number) => (
          <tr class="total"><td>{count}</td><td><div class="share" style={{ width: `${of ? (100 * count) / of : 0}%` }} /></td><td colSpan={2}><b>{label}</b></td></tr>
        );
        const lost = (l: LostCount) => {
          const own = marked.value?.draw === draw && marked.value.key === l.key, of = l.pixels ? d.covered : d.primitives;
          return (
            <tr class={`lost${own ? " here" : ""}`}><td>− {l.count}</td><td><div class="share" style={{ width: `${(100 * l.count) / Math.max(1, of)}%` }} /></td>
              <td>{l.pixels || isShared.value ? l.words : <button class="link" aria-pressed={own} title="mark them in the picture" onClick={() => (marked.value = own ? null : { draw, key: l.key })}>{l.words}</button>}</td><td class="dim">{l.state}</td></tr>
          );
        };
        const why = reason(d);
        return (
          <section key={draw}>
            <h3>{d.name}</h3>
            {why && <p role="alert" class="error">{why}</p>}
            {!d.failed && <table>
              <thead><tr>{["count", "share", "stage", "state"].map((t) => <th>{t}</th>)}</tr></thead>
              <tbody>
                {total("primitives", d.primitives, d.primitives)}
                {d.lost.filter((l) => !l.pixels).map(lost)}
                {total("rasterised", d.rasterised, d.primitives)}
                {d.rasterised > 0 && total("pixels covered", d.covered, d.covered)}
                {d.lost.filter((l) => l.pixels).map(lost)}
                {d.rasterised > 0 && total("stored", d.stored, d.covered)}
              </tbody>
            </table>}
          </section>
        );
      })}
    </div>
  );
}

/** Columns in groups: `R1.x` to `R1.w` are R1. */
function groups(names: string[]) {
  const found: { name: string; at: number[] }[] = [];
  names.forEach((name, n) => {
    const base = name.replace(/\.[xyzwrgba]$/, ""), last = found[found.length - 1];
    if (last?.name === base) last.at.push(n); else found.push({ name: base, at: [n] });
  });
  return found;
}

export function VertexTable() {
  const table = vertices.value, all = inspected.value?.draws ?? [];
  const own = fragment.value ?? lastFragment(), number = launch.value ?? all.length - 1;
  const shape = own && own.draw === number ? all[own.draw]?.shapes.find((s) => s.primitive === own.primitive && s.instance === own.instance) : undefined;
  const isOwn = (v: number, instance: number) => Boolean(shape && shape.instance === instance && shape.vertices.includes(v));
  const inputs = groups(table?.inputs ?? []), outputs = groups(table?.outputs ?? []);
  const cell = (bits: (number | null)[], of: number[]) => <td><code>{of.map((n) => (bits[n] === null ? "·" : short(asFloat(bits[n]!), 5))).join(", ")}</code></td>;
  const rows = [...(table?.rows ?? [])].sort((a, b) => +isOwn(b.vertex, b.instance) - +isOwn(a.vertex, a.instance));
  return (
    <div class="panel scrolls" id="vertices" tabIndex={0} role="group" aria-label="vertices">
      <div class="bar"><h2>Vertices</h2><span class="dim">fetched and exported values; marked: the primitive of the pixel. A click follows the vertex program</span></div>
      {!table && waiting()}
      {table && (
        <table>
          <thead>
            <tr><td /><th colSpan={Math.max(1, inputs.length)}>fetched</th><th colSpan={Math.max(1, outputs.length)}>exported</th></tr>
            <tr><th>vertex</th>{inputs.length ? inputs.map((g) => <th>{g.name}</th>) : <th>nothing</th>}{outputs.length ? outputs.map((g) => <th>{g.name}</th>) : <th>nothing</th>}</tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const followed = vertex.value?.[0] === row.vertex && vertex.value[1] === row.instance;
              return (
                <tr key={`${row.vertex},${row.instance}`} class={`${isOwn(row.vertex, row.instance) ? "changed" : ""}${followed ? " here" : ""}`}>
                  <th scope="row"><button class="link" disabled={isShared.value} aria-pressed={followed} aria-label={`follow vertex ${row.vertex}`} onClick={() => chooseVertex([row.vertex, row.instance])}>{row.vertex}{row.instance ? ` · ${row.instance}` : ""}</button></th>
                  {inputs.length ? inputs.map((g) => cell(row.inputs, g.at)) : <td />}
                  {outputs.length ? outputs.map((g) => cell(row.outputs, g.at)) : <td />}
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {table?.cut && <p class="hint">There are more vertices.</p>}
    </div>
  );
}
