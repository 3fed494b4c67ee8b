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
      <div class="maps">
        {([["instructions", "instructions of each pixel"], ["waited", "instructions for which each pixel waited"]] as const).map(([key, text]) => (
          <figure><figcaption>{text}: white is {counts[key].most}</figcaption><img src={counts[key].picture} alt={text} /></figure>
        ))}
      </div>
    </div>
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
