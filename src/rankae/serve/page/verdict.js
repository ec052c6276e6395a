// One person's verdict on one text: accepted, rejected and added labels, with undo. Nothing is decided beforehand.

export class Verdict {
  constructor({ accepted = [], rejected = [], added = [], done = false } = {}) {
    this.now = { accepted: [...accepted], rejected: [...rejected], added: [...added] };
    this.done = done;
    this.past = [];
  }

  of(label) {
    if (this.now.accepted.includes(label)) return "accepted";
    if (this.now.rejected.includes(label)) return "rejected";
    if (this.now.added.includes(label)) return "added";
    return null;
  }

  // The same verdict twice takes it back.
  set(label, verdict) {
    const before = this.of(label);
    this.remember();
    for (const list of Object.values(this.now)) {
      const place = list.indexOf(label);
      if (place >= 0) list.splice(place, 1);
    }
    if (before !== verdict) this.now[verdict].push(label);
    return this.of(label);
  }

  undo() {
    const before = this.past.pop();
    if (before) this.now = before;
    return Boolean(before);
  }

  remember() {
    this.past.push(structuredClone(this.now));
  }

  get count() {
    return this.now.accepted.length + this.now.rejected.length + this.now.added.length;
  }
}
