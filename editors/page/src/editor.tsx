// The text: colours, findings while typing, completion, the marked line with its values, and the heat of lines.
import { autocompletion, completionKeymap, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { forceLinting, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, drawSelection, EditorView, gutter, GutterMarker, highlightActiveLine, hoverTooltip, keymap, lineNumbers, WidgetType } from "@codemirror/view";
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { pairs, pointed } from "./glsl";
import { language } from "./language";
import { number } from "./numbers";
import { Replaced } from "./server";
import { current, dark, entry, file, files, findings, form, given, goTo, isShared, lane, layOut, listings, lookUp, now, profile, question, runJob, server, setText, status, step, steps, trace, words } from "./state";
import type { Effect } from "./steps";

interface Mark { line: number; text: string; wrote: { line: number; text: string }[] }

const setMark = StateEffect.define<Mark>(), setPairs = StateEffect.define<DecorationSet>();
const switching = Annotation.define<boolean>();
const languages = new Compartment(), fixed = new Compartment(), heat = new Compartment(), colours = new Compartment();

class Values extends WidgetType {
  constructor(readonly text: string) { super(); }
  eq(other: Values) { return other.text === this.text; }
  toDOM() {
    const made = document.createElement("span");
    made.className = "inline-values";
    made.textContent = this.text;
    return made;
  }
}

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(old, transaction) {
    old = old.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMark)) continue;
      const { line, text, wrote } = effect.value, { doc } = transaction.state, made = [];
      if (line > 0 && line <= doc.lines) {
        const at = doc.line(line);
        made.push(Decoration.line({ class: "cm-here", attributes: { "aria-current": "step" } }).range(at.from));
        if (text) made.push(Decoration.widget({ widget: new Values(text), side: 1 }).range(at.to));
      }
      // The other instructions of a group, each with its result.
      for (const other of wrote) {
        if (other.line === line || other.line < 1 || other.line > doc.lines) continue;
        const at = doc.line(other.line);
        made.push(Decoration.line({ class: "cm-beside" }).range(at.from), Decoration.widget({ widget: new Values(other.text), side: 1 }).range(at.to));
      }
      old = Decoration.set(made, true);
    }
    return old;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Lines that have a line of GLSL, in its colour. */
const coloured = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(old, transaction) {
    for (const effect of transaction.effects) if (effect.is(setPairs)) return effect.value;
    return old.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Heat extends GutterMarker {
  constructor(readonly share: number, readonly title: string) { super(); }
  eq(other: Heat) { return other.title === this.title; }
  toDOM() {
    const made = document.createElement("div");
    made.className = "heat";
    made.title = this.title;
    made.style.width = `${Math.max(6, 100 * this.share)}%`;
    return made;
  }
}

const say = (effects: Effect[]) => effects.map((e) => `${e.name} ${e.flag ? e.bits : number(e.bits, form.value, 6)}`).join("  ");

/** Values beside the marked line and the other lines of its group. */
function markOf(): Mark {
  const all = steps.value;
  if (!all) return { line: 0, text: "", wrote: [] };
  const line = all.line(now.value);
  const passing = (effect: Effect) => !/^(PV\.|PS$)/.test(effect.name);
  const writes = all.writes(now.value, lane.value).filter(passing), reads = all.reads(now.value, lane.value).filter((r) => !/^0x/.test(r.name));
  const byLine = new Map<number, Effect[]>();
  for (const write of writes) byLine.set(write.line || line, [...(byLine.get(write.line || line) ?? []), write]);
  // Of a group, the operands that a line names.
  const textOf = (at: number) => (files.value[file.value]?.text.split("\n")[at - 1] ?? "").replace(/^\s*\d*\s*[xyzwt]:/, "");
  const named = (at: number) => reads.filter((read) => textOf(at).replace(/^[^,]*,/, "").includes(read.name));
  const wrote = [...byLine].map(([at, effects]) => ({ line: at, text: `${say(named(at))} → ${say(effects)}`.trim() }));
  const single = wrote.length < 2;
  const result = single ? (writes.length ? ` → ${say(writes)}` : "") : wrote.find((other) => other.line === line)?.text ?? "";
  const off = all.executing(now.value).has(lane.value) ? "" : "this pixel waits";
  return { line, text: off || `${single ? say(reads.slice(0, 6)) : ""}${result}`.trim(), wrote: single ? [] : wrote };
}

const findingsOf = linter(async (view) => {
  const one = current(), text = view.state.doc.toString();
  // Listings are the text of containers: there is nothing to mend.
  if (isShared.value || !one?.language || given.value || listings.value.has(one.name)) { findings.value = []; return []; }
  const more = one.language === "toml" ? question({ name: one.name }) : {};
  const found = await server.ask("check", { ...more, language: one.language, text }).catch((e) => {
    if (!(e instanceof Replaced)) status.value = e.message;
    return null;
  });
  if (!found) return [];
  findings.value = found.findings;
  const end = view.state.doc.length;
  return found.findings.map((f) => ({
    from: Math.min(f.from, end), to: Math.min(Math.max(f.to, f.from), end), severity: f.severity as "error", message: f.message, source: f.rule,
  }));
}, { delay: 200 });

const inText = (offset: number) => ({ language: current().language, text: current().text, offset });
const isProgram = () => !isShared.value && Boolean(current()?.language) && current().language !== "toml";

const hover = hoverTooltip(async (view, offset) => {
  if (!isProgram()) return null;
  const answer = await server.ask("hover", inText(offset)).catch(() => null);
  if (!answer?.text) return null;
  const word = view.state.wordAt(offset), text = answer.text.replace(/^```.*\n?/gm, "");
  return {
    pos: word ? word.from : offset, end: word ? word.to : offset, above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "hover";
      dom.textContent = text;
      return { dom };
    },
  };
});

async function complete(context: CompletionContext) {
  const word = context.matchBefore(/[A-Za-z_0-9]*/)!;
  if (!isProgram() || (word.from === word.to && !context.explicit && context.state.sliceDoc(word.from - 1, word.from) !== ".")) return null;
  const answer = await server.ask("complete", inText(context.pos)).catch(() => ({ items: [] }));
  return { from: word.from, options: answer.items, validFor: /^[A-Za-z_0-9]*$/ };
}

async function goToDefinition(view: EditorView) {
  if (!isProgram()) return;
  const answer = await server.ask("definition", inText(view.state.selection.main.head)).catch(() => null);
  if (answer?.offset != null) view.dispatch({ selection: { anchor: answer.offset }, scrollIntoView: true });
}

/** The word at the cursor, or the nearest one of its line. */
function wordNear(view: EditorView) {
  const head = view.state.selection.main.head, word = view.state.wordAt(head);
  if (word) return view.state.sliceDoc(word.from, word.to);
  const line = view.state.doc.lineAt(head);
  let best = "", distance = Infinity;
  for (const found of line.text.split(/;|\/\//)[0].matchAll(/[A-Za-z_][A-Za-z_0-9]*/g)) {
    const from = line.from + found.index!, away = head < from ? from - head : head - from - found[0].length;
    if (away < distance) [best, distance] = [found[0], away];
  }
  return best;
}

export let view: EditorView | null = null;

export function Editor() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const made = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: "",
        extensions: [
          lineNumbers(), heat.of([]), highlightActiveLine(), drawSelection(), history(), highlightSelectionMatches(), lintGutter(), findingsOf, hover,
          autocompletion({ override: [complete] }), marks, coloured, languages.of([]), colours.of([]), fixed.of(EditorState.readOnly.of(false)), EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "program text" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((t) => t.annotation(switching))) setText(update.state.doc.toString());
          }),
          keymap.of([
            { key: "Mod-Enter", run: () => (runJob(), true) },
            { key: "Shift-Alt-f", run: () => (layOut(), true) },
            { key: "F12", run: (v) => (goToDefinition(v), true) },
            { key: "F1", run: (v) => (lookUp(wordNear(v)), true) },
            ...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap,
          ]),
          EditorView.domEventHandlers({ dblclick: (_, v) => { runToLine(v.state.doc.lineAt(v.state.selection.main.head).number); } }),
        ],
      }),
    });
    view = made;
    made.scrollDOM.tabIndex = 0;
    made.scrollDOM.setAttribute("aria-label", "program text, scrolled");
    made.scrollDOM.setAttribute("role", "group");
    let shown = "";
    const stops = [
      // Another file, or a text that the page itself has changed.
      effect(() => {
        const one = files.value[file.value] ?? { name: "", text: "", language: null }, name = `${entry.value}\n${one.name}`;
        if (name === shown && made.state.doc.toString() === one.text) return;
        const sameFile = name === shown;
        shown = name;
        made.dispatch({
          changes: { from: 0, to: made.state.doc.length, insert: one.text },
          effects: [languages.reconfigure(language(one.language, words.value)), fixed.reconfigure(EditorState.readOnly.of(isShared.value || Boolean(given.value) || listings.value.has(one.name)))],
          annotations: switching.of(true),
          selection: sameFile ? undefined : { anchor: 0 },
        });
        forceLinting(made);
      }),
      effect(() => made.dispatch({ effects: [languages.reconfigure(language(files.value[file.value]?.language ?? null, words.value))] })),
      effect(() => made.dispatch({ effects: colours.reconfigure(EditorView.theme({}, { dark: dark.value })) })),
      effect(() => {
        const all = steps.value, one = files.value[file.value], base = (name: string) => name.split("/").pop();
        const own = all && one && base(all.data.name) === base(one.name);
        const mark = own ? markOf() : { line: 0, text: "", wrote: [] };
        made.dispatch({ effects: setMark.of(mark) });
        // Only the text is scrolled, never the page around it.
        if (mark.line > 0 && mark.line <= made.state.doc.lines) requestAnimationFrame(() => {
          if (mark.line > made.state.doc.lines) return;
          const block = made.lineBlockAt(made.state.doc.line(mark.line).from), { scrollDOM } = made;
          if (block.top < scrollDOM.scrollTop + 20 || block.bottom > scrollDOM.scrollTop + scrollDOM.clientHeight - 60) scrollDOM.scrollTop = block.top - scrollDOM.clientHeight / 3;
        });
      }),
      effect(() => {
        const of = pairs.value, one = files.value[file.value], base = (name: string) => name.split("/").pop();
        if (!of || !one || base(trace.value!.name) !== base(one.name)) return made.dispatch({ effects: setPairs.of(Decoration.none) });
        const all = [...of.lineOf].filter(([line]) => line <= made.state.doc.lines).sort((a, b) => a[0] - b[0]);
        const lines = all.map(([line, glsl]) => Decoration.line({
          class: `pair ink-${of.ink.get(glsl)}${pointed.value === glsl ? " pointed" : ""}`, attributes: { title: `line ${glsl} of ${trace.value!.glsl!.name}` },
        }).range(made.state.doc.line(line).from));
        made.dispatch({ effects: setPairs.of(Decoration.set(lines)) });
      }),
      effect(() => {
        const counts = profile.value, one = files.value[file.value], base = (name: string) => name.split("/").pop();
        if (!counts || !one || base(counts.name) !== base(one.name)) return made.dispatch({ effects: heat.reconfigure([]) });
        const most = Math.max(1, ...counts.lines.map((line) => line.clocks));
        const builder = new RangeSetBuilder<GutterMarker>();
        for (const line of [...counts.lines].sort((a, b) => a.line - b.line)) {
          if (line.line > made.state.doc.lines) continue;
          const from = made.state.doc.line(line.line).from;
          builder.add(from, from, new Heat(line.clocks / most, `${line.runs} runs, ${line.lanes.toFixed(1)} lanes, ${line.clocks} clocks`));
        }
        const set = builder.finish();
        made.dispatch({ effects: heat.reconfigure(gutter({ class: "cm-heat", markers: () => set })) });
      }),
      effect(() => {
        const to = goTo.value;
        if (!to) return;
        const line = made.state.doc.line(Math.max(1, Math.min(to.line, made.state.doc.lines)));
        made.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
        made.focus();
        goTo.value = null;
      }),
    ];
    return () => { stops.forEach((stop) => stop()); made.destroy(); };
  }, []);
  return <div id="editor" ref={place} />;
}

export function runToLine(line: number) {
  const all = steps.value;
  if (!all || !trace.value) return;
  const to = all.onLine(now.value, line);
  if (to >= 0) step(to);
  else status.value = `the pixel's group never executes line ${line}`;
}

export function Findings() {
  return (
    <div id="findings" role="log" aria-label="findings" hidden={!findings.value.length} tabIndex={0}>
      {findings.value.map((f) => {
        const before = (current()?.text ?? "").slice(0, f.from).split("\n");
        return (
          <button class={f.severity} onClick={() => { view?.dispatch({ selection: { anchor: Math.min(f.from, view.state.doc.length) }, scrollIntoView: true }); view?.focus(); }}>
            {before.length}:{before[before.length - 1].length + 1} {f.severity}: {f.message}
          </button>
        );
      })}
    </div>
  );
}
