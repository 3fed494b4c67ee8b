// The one interface to Rust: questions and answers by name. Over HTTP here; local.ts is the same without a server.
import type { Answers, Question } from "./wire";

export interface Server {
  ask<N extends keyof Answers>(name: N, question: Question): Promise<Answers[N]>;
  /** One file that shows a state and needs no server; the state is JSON. */
  share(state: string): Promise<Blob>;
  /** Ends everything that runs; its questions fail with `Replaced`. */
  stop(): void;
  /** Puts files of the user beside those that are there; the names of entries that can be opened. A server gets its files with its command. */
  put?(files: [string, Uint8Array][]): Promise<string[]>;
  /** There is no server: the page has an address that others can open, too. */
  readonly isLocal: boolean;
}

/** A newer question has replaced this one, or it was stopped. */
export class Replaced extends Error {}

// Questions that a new one of the same name makes pointless: the server drops a question whose client has gone.
export const replaced = new Set<string>(["check", "hover", "complete", "run", "trace", "profile", "why", "inspect", "vertices"]);

export class Http implements Server {
  readonly isLocal = false;
  private latest = new Map<string, AbortController>();
  private running = new Set<AbortController>();

  private async post(name: string, body: string, signal?: AbortSignal) {
    let response;
    try {
      response = await fetch("api/" + name, { method: "POST", body, signal });
    } catch {
      if (signal?.aborted) throw new Replaced();
      throw new Error("the server has gone: start `ctm serve` again");
    }
    if (!response.ok) throw new Error((await response.text()).trim());
    return response;
  }

  async ask<N extends keyof Answers>(name: N, question: Question): Promise<Answers[N]> {
    const control = new AbortController();
    if (replaced.has(name)) {
      this.latest.get(name)?.abort();
      this.latest.set(name, control);
    }
    this.running.add(control);
    const asked = async () => (await this.post(name, JSON.stringify(question), control.signal)).json();
    const answer = await asked()
      .catch((error) => { throw control.signal.aborted ? new Replaced() : error; })
      .finally(() => this.running.delete(control));
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  async share(state: string) {
    return (await this.post("share", state)).blob();
  }

  stop() { this.running.forEach((control) => control.abort()); }
}
