// Registers in rows of four with a swatch, changed ones first.
import { asFloat, byte, number } from "./numbers";
import { explain, form, isShared, lane, now, step, steps } from "./state";
import type { Part } from "./steps";

const shown = (part: Part, bits: number) => (part.flag ? String(bits) : number(bits, form.value, 6));

export function Registers() {
  const all = steps.value;
  if (!all) return null;
  const rows = all.registers(now.value, lane.value);
  return (
    <div class="panel scrolls" id="registers" tabIndex={0} role="group" aria-label="registers">
      <div class="bar">
        <h2>Registers</h2><span class="dim">click a value: why?</span>
        <select aria-label="form of values" value={form.value} onChange={(e) => (form.value = e.currentTarget.value as "float")}>
          {["float", "hex", "int"].map((f) => <option>{f}</option>)}
        </select>
      </div>
      <table>
        <thead><tr><th>name</th>{[0, 1, 2, 3].map((n) => <th>{rows.some((r) => r.letters === "xyzw") ? "xyzw"[n] : "rgba"[n]}</th>)}<th><span class="unseen">colour</span></th><th><span class="unseen">last write</span></th></tr></thead>
        <tbody>
          {rows.map((row) => {
            const values = row.parts.map((part) => (part && !part.flag ? asFloat(part.bits) : NaN)), colour = values.slice(0, 3).some((v) => v > 0 && v <= 1.001);
            return (
              <tr class={row.changed ? "changed" : ""}>
                <th scope="row">{row.name}</th>
                {row.parts.map((part) => (
                  <td class={part?.old != null ? "new" : ""}>
                    {part && <button disabled={isShared.value} aria-label={`why is ${part.name} ${shown(part, part.bits)}?`}
                      title={part.old != null ? `${part.name}: was ${shown(part, part.old)}` : part.name} onClick={() => explain(part.name)}>{shown(part, part.bits)}</button>}
                  </td>
                ))}
                <td>{colour && <i class="swatch" style={{ background: `rgb(${values.slice(0, 3).map((v) => byte(Number.isNaN(v) ? 0 : v)).join(" ")})` }} />}</td>
                <td><button class="icon" title={`to the last write of ${row.name}`} aria-label={`to the last write of ${row.name}`} onClick={() => {
                  const here = all.lastWrite(now.value, lane.value, row.name), before = here === now.value ? all.lastWrite(now.value - 1, lane.value, row.name) : here;
                  step(before >= 0 ? before : here);
                }}>⤶</button></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
