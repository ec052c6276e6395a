// Decisions on their way to the service: one after the other, and again until they are there. What has not arrived yet
// is kept in the browser, so that closing the page loses nothing.

import { Failure, modelPath, post } from "./api.js";
import { notice } from "./dom.js";

const WAITING = "rankae.waiting";

export class Saving {
  constructor(show) {
    this.show = show;
    this.waiting = JSON.parse(localStorage.getItem(WAITING) ?? "[]");
    this.running = null;
  }

  // Gives a promise that is kept when the decision is on the service's disk.
  save(model, decision) {
    this.waiting.push({ model, decision });
    this.keep();
    return this.flush();
  }

  flush() {
    this.running ??= this.run().finally(() => { this.running = null; });
    return this.running;
  }

  async run() {
    let pause = 500;
    while (this.waiting.length) {
      const { model, decision } = this.waiting[0];
      this.show("Saving …", false);
      try {
        await post(`${modelPath(model)}/feedback`, decision);
        this.waiting.shift();
        this.keep();
        pause = 500;
        notice(null);
      } catch (error) {
        if (error instanceof Failure && error.status >= 400 && error.status < 500) {
          this.waiting.shift();
          this.keep();
          this.show("Not saved", true);
          notice(`A decision was refused: ${error.message}`);
          continue;
        }
        this.show("Not saved yet", true);
        notice("The service cannot be reached. Decisions are kept in this browser until it can.");
        await new Promise((resume) => setTimeout(resume, pause));
        pause = Math.min(2 * pause, 10_000);
      }
    }
    if (this.running) this.show(`Saved ${new Date().toLocaleTimeString()}`, false);
  }

  keep() {
    localStorage.setItem(WAITING, JSON.stringify(this.waiting));
  }
}
