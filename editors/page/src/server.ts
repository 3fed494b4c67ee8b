// The one interface to Rust: questions and answers by name. Over HTTP here; another transport has the same two functions.
import type { Answers, Question } from "./wire";

export interface Server {
  ask<N extends keyof Answers>(name: N, question: Question): Promise<Answers[N]>;
  /** One file that shows a state and needs no server; the state is JSON. */
  share(state: string): Promise<Blob>;
}

/** A newer question has replaced this one. */
export class Replaced extends Error {}

// Questions that a new one of the same name makes pointless: the server drops a question whose client has gone.
const replaced = new Set<string>(["check", "hover", "complete", "run", "trace", "profile", "why", "inspect", "vertices"]);

export class Http implements Server {
  private latest = new Map<string, AbortController>();

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
    const response = await this.post(name, JSON.stringify(question), control.signal);
    const answer = await response.json();
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  async share(state: string) {
    return (await this.post("share", state)).blob();
  }
}
