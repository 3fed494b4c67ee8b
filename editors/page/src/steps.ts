// A trace with its values at any step. A step is an instruction that the group executed; values are those after it.
import type { Trace } from "./wire";

export interface Register { name: string; letters: string; parts: (Part | null)[]; changed: boolean }
export interface Part { place: number; name: string; bits: number; old: number | null; flag: boolean }
export interface Effect { name: string; bits: number; flag: boolean; line: number }

const order = "rgba xyzw";
const words: Record<string, string> = { c: "waits: continue", b: "has left the loop", ".": "not covered", "-": "not executing" };

export const isPixel = ([i, j]: [number, number]) => i !== 0xffffffff && j !== 0xffffffff;

export class Steps {
  readonly count: number;
  readonly depths: number[] = [];
  private flags: Set<number>;
  private masks: Set<number>[];

  constructor(readonly data: Trace) {
    this.count = data.steps.length;
    this.flags = new Set(data.flags);
    this.masks = data.masks.map((mask) => new Set(mask));
    let depth = 0;
    for (const step of data.steps) {
      this.depths.push(depth);
      if (step.flow) depth = step.flow[2].length;
    }
  }

  instruction(step: number) {
    return this.data.instructions[this.data.steps[step]?.at];
  }

  line(step: number) {
    return this.instruction(step)?.line ?? 0;
  }

  executing(step: number) {
    return this.masks[this.data.steps[step]?.mask] ?? new Set<number>();
  }

  /** Why a lane executes a step, or does not. */
  state(step: number, lane: number, letters: string[]) {
    if (this.executing(step).has(lane)) return { kind: "run", text: "executes" };
    const letter = letters[lane] === "#" ? "-" : letters[lane];
    const kind = { c: "continue", b: "break", ".": "none", "-": "none" }[letter] ?? "branch";
    return { kind, text: words[letter] ?? `waits at a branch, ${letter} deep` };
  }

  /** The letters of all lanes before a step, and the stack. */
  flow(step: number) {
    const letters = new Array<string>(this.data.positions.length).fill("#");
    let stack: string[] = [];
    for (const { flow } of this.data.steps.slice(0, step)) {
      if (!flow) continue;
      [...flow[1]].forEach((letter, n) => (letters[flow[0] + n] = letter));
      stack = flow[2];
    }
    return { letters, stack };
  }

  private of(step: number, lane: number) {
    return this.data.steps[step]?.lanes.find((entry) => entry[0] === lane);
  }

  reads(step: number, lane: number): Effect[] {
    const flat = this.of(step, lane)?.[1] ?? [], out: Effect[] = [];
    for (let n = 0; n < flat.length; n += 2) {
      const name = this.data.places[flat[n]];
      if (!out.some((effect) => effect.name === name)) out.push({ name, bits: flat[n + 1], flag: this.flags.has(flat[n]), line: 0 });
    }
    return out;
  }

  writes(step: number, lane: number): Effect[] {
    const flat = this.of(step, lane)?.[2] ?? [], out: Effect[] = [];
    for (let n = 0; n < flat.length; n += 4) out.push({ name: this.data.places[flat[n]], bits: flat[n + 2], flag: this.flags.has(flat[n]), line: flat[n + 3] });
    return out;
  }

  /** Registers after a step, in rows of four: changed ones first. */
  registers(step: number, lane: number): Register[] {
    const values = new Map<number, { bits: number; old: number | null }>();
    for (const [of, place, bits] of this.data.start) if (of === lane) values.set(place, { bits, old: null });
    for (let n = 0; n <= step && n < this.count; n++) {
      const flat = this.of(n, lane)?.[2];
      if (!flat) continue;
      for (let at = 0; at < flat.length; at += 4) values.set(flat[at], { bits: flat[at + 2], old: n === step ? flat[at + 1] : null });
    }
    const rows = new Map<string, Register>();
    for (const [place, { bits, old }] of values) {
      const name = this.data.places[place];
      if (/[\[]/.test(name) && !/\./.test(name)) continue;
      const dot = name.lastIndexOf("."), base = dot < 0 ? name : name.slice(0, dot), letter = dot < 0 ? "" : name.slice(dot + 1);
      const row = rows.get(base) ?? { name: base, letters: order.slice(0, 4), parts: [null, null, null, null], changed: false };
      const at = letter ? order.indexOf(letter) % 5 : 0;
      if ("xyzw".includes(letter) && letter) row.letters = "xyzw";
      row.parts[at] = { place, name, bits, old, flag: this.flags.has(place) };
      row.changed ||= old !== null;
      rows.set(base, row);
    }
    const passing = (row: Register) => +/^(PV|PS)$/.test(row.name);
    return [...rows.values()].sort((a, b) => passing(a) - passing(b) || +b.changed - +a.changed || a.name.localeCompare(b.name, "en", { numeric: true }));
  }

  has(lane: number) {
    return lane === this.data.lane || this.data.steps.some((step) => step.lanes.some((entry) => entry[0] === lane));
  }

  /** The last step up to `step` that wrote one of a register's places. */
  lastWrite(step: number, lane: number, base: string) {
    for (let n = Math.min(step, this.count - 1); n >= 0; n--)
      if (this.writes(n, lane).some((write) => write.name === base || write.name.startsWith(base + "."))) return n;
    return -1;
  }

  /** The next step that is no deeper in loops, branches and calls. */
  over(step: number) {
    for (let n = step + 1; n < this.count; n++) if (this.depths[n] <= this.depths[step]) return n;
    return this.count - 1;
  }

  /** The next execution of a line, or its first. */
  onLine(step: number, line: number) {
    const is = (n: number) => this.line(n) === line || this.data.steps[n].lanes.some((entry) => entry[2].some((value, at) => at % 4 === 3 && value === line));
    for (let n = step + 1; n < this.count; n++) if (is(n)) return n;
    for (let n = 0; n <= step && n < this.count; n++) if (is(n)) return n;
    return -1;
  }
}
