// What stands beside an empty text: what to do here, and the way back to the text that was finished last.

import { el, icon } from "./dom.js";

const MOST_SHOWN = 60; // characters
const STEPS = [
  ["Paste a text, or open a file", "A file is worked through text by text, and a team can share it."],
  ["Go through the tags", "Accept what fits, reject what does not, add what is missing. Nothing is decided for you; rest on a tag to see which words speak for it."],
  ["Finish", "Every decision is saved at once. Finished texts are what the next model learns from."],
];

export class Guide {
  constructor(reopen) {
    this.last = el("p", { class: "last", hidden: true });
    this.reopen = reopen;
    this.node = el("section", { class: "sheet guide", "aria-label": "How to tag" }, this.last,
      el("h2", {}, "How it works"),
      el("ol", {}, STEPS.map(([what, how]) => el("li", {}, el("strong", {}, what), el("span", { class: "quiet" }, how)))));
  }

  finished(text) {
    const start = text.trim().split("\n")[0];
    const shown = start.length > MOST_SHOWN ? `${start.slice(0, MOST_SHOWN).replace(/\s+\S*$/, "")} …` : start;
    this.last.hidden = false;
    this.last.replaceChildren(icon("check"), el("span", {}, `Finished: ${shown} `,
      el("button", { type: "button", class: "link", onclick: () => this.reopen(text) }, "Open it again")));
  }
}
