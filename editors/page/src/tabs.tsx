// The views beside the steps: profile and manual.
import { useState } from "preact/hooks";
import { count, file, files, goTo, isShared, lookUp, manual, profile } from "./state";

export function Profile() {
  const counts = profile.value;
  if (!counts) return <p class="hint">Every lane of every group is counted; that takes some seconds.</p>;
  const most = Math.max(1, ...counts.lines.map((l) => l.clocks)), base = (name: string) => name.split("/").pop()!;
  const to = (line: number) => {
    const number = files.value.findIndex((one) => base(one.name) === base(counts.name));
    if (number >= 0) file.value = number;
    goTo.value = { line };
  };
  return (
    <div class="panel scrolls" id="profile" tabIndex={0} role="group" aria-label="profile">
      <div class="bar"><h2>Profile</h2><span class="dim">{base(counts.name)}; the column beside the text has the clocks</span>{!isShared.value && <button onClick={count}>Count again</button>}</div>
      {counts.fault && <p role="alert" class="error">{counts.fault}</p>}
      <table>
        <thead><tr>{["line", "runs", "lanes", "split", "fetches", "clocks", ""].map((t) => <th>{t || <span class="unseen">instruction</span>}</th>)}</tr></thead>
        <tbody>
          {counts.lines.map((line) => (
            <tr style={{ background: `color-mix(in srgb, var(--hot) ${(45 * line.clocks) / most}%, transparent)` }}>
              <td><button class="link" aria-label={`to line ${line.line}`} onClick={() => to(line.line)}>{line.line}</button></td>
              <td>{line.runs}</td><td>{line.lanes.toFixed(1)}</td><td>{(100 * line.split).toFixed(0)}%</td><td>{line.fetches}</td><td>{line.clocks}</td><td class="code">{line.text.trim()}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Flow />
      <div class="maps">
        {([["instructions", "instructions of each pixel"], ["waited", "instructions for which each pixel waited"]] as const).map(([key, text]) => (
          <figure><figcaption>{text}: white is {counts[key].most}</figcaption><img src={counts[key].picture} alt={text} /></figure>
        ))}
      </div>
    </div>
  );
}

/** The control-flow graph of the executed instructions: a box a block, in the order of the text. Edges back to earlier blocks are on the right. */
function Flow() {
  const counts = profile.value!, { blocks, edges } = counts;
  if (blocks.length < 2) return null;
  const width = 300, row = 58, height = 40, most = Math.max(1, ...blocks.map((b) => b.runs));
  const y = (n: number) => 8 + n * row;
  const beyond = edges.filter((e) => e.to !== e.from + 1), spans = [...beyond].sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from));
  // Edges that overlap are side by side.
  const lanes: { low: number; high: number }[][] = [], laneOf = new Map<object, number>();
  for (const edge of spans) {
    const low = Math.min(edge.from, edge.to), high = Math.max(edge.from, edge.to);
    let lane = lanes.findIndex((all) => all.every((other) => other.high < low || other.low > high));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push({ low, high });
    laneOf.set(edge, lane);
  }
  const whole = 20 + width + 24 * (lanes.length + 1) + 70;
  const to = (line: number) => {
    const base = (name: string) => name.split("/").pop()!, number = files.value.findIndex((one) => base(one.name) === base(counts.name));
    if (number >= 0) file.value = number;
    goTo.value = { line };
  };
  return (
    <>
      <div class="bar"><h2>Control flow</h2><span class="dim">blocks in the order of the text; numbers on edges: how often</span></div>
      <svg class="flow" width={whole} height={y(blocks.length)} viewBox={`0 0 ${whole} ${y(blocks.length)}`} role="group" aria-label="control-flow graph">
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" style={{ fill: "context-stroke", stroke: "none" }} /></marker></defs>
        {edges.map((edge) => {
          const from = y(edge.from) + height, next = y(edge.to);
          if (edge.to === edge.from + 1) return <g><path d={`M${20 + width / 2} ${from}V${next - 1}`} marker-end="url(#arrow)" /><text class="dim" x={26 + width / 2} y={from + 14}>{edge.times}</text></g>;
          const x = 20 + width + 24 * (laneOf.get(edge)! + 1), a = y(edge.from) + 28, b = y(edge.to) + 12, right = 20 + width;
          return <g><path class={edge.to <= edge.from ? "back" : ""} d={`M${right} ${a}H${x}V${b}H${right + 1}`} marker-end="url(#arrow)" /><text class="dim" x={x + 3} y={(a + b) / 2 + 4}>{edge.times}</text></g>;
        })}
        {blocks.map((block, n) => {
          const lines = block.lines.filter(Boolean), first = Math.min(...lines), last = Math.max(...lines), one = counts.lines.find((l) => l.line === first);
          return (
            <g role="button" tabIndex={0} aria-label={`block ${n}: lines ${first} to ${last}, ${block.runs} executions`} onClick={() => to(first)} onKeyDown={(e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); to(first); } }}>
              <rect x={20} y={y(n)} width={width} height={height} rx={5} style={{ fill: `color-mix(in srgb, var(--hot) ${(45 * block.runs) / most}%, var(--panel))` }} />
              <text x={28} y={y(n) + 16}>{first === last ? `line ${first}` : `lines ${first}–${last}`}: {(one?.text ?? "").trim().replace(/\s+/g, " ").slice(0, 24)}</text>
              <text class="dim" x={28} y={y(n) + 32}>{block.runs} runs, {block.lanes.toFixed(1)} lanes</text>
            </g>
          );
        })}
      </svg>
    </>
  );
}

export function Manual() {
  const [topic, setTopic] = useState<string | null>(null);
  return (
    <div class="panel scrolls" id="manual" tabIndex={0} role="group" aria-label="manual">
      {!isShared.value && (
        <form class="bar" onSubmit={(e) => { e.preventDefault(); lookUp(topic ?? manual.value.topic); }}>
          <h2>Manual</h2>
          <input type="search" placeholder="rcp, MULADD, JUMP_FUNC" aria-label="word to look up" value={topic ?? manual.value.topic} onInput={(e) => setTopic(e.currentTarget.value)} />
          <button>Look up</button>
        </form>
      )}
      <pre>{manual.value.text || "The page of an operation, a word or a field. F1 in the text looks up the word at the cursor."}</pre>
    </div>
  );
}
