// The text with its words, coloured by what they say for one label, and the way back: from a word to its labels.

import { el } from "./dom.js";

const WEAKEST = 0.15; // of the strongest word's weight; less is not coloured

export class Reading {
  // onWord(number or null): the word under the pointer, or that the arrow keys have reached.
  constructor(place, onWord) {
    this.place = place;
    this.onWord = onWord;
    this.spans = [];
    this.at = -1;
    place.addEventListener("pointerover", (event) => this.reach(event.target.closest?.("[data-word]")));
    place.addEventListener("pointerleave", () => this.reach(null));
    place.addEventListener("blur", () => { this.at = -1; this.reach(null); });
    place.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || !this.spans.length) return;
      event.preventDefault();
      event.stopPropagation();
      this.at = Math.min(Math.max(this.at + step, 0), this.spans.length - 1);
      this.spans[this.at].scrollIntoView({ block: "nearest" });
      this.reach(this.spans[this.at]);
    });
  }

  show(text, explanation) {
    this.explanation = explanation;
    this.spans = [];
    const pieces = explanation?.pieces ?? [[text, -1]];
    this.place.replaceChildren();
    for (const [piece, word] of pieces) { // one by one: a call takes only so many arguments
      if (word < 0) this.place.append(piece);
      else {
        this.spans.push(el("span", { "data-word": String(word) }, piece));
        this.place.append(this.spans.at(-1));
      }
    }
  }

  reach(span) {
    const word = span ? Number(span.dataset.word) : null;
    if (word === this.word) return;
    this.word = word;
    for (const other of this.spans) other.classList.toggle("reached", word !== null && Number(other.dataset.word) === word);
    this.onWord(word);
  }

  // Colours the words of one label; null for none.
  colour(label) {
    const weights = label === null ? null : this.explanation?.weights[label];
    const strongest = weights ? Math.max(...weights.map(Math.abs), 0) : 0;
    for (const span of this.spans) {
      const share = strongest ? weights[Number(span.dataset.word)] / strongest : 0;
      const shown = Math.abs(share) >= WEAKEST;
      span.classList.toggle("rises", shown && share > 0);
      span.classList.toggle("falls", shown && share < 0);
      span.style.setProperty("--share", shown ? Math.abs(share).toFixed(2) : "");
    }
  }
}
