// The GLSL that a program was compiled from, above it: lines of one colour belong together.
import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isShared, now, status, step, steps, trace } from "./state";

/** Colours of pairs: neighbours differ. */
const INKS = 6;

interface Pairs { lineOf: Map<number, number>; linesOf: Map<number, number[]>; ink: Map<number, number> }

/** Lines of the program with lines of GLSL, and the colour of each line of GLSL. */
export const pairs = computed<Pairs | null>(() => {
  const text = trace.value?.glsl;
  if (!text?.pairs.length) return null;
  const lineOf = new Map(text.pairs), linesOf = new Map<number, number[]>();
  for (const [own, line] of text.pairs) linesOf.set(line, [...(linesOf.get(line) ?? []), own]);
  const ink = new Map([...linesOf.keys()].sort((a, b) => a - b).map((line, n) => [line, n % INKS]));
  return { lineOf, linesOf, ink };
});

/** The line of GLSL at the pointer. */
export const pointed = signal<number | null>(null);

/** Lines of GLSL of the step: those of its instruction, or of the instructions of its group. */
export const current = computed<Set<number>>(() => {
  const all = steps.value, of = pairs.value, found = new Set<number>();
  if (!all || !of) return found;
  const lines = new Set([all.line(now.value), ...(all.data.steps[now.value]?.lanes ?? []).flatMap((entry) => entry[2].filter((_, n) => n % 4 === 3))]);
  for (const line of lines) if (of.lineOf.has(line)) found.add(of.lineOf.get(line)!);
  return found;
});

/** To the next execution of an instruction of a line. */
function follow(line: number) {
  const all = steps.value!, own = new Set(pairs.value!.linesOf.get(line));
  const is = (n: number) => own.has(all.line(n)) || (all.data.steps[n]?.lanes ?? []).some((entry) => entry[2].some((at, k) => k % 4 === 3 && own.has(at)));
  for (let n = now.value + 1; n < all.count; n++) if (is(n)) return step(n);
  for (let n = 0; n <= now.value; n++) if (is(n)) return step(n);
  status.value = `this pixel executes no instruction of line ${line}`;
}

export function Glsl() {
  const list = useRef<HTMLOListElement>(null), text = trace.value?.glsl, of = pairs.value, here = current.value;
  useEffect(() => {
    const box = list.current;
    if (!box) return;
    // The line of the step stays in view, whatever size the list gets.
    const show = () => {
      const line = box.querySelector<HTMLElement>("[aria-current]");
      if (!line) return;
      const top = line.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
      if (top < box.scrollTop || top + line.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
    };
    show();
    const watch = new ResizeObserver(show);
    watch.observe(box);
    return () => watch.disconnect();
  }, [here]);
  if (!text || !of) return null;
  return (
    <div id="glsl" role="region" aria-label={`GLSL, ${text.name}`}>
      <div class="bar"><h2>{text.name}</h2><span class="dim" title="The driver keeps no lines. An instruction belongs to the line that names the same inputs, uniforms and samplers.">lines of one colour belong together, by the names in both texts</span></div>
      <ol ref={list} tabIndex={0} aria-label="lines of GLSL" onMouseLeave={() => (pointed.value = null)}>
        {text.text.replace(/\n$/, "").split("\n").map((line, n) => {
          const ink = of.ink.get(n + 1), count = of.linesOf.get(n + 1)?.length ?? 0;
          const inner = <><span class="number">{n + 1}</span><code>{line || " "}</code></>;
          return ink === undefined
            ? <li onMouseEnter={() => (pointed.value = null)}><span class="source">{inner}</span></li>
            : <li class={`pair ink-${ink}`} onMouseEnter={() => (pointed.value = n + 1)}>
                <button class="source" aria-current={here.has(n + 1) ? "step" : undefined} title={`${count} instructions; a click goes to the next one that this pixel executes`} disabled={isShared.value && !steps.value} onClick={() => follow(n + 1)}>{inner}</button>
              </li>;
        })}
      </ol>
    </div>
  );
}
