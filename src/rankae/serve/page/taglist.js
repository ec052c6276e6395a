// Ranked tags with their probabilities, the cut drawn between those that the model would give and the others.

import { el, icon, percent } from "./dom.js";

const WEAK = 0.2; // of the strongest word; weaker ones are no reason

export class TagList {
  // decide(label, "accepted" | "rejected" | "added"), reach(place or null): the tag under pointer or focus.
  constructor({ decide, reach }) {
    this.decide = decide;
    this.reach = reach;
    this.node = el("ol", { class: "tags", "aria-label": "Suggested tags" });
    this.rows = [];
    this.tags = [];
    this.node.addEventListener("pointerleave", () => this.reached(this.current())); // the focused tag, if there is one
    this.node.addEventListener("focusout", (event) => {
      if (!this.node.contains(event.relatedTarget)) this.reached(null);
    });
  }

  // tags: suggestions, then what people added, which the model has said nothing of.
  show(tags, verdict) {
    const same = tags.length === this.tags.length && tags.every((tag, i) => tag.label === this.tags[i].label && tag.words === this.tags[i].words);
    if (!same) this.draw(tags);
    this.update(verdict);
  }

  draw(tags) {
    const focused = this.current();
    this.tags = tags;
    this.rows = tags.map((tag, place) => this.row(tag, place));
    const cut = tags.findIndex((tag) => tag.passes === false);
    const drawn = [...this.rows];
    if (cut > 0 || (cut === 0 && tags.length)) {
      const words = cut > 0 ? "the model itself would stop here" : "the model itself would give none of these";
      drawn.splice(cut, 0, el("li", { class: "cut", role: "separator", "aria-label": words }, el("span", {}, words)));
    }
    this.node.replaceChildren(...drawn);
    this.rows[this.place]?.classList.add("reached");
    if (focused !== null && this.rows.length) this.focus(Math.min(focused, this.rows.length - 1));
    else if (this.rows.length) this.rows[0].tabIndex = 0;
  }

  row(tag, place) {
    const known = tag.probability !== null && tag.probability !== undefined;
    const bar = known ? el("span", { class: "bar", "aria-hidden": "true" }, el("span", {})) : null;
    if (known) bar.firstChild.style.width = `${Math.max(1, 100 * tag.probability)}%`;
    const told = known ? percent(tag.probability) : tag.added ? "added by hand" : "";
    const accept = this.button("accepted", "check", "Accept", tag, place);
    const reject = this.button("rejected", "cross", "Reject", tag, place);
    const strongest = Math.max(0, ...(tag.words ?? []).map(([, weight]) => weight));
    const words = (tag.words ?? []).filter(([, weight]) => weight > 0 && weight >= WEAK * strongest).slice(0, 5).map(([word]) => word);
    return el("li", {
      class: tag.added ? "tag added" : tag.passes === false ? "tag below" : "tag", tabindex: "-1", "data-label": tag.label,
      onpointerenter: () => this.reached(place), onfocusin: () => this.reached(place),
    },
    el("span", { class: "name" }, tag.label),
    el("span", { class: "decide" }, accept, reject),
    el("span", { class: "likely" }, bar, told ? el("span", { class: "number" }, told) : null,
      words.length ? el("span", { class: "why" }, el("span", { class: "unseen" }, "because of "), words.map((word) => el("q", {}, word))) : null));
  }

  button(verdict, sign, word, tag, place) {
    const kind = verdict === "accepted" && tag.added ? "added" : verdict;
    return el("button", {
      type: "button", class: verdict, "aria-pressed": "false", "aria-label": `${word} ${tag.label}`, title: word, tabindex: "-1",
      onclick: () => { this.decide(tag.label, kind); this.focus(place); },
    }, icon(sign));
  }

  update(verdict) {
    this.rows.forEach((row, place) => {
      const said = verdict.of(this.tags[place].label);
      row.dataset.verdict = said === "added" ? "accepted" : said ?? "";
      for (const button of row.querySelectorAll(".decide button")) {
        button.setAttribute("aria-pressed", String(button.className === row.dataset.verdict));
      }
      const words = { accepted: "accepted", rejected: "rejected" }[row.dataset.verdict] ?? "not decided";
      const likely = this.tags[place].added ? "added by hand" : percent(this.tags[place].probability);
      row.setAttribute("aria-label", `${this.tags[place].label}, ${likely}, ${words}`);
    });
  }

  reached(place) {
    if (place === this.place) return;
    this.place = place;
    this.rows.forEach((row, i) => row.classList.toggle("reached", i === place));
    this.reach(place);
  }

  current() {
    const place = this.rows.findIndex((row) => row.contains(document.activeElement));
    return place < 0 ? null : place;
  }

  move(step) {
    if (!this.rows.length) return;
    const now = this.current();
    this.focus(now === null ? 0 : Math.min(Math.max(now + step, 0), this.rows.length - 1));
  }

  focus(place) {
    this.rows.forEach((row, i) => { row.tabIndex = i === place ? 0 : -1; });
    this.rows[place]?.focus();
  }

  // A word speaks for some tags: mark them with how much.
  speak(weights) {
    const strongest = weights ? Math.max(...weights.map(Math.abs), 1e-12) : 1;
    this.rows.forEach((row, place) => {
      const share = weights && place < weights.length ? weights[place] / strongest : 0;
      row.classList.toggle("for", share > 0.05);
      row.classList.toggle("against", share < -0.05);
    });
  }
}
