// The gallery: all built-in programs with small pictures, and the user's files.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { choose } from "./drop";
import { entries, entry, gallery, greeting, isShared, open, server, tab, tour } from "./state";
import type { Entry } from "./wire";

const thumbnails = signal<Record<string, string | null>>({});
let loading = false;

async function load() {
  if (loading) return;
  loading = true;
  for (const { name } of entries.value) {
    if (!gallery.value) break;
    if (name in thumbnails.value) continue;
    const answer = await server.ask("thumbnail", { entry: name }).catch(() => ({ picture: null }));
    thumbnails.value = { ...thumbnails.value, [name]: answer.picture };
  }
  loading = false;
}

export function Gallery() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (gallery.value) { if (!dialog.current!.open) dialog.current!.showModal(); load(); } else dialog.current!.close();
  }, [gallery.value]);
  const parts = [...new Set(entries.value.map((e) => e.part))];
  const card = (e: Entry) => (
    <li><button class="card" aria-current={e.name === entry.value} onClick={() => { gallery.value = false; open(e.name); }}>
      {thumbnails.value[e.name] ? <img src={thumbnails.value[e.name]!} alt="" /> : <span class="blank" aria-hidden="true" />}
      <span><b>{e.name}</b><span class="says">{e.says}</span></span>
    </button></li>
  );
  return (
    <dialog ref={dialog} id="gallery" aria-label="gallery of programs" onClose={() => (gallery.value = false)} onClick={(e) => { if (e.target === dialog.current) gallery.value = false; }}>
      <div class="bar"><h2>Programs</h2>{server.put && <label class="choose">Open files <input type="file" multiple onChange={(e) => { gallery.value = false; if (e.currentTarget.files) choose(e.currentTarget.files); }} /></label>}<button class="icon" aria-label="close" onClick={() => (gallery.value = false)}>×</button></div>
      <div class="shelves" tabIndex={0} role="group" aria-label="programs">
        {parts.map((part) => <section><h3>{part === "own" ? "Your files" : part}</h3><ul>{entries.value.filter((e) => e.part === part).map(card)}</ul></section>)}
      </div>
    </dialog>
  );
}

const tourSteps: [string, string, string][] = [
  ["#picture", "A pixel", "Click any pixel of the picture, or choose one with the arrow keys. Everything else on the page then speaks of that pixel."],
  ["#timeline", "A step", "The strip is time: one column for each instruction. Drag it, or press Left and Right. The marked line shows the operands' values and the result."],
  ["#group", "A mask", "These pixels run together, with one place in the program. Where they disagree some wait: their letter says for what. Hover names the pixel, a click goes to it."],
  ["#why", "Why", "Click a value among the registers: here is what it was made of, line by line, back to constants and inputs. A click goes to that step."],
  ["#editor", "Edit", "Change the text and press Ctrl-Enter: the picture, the steps and the reasons are made anew. Keep a picture before, and see the difference."],
];

export function Tour() {
  const box = useRef<HTMLDivElement>(null), at = tour.value, step = tourSteps[at];
  useEffect(() => {
    if (!step) return;
    greeting.value = false;
    if (tab.value !== "steps") { tab.value = "steps"; return; }
    const target = document.querySelector(step[0]);
    target?.classList.add("toured");
    target?.scrollIntoView({ block: "nearest" });
    const place = () => {
      const area = target?.getBoundingClientRect(), own = box.current?.getBoundingClientRect();
      if (!area || !own || !box.current) return;
      const top = area.top + area.height / 2 > innerHeight / 2 ? Math.max(8, area.top - own.height - 12) : Math.min(innerHeight - own.height - 8, area.bottom + 12);
      box.current.style.left = `${Math.max(8, Math.min(innerWidth - own.width - 8, area.left + area.width / 2 - own.width / 2))}px`;
      box.current.style.top = `${top}px`;
    };
    place();
    box.current?.querySelector<HTMLElement>("button.go")?.focus();
    return () => target?.classList.remove("toured");
  }, [at, tab.value]);
  if (!step) return null;
  return (
    <div id="tour" ref={box} role="dialog" aria-label={`tour, ${at + 1} of ${tourSteps.length}: ${step[1]}`} onKeyDown={(e) => { if (e.key === "Escape") tour.value = -1; }}>
      <h2>{step[1]} <span class="dim">{at + 1} of {tourSteps.length}</span></h2>
      <p>{step[2]}</p>
      <div class="bar">
        {at > 0 && <button onClick={() => (tour.value = at - 1)}>Back</button>}
        <button class="go" onClick={() => (tour.value = at + 1 < tourSteps.length ? at + 1 : -1)}>{at + 1 < tourSteps.length ? "Next" : "Done"}</button>
        <button onClick={() => (tour.value = -1)}>End the tour</button>
      </div>
    </div>
  );
}

const seen = "ctm-greeted";
export function greet() {
  try { greeting.value = !isShared.value && !localStorage.getItem(seen); } catch { greeting.value = !isShared.value; }
}

export function Greeting() {
  if (!greeting.value) return null;
  const done = () => { greeting.value = false; try { localStorage.setItem(seen, "yes"); } catch { /* A private window: shown again next time. */ } };
  return (
    <aside id="greeting" aria-label="about this page">
      <p>This program has just run on a graphics processor made of software, and drawn the picture. Every step of every pixel can be seen: click one. Any value answers why it is so, and the text can be changed and run again.</p>
      <button class="go" onClick={() => { done(); tour.value = 0; }}>Show me, in five steps</button>
      <button onClick={done}>Close</button>
    </aside>
  );
}
