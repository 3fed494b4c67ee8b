// A trace: slider over time, masks of the group, registers; as `Trace::page_data` of the library has it.
const flags = new Set(["res", "covered", "P", "EXEC", "VALID", "KILLED", "p.r", "p.g", "p.b", "p.a"]);
const colours = { "#": "--run", c: "--continue", b: "--break", ".": "--none", "-": "--none" };
const words = {
  "#": "executes",
  c: "waits for the next iteration",
  b: "has left the loop",
  ".": "not covered",
  "-": "not executing",
};
const bytes = new DataView(new ArrayBuffer(4));

export function number(bits, form) {
  bytes.setUint32(0, bits);
  if (form === "hex") return "0x" + bits.toString(16).padStart(8, "0");
  if (form === "int") return String(bytes.getInt32(0));
  const value = bytes.getFloat32(0);
  if (Object.is(value, -0)) return "-0";
  return String(Number.isFinite(value) ? parseFloat(value.toPrecision(9)) : value);
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made[key] = value;
    else if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
export { element };

// Shows a trace in `place`; `onLine(line, counts)` hears which line comes next.
export class Steps {
  constructor(place, data, { onLine, onWhy, now = 0, selected }) {
    Object.assign(this, { place, data, onLine, onWhy, now, selected: selected ?? data.lane });
    this.form = "float";
    this.start = new Map(data.start.map(([lane, at, bits]) => [lane + ":" + at, bits]));
    this.build();
    this.draw();
  }

  build() {
    const { data, place } = this;
    place.textContent = "";
    const go = (to) => () => this.go(to());
    this.slider = element("input", { type: "range", id: "time", min: 0, max: data.steps.length, "aria-label": "time in instructions" });
    this.slider.oninput = () => this.go(+this.slider.value);
    this.time = element("output", { id: "now" });
    const form = element("select", { "aria-label": "form of values" }, ...["float", "hex", "int"].map((f) => element("option", { value: f }, f)));
    form.onchange = () => { this.form = form.value; this.draw(); };
    place.append(
      element("p", { class: "dim" }, data.title.replace(/\/\S*\//, "")),
      element("div", { class: "controls" },
        element("button", { title: "to the start (Home)", onclick: go(() => 0) }, "|<"),
        element("button", { title: "one instruction back (Left)", onclick: go(() => this.now - 1) }, "<"),
        element("button", { title: "one instruction on (Right)", onclick: go(() => this.now + 1) }, ">"),
        element("button", { title: "to the end (End)", onclick: go(() => data.steps.length) }, ">|"),
        this.slider, this.time, form),
    );
    this.what = element("p", { id: "what", "aria-live": "polite" });
    const lanes = data.positions.length, quads = Math.ceil(lanes / 4), across = Math.min(quads, 8);
    const mask = element("div", { class: "mask", role: "group", "aria-label": "lanes of the group" });
    mask.style.gridTemplateColumns = `repeat(${across * 2}, 2rem)`;
    this.buttons = data.positions.map((_, lane) => {
      const button = element("button", { onclick: () => { this.selected = lane; this.draw(); } });
      const quad = lane >> 2;
      // Quads are 2x2: lanes 4q to 4q+3 as (0,0) (1,0) (0,1) (1,1).
      button.style.gridColumn = (quad % across) * 2 + (lane & 1) + 1;
      button.style.gridRow = Math.floor(quad / across) * 2 + ((lane >> 1) & 1) + 1;
      mask.append(button);
      return button;
    });
    const key = element("div", { class: "key" });
    for (const [colour, text] of [["--run", "executes"], ["--branch", "inactive by a branch"], ["--continue", "waits: continue"], ["--break", "left: break"], ["--none", "not covered"]]) {
      const mark = element("i");
      mark.style.background = `var(${colour})`;
      key.append(element("span", {}, mark, text));
    }
    this.stack = element("p");
    this.body = element("tbody");
    this.why = element("pre", { id: "why" });
    place.append(this.what, mask, key, this.stack,
      element("table", {}, element("thead", {}, element("tr", {}, ...["place", "value", "before", ""].map((t) => element("th", {}, t)))), this.body),
      this.why);
    place.onkeydown = (event) => {
      if (/SELECT|INPUT/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
      const to = { ArrowLeft: this.now - 1, ArrowRight: this.now + 1, Home: 0, End: data.steps.length }[event.key];
      if (to !== undefined) { event.preventDefault(); this.go(to); }
    };
  }

  go(to) {
    this.now = Math.max(0, Math.min(this.data.steps.length, to));
    this.draw();
  }

  // The next execution of a line after now, or the first one.
  goToLine(line) {
    let at = this.data.steps.findIndex((s, i) => i > this.now && s[1] === line);
    if (at < 0) at = this.data.steps.findIndex((s) => s[1] === line);
    if (at >= 0) this.go(at);
  }

  shown(place, bits) {
    return flags.has(this.data.places[place]) ? String(bits) : number(bits, this.form);
  }

  draw() {
    const { data, now, selected } = this, { steps, positions, places } = data;
    this.slider.value = now;
    this.time.textContent = `${now} of ${steps.length}`;
    const step = steps[now], at = positions[selected];
    const end = data.fault ? "fault: " + data.fault : data.cut ? "the trace ends here" : "the program has ended";
    this.what.textContent =
      (step ? `next: ${step[2]}, executed by ${step[3].length} of ${positions.length} lanes` : end) +
      `; lane ${selected} is (${at[0]}, ${at[1]})`;
    const letters = new Array(positions.length).fill("#");
    let stack = [];
    const value = new Map(), before = new Map();
    for (const [key, bits] of this.start) {
      const [lane, place] = key.split(":");
      if (+lane === selected) value.set(+place, bits);
    }
    for (let i = 0; i < now; i++) {
      const flow = steps[i][5];
      if (flow) { [...flow[1]].forEach((c, n) => (letters[flow[0] + n] = c)); stack = flow[2]; }
      for (const write of steps[i][4]) {
        if (write[0] !== selected) continue;
        for (const [place, old, bits] of write.slice(1)) {
          value.set(place, bits);
          if (i === now - 1) before.set(place, old);
        }
      }
    }
    const executing = step ? new Set(step[3]) : null;
    this.buttons.forEach((button, lane) => {
      let c = letters[lane];
      if (executing && c === "#" && !executing.has(lane)) c = "-";
      button.style.background = `var(${colours[c] || "--branch"})`;
      button.textContent = c;
      button.className = lane === selected ? "selected" : "";
      const p = positions[lane];
      button.title = `lane ${lane} (${p[0]}, ${p[1]}): ${words[c] || "inactive by a branch, counter " + c}`;
      button.setAttribute("aria-label", button.title);
      button.setAttribute("aria-pressed", lane === selected);
    });
    this.stack.textContent = "stack: " + (stack.length ? stack.join(", ") : "empty");
    this.body.textContent = "";
    const names = [...value.keys()].sort((a, b) => places[a].localeCompare(places[b], "en", { numeric: true }));
    for (const place of names) {
      const row = this.body.insertRow();
      if (before.has(place)) row.className = "changed";
      const texts = [places[place], this.shown(place, value.get(place)), before.has(place) ? this.shown(place, before.get(place)) : ""];
      for (const text of texts) row.insertCell().textContent = text;
      const cell = row.insertCell();
      if (this.onWhy && now === steps.length) {
        const name = places[place];
        cell.append(element("button", { title: `what made ${name}`, onclick: async () => (this.why.textContent = await this.onWhy(name, positions[selected])) }, "why"));
      }
    }
    this.onLine(step ? step[1] : 0);
  }
}
