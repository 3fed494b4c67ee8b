// A worker of the page: it holds the engine, and answers questions one after the other. The page's side is editors/page/src/local.ts.
import init, { Page } from "./ctm_web.js";

let page;

async function answered({ module, name, question, files }) {
  if (module) {
    await init({ module_or_path: module });
    page = new Page();
    return {};
  }
  if (files) {
    for (const [path, bytes] of files) page.add(path, bytes);
    return { answer: page.put() };
  }
  const answer = page.ask(name, question), numbers = [];
  // Numbers of outputs are moved to the page: a text of them would take longer than most runs.
  for (let bytes; (bytes = page.numbers()); ) numbers.push(bytes.buffer);
  return { answer, numbers };
}

// Messages that come while the engine starts wait for it.
let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(() => answered(data)).then(
    (all) => postMessage({ id: data.id, ...all }, all.numbers ?? []),
    // A text is a refusal; anything else is an error of the engine, after which it does not go on.
    (error) => postMessage({ id: data.id, error: String(error?.message ?? error), fatal: typeof error !== "string" }),
  );
};
