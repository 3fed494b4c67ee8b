// The origin of a value as a tree that folds; a click goes to the step that made it.
import { signal } from "@preact/signals";
import { number } from "./numbers";
import { form, goTo, lane, now, step, steps, trace, why } from "./state";
import type { WhyNode, WhyTree } from "./wire";

const opened = signal<{ tree: WhyTree | null; nodes: Map<string, boolean> }>({ tree: null, nodes: new Map() });
const kinds: Record<string, string> = { constant: "constant", memory: "from memory", start: "at the start" };


/** A value in its place of the tree. One that was already further up has no children. */
interface Branch { node: WhyNode; path: string; depth: number; again: boolean; children: Branch[] }

const built = new WeakMap<WhyTree, Branch>();
function branches(tree: WhyTree) {
  const seen = new Set<number>();
  const make = (at: number, path: string, depth: number): Branch => {
    const node = tree.nodes[at], again = seen.has(at);
    seen.add(at);
    return { node, path, depth, again, children: again || depth > 60 ? [] : node.from.map((child, n) => make(child, `${path}.${n}`, depth + 1)) };
  };
  if (!built.has(tree)) built.set(tree, make(0, "0", 0));
  return built.get(tree)!;
}

export function WhyPanel() {
  return (
    <div class="panel scrolls" id="why" tabIndex={0} role="group" aria-label="why">
      <div class="bar"><h2>Why</h2><span class="dim">{why.value?.length ? "a click goes to the step" : ""}</span></div>
      {!why.value && <p class="hint">{steps.value ? "Click a value on the left: its origin appears here." : "Why a pixel has its colour."}</p>}
      {why.value?.map((tree) => tree.nodes.length
        ? <ul aria-label={`why ${tree.place}`} key={tree.place}><Node tree={tree} of={branches(tree)} /></ul>
        : <p class="hint">{tree.place}: no instruction wrote it before this step.</p>)}
    </div>
  );
}

function Node({ tree, of }: { tree: WhyTree; of: Branch }) {
  const { node, path, again, children } = of;
  const own = opened.value.tree === tree ? opened.value.nodes : new Map<string, boolean>();
  const open = own.get(path) ?? of.depth < 4;
  const position = trace.value?.positions[lane.value], elsewhere = node.position && position && node.position.join() !== position.join() && node.kind !== "constant";
  const value = node.flag ? String(node.bits) : number(node.bits, form.value, 6);
  const fold = (to: boolean) => (opened.value = { tree, nodes: new Map(own).set(path, to) });
  const name = node.kind === "constant" && /^0x/.test(node.place) ? "" : node.place;
  return (
    <li>
      <span class="row">
        {children.length
          ? <button class="fold" aria-expanded={open} aria-label={`what ${node.place} was made of`} onClick={() => fold(!open)}>{open ? "▾" : "▸"}</button>
          : <span class="fold" aria-hidden="true" />}
        <button class={`node${node.step === now.value ? " here" : ""}`} disabled={node.step === null} title={node.step === null ? kinds[node.kind] : `to step ${node.step + 1}, line ${node.line}`}
          onClick={() => { step(node.step!); if (!trace.value) goTo.value = { line: node.line ?? 1 }; }}>
          <span class="place">{name}{elsewhere ? ` of (${node.position!.join(", ")})` : ""}</span> <b>{value}</b>
          {node.kind === "made" ? <span class="code"><span class="dim">line {node.line}</span> {node.text.replace(/\s+/g, " ")}{node.glsl !== null && trace.value?.glsl && <span class="glsl"> {trace.value.glsl.name}:{node.glsl} <code>{trace.value.glsl.text.split("\n")[node.glsl - 1]?.trim()}</code></span>}</span> : <span class="dim">{kinds[node.kind]}</span>}
          {again && node.from.length ? <span class="dim">see above</span> : null}
        </button>
      </span>
      {open && children.length > 0 && <ul>{children.map((child) => <Node key={child.path} tree={tree} of={child} />)}</ul>}
    </li>
  );
}
