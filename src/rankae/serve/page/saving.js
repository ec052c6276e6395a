// Decisions on their way to the service: one after the other, and again until they are there. What has not arrived yet
// is kept in the browser, each decision by itself, so that closing the page or a second tab loses nothing. A decision
// has a name of its own: the service keeps it once, however often it is sent.

import { Failure, modelPath, post } from "./api.js";
import { notice } from "./dom.js";

const WAITING = "rankae.waiting.";
const NEVER = [413, 422]; // what is refused so will be refused again

export class Saving {
  constructor(show) {
    this.show = show;
    const left = Object.keys(localStorage).filter((key) => key.startsWith(WAITING)).sort(); // in the order of time
    this.waiting = left.map((key) => ({ key, ...JSON.parse(localStorage.getItem(key)) }));
    this.running = null;
  }

  // Gives a promise that is kept when the decision is on the service's disk.
  save(model, decision) {
    const uid = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, "0")).join("");
    const one = { model, decision: { ...decision, uid } };
    const key = `${WAITING}${String(Date.now()).padStart(15, "0")}.${uid}`;
    localStorage.setItem(key, JSON.stringify(one));
    this.waiting.push({ key, ...one });
    return this.flush();
  }

  flush() {
    this.running ??= this.run().finally(() => { this.running = null; });
    return this.running;
  }

  async run() {
    let pause = 500, refused = false;
    while (this.waiting.length) {
      const { model, decision } = this.waiting[0];
      this.show("Saving …", false);
      try {
        await post(`${modelPath(model)}/feedback`, decision);
        this.arrived();
        if (pause > 500) notice(null);
        pause = 500;
      } catch (error) {
        if (error instanceof Failure && error.status >= 400 && error.status < 500) {
          refused = true;
          if (NEVER.includes(error.status)) this.arrived();
          else this.waiting.shift(); // such as for a model that is not served now: tried again with the next visit
          notice(`A decision was not taken: ${error.message}`);
          continue;
        }
        this.show("Not saved yet", true);
        notice("The service cannot be reached. Decisions are kept in this browser until it can.");
        await new Promise((resume) => setTimeout(resume, pause));
        pause = Math.min(2 * pause, 10_000);
      }
    }
    if (this.running) this.show(refused ? "Not saved" : "Saved", refused);
  }

  arrived() {
    localStorage.removeItem(this.waiting.shift().key);
  }
}
