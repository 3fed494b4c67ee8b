// The page without a server: the engine is WebAssembly in workers. One answers questions about texts, so that they never wait for a run; the other one does the rest.
// Stopping ends a worker at once: the next one begins with the compiled engine and the user's files.
import { Replaced, replaced, type Server } from "./server";
import type { Answers, Question } from "./wire";

type UserFile = [string, Uint8Array];
interface Task { name: string; message: object; since: number; resolve(answer: any): void; reject(error: Error): void }

/** A newer question ends an older one of the same name that takes longer than this, in milliseconds; a shorter one ends by itself. */
const PATIENCE = 250;

class Engine {
  private worker: Worker | null = null;
  private waiting: Task[] = [];
  private running: Task | null = null;
  private number = 0;
  /** Of a worker that no question has reached. */
  private failure = "";
  /** The engine, once it is compiled: then a question goes to its worker at once, before the page draws anything again. */
  private compiled: WebAssembly.Module | null = null;

  constructor(private address: string, private module: Promise<WebAssembly.Module>, private files: UserFile[]) {
    this.worker = this.begun();
    module.then((compiled) => { this.compiled = compiled; }, () => {});
  }

  /** Answers a message, after those that came before. */
  ask(name: string, message: object): Promise<any> {
    if (replaced.has(name)) this.replace(name);
    return new Promise((resolve, reject) => {
      this.waiting.push({ name, message, since: 0, resolve, reject });
      this.next();
    });
  }

  /** Ends everything. */
  stop() {
    const tasks = this.running ? [this.running, ...this.waiting] : this.waiting;
    this.waiting = [];
    if (this.running) this.end();
    tasks.forEach((task) => task.reject(new Replaced()));
  }

  private replace(name: string) {
    for (const task of this.waiting.filter((task) => task.name === name)) task.reject(new Replaced());
    this.waiting = this.waiting.filter((task) => task.name !== name);
    const task = this.running;
    if (task?.name !== name) return;
    if (performance.now() - task.since > PATIENCE) this.end();
    task.reject(new Replaced());
  }

  /** Ends the worker and the running question. */
  private end() {
    this.worker?.terminate();
    this.worker = this.running = null;
    this.number++;
  }

  private async next(): Promise<void> {
    const task = this.waiting[0];
    if (this.running || !task) return;
    this.waiting.shift();
    this.running = task;
    task.since = performance.now();
    const mine = ++this.number;
    const ended = (take: () => void) => {
      if (mine !== this.number) return;
      this.running = null;
      take();
      this.next();
    };
    try {
      const worker = (this.worker ??= this.begun());
      // The engine reaches a worker before any question.
      if (!this.compiled) {
        await this.module;
        if (mine !== this.number) return this.next();
      }
      const broken = (text: string) => ended(() => {
        worker.terminate();
        this.worker = null;
        task.reject(new Error(`the engine failed, by a mistake of ctm or for want of memory: ${text}`));
      });
      worker.onmessage = ({ data }) => {
        if (data.fatal) broken(data.error);
        else if (data.id === mine) ended(() => (data.error ? task.reject(new Error(data.error)) : task.resolve(data)));
      };
      worker.onerror = (event) => { event.preventDefault(); broken(event.message); };
      if (this.failure) return broken(this.failure);
      worker.postMessage({ id: mine, ...task.message });
    } catch (error) {
      ended(() => task.reject(new Error(`the engine cannot be loaded: ${(error as Error).message}`)));
    }
  }

  /** A worker, which loads its script while the engine is compiled. */
  private begun() {
    const worker = new Worker(this.address, { type: "module" });
    this.failure = "";
    worker.onerror = (event) => { event.preventDefault(); this.failure = event.message || "its script cannot be loaded"; };
    const give = (module: WebAssembly.Module) => {
      worker.postMessage({ module });
      if (this.files.length) worker.postMessage({ files: this.files });
    };
    if (this.compiled) give(this.compiled);
    else this.module.then(give, () => {});
    return worker;
  }
}

/** Questions about texts. */
const texts = new Set(["entries", "check", "hover", "complete", "definition", "format", "words", "manual"]);

async function compiled(address: string) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status} ${response.statusText}`);
  // Not every host gives the type that compiling while loading needs.
  if (response.headers.get("Content-Type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

export class Local implements Server {
  readonly isLocal = true;
  private files: UserFile[] = [];
  private engines: [Engine, Engine];

  /** The address of the worker's script, beside which the engine is. */
  constructor(worker: string) {
    const module = compiled("ctm_web_bg.wasm");
    // Reported with the first question.
    module.catch(() => {});
    this.engines = [new Engine(worker, module, this.files), new Engine(worker, module, this.files)];
  }

  async ask<N extends keyof Answers>(name: N, question: Question): Promise<Answers[N]> {
    const engine = this.engines[texts.has(name) ? 0 : 1];
    const { answer: text, numbers } = await engine.ask(name, { name, question: JSON.stringify(question) });
    const answer = JSON.parse(text);
    if (answer.error) throw new Error(answer.error);
    // Those of a run's outputs, which hold no text of them; empty ones belong to outputs that have a picture.
    numbers.forEach((bytes: ArrayBuffer, n: number) => { if (answer.outputs[n].picture === null) answer.outputs[n].values = new Float32Array(bytes); });
    return answer;
  }

  /** The page as a file; its template is a file of the site. */
  async share(state: string) {
    const template = await (await fetch("shared.html")).text();
    return new Blob([template.replace("@STATE@", () => state.replaceAll("<", "\\u003c"))], { type: "text/html" });
  }

  async put(files: UserFile[]): Promise<string[]> {
    const [first] = await Promise.all(this.engines.map((engine) => engine.ask("put", { files })));
    for (const file of files) {
      const at = this.files.findIndex(([name]) => name === file[0]);
      if (at >= 0) this.files.splice(at, 1);
      this.files.push(file);
    }
    return first.answer;
  }

  stop() { this.engines[1].stop(); }
}
