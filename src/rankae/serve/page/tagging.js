// The view in which texts get their tags.

import { get, modelPath, post } from "./api.js";
import { byId, count, el, icon, notice, oneAtATime, say } from "./dom.js";
import { Guide } from "./guide.js";
import { Reading } from "./reading.js";
import { TagList } from "./taglist.js";
import { typeAhead } from "./typeahead.js";
import { Uploads, progress } from "./uploads.js";
import { Verdict } from "./verdict.js";

const DRAFT = "rankae.draft";
const SHOWN = 10, MOST_SHOWN = 100;
const MOST_OF_OTHERS = 8; // labels of somebody else's verdict

export class Tagging {
  constructor(place, desk) {
    this.place = place;
    this.desk = desk;
    this.turn = oneAtATime(); // of going to another text
    this.input = el("textarea", {
      id: "text", dir: "auto", rows: "9", placeholder: "Paste a text here, or drop a file", "aria-label": "Text to tag",
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.suggestTyped(); }
      },
    });
    this.page = el("div", { class: "document", dir: "auto", tabindex: "0", role: "region", "aria-label": "The text; arrow keys go from word to word", hidden: true });
    this.reading = new Reading(this.page, (word) => this.wordReached(word));
    this.list = new TagList({ decide: (label, verdict) => this.decide(label, verdict), reach: (place) => this.tagReached(place) });
    this.adding = typeAhead({
      name: "Add a label",
      find: async (typed) => (await get(`${modelPath(desk.model)}/labels?${new URLSearchParams({ q: typed, limit: "8" })}`)).labels,
      take: (label) => this.add(label),
    });
    this.suggestButton = el("button", { type: "button", class: "main", onclick: () => this.suggestTyped() }, "Suggest tags ", el("kbd", {}, "Ctrl ↵"));
    this.editButton = el("button", { type: "button", hidden: true, onclick: () => this.edit() }, "Edit text ", el("kbd", {}, "e"));
    this.newButton = el("button", { type: "button", class: "plain", hidden: true, onclick: () => this.clear() }, "New text");
    this.moreButton = el("button", { type: "button", class: "plain small", onclick: () => this.more() }, "More tags");
    this.previousButton = el("button", { type: "button", onclick: () => this.turn(() => this.step(-1)), hidden: true }, "Previous ", el("kbd", {}, "p"));
    this.finishButton = el("button", { type: "button", class: "main", onclick: () => this.turn(() => this.finish()) });
    this.undoButton = el("button", { type: "button", onclick: () => this.undo() }, "Undo ", el("kbd", {}, "u"));
    this.where = el("div", { class: "where" });
    this.told = el("p", { class: "quiet told" });
    this.others = el("div", { class: "quiet others" });
    this.nameless = el("p", { class: "quiet nameless", hidden: true }, "These decisions carry no name. ",
      el("button", { type: "button", class: "link", onclick: () => byId("by").focus() }, "Say who decides"));
    this.guide = new Guide((text) => this.reopen(text));
    this.view = el("p", { class: "quiet view" });
    this.decided = el("span", { class: "quiet number" });
    this.result = el("section", { class: "sheet result", "aria-label": "Tags", hidden: true },
      el("div", { class: "head" }, el("h2", {}, "Tags"), this.decided, el("span", { class: "space" })), this.told, this.others,
      el("div", { class: "scrolled" }, this.list.node, this.moreButton),
      el("div", { class: "foot" }, this.adding.node, this.nameless,
        el("div", { class: "row" }, this.undoButton, this.previousButton, el("span", { class: "space" }), this.finishButton)));
    this.uploads = new Uploads({
      kind: "texts", by: () => desk.by, open: (upload) => this.openUpload(upload),
      wrongKind: () => { notice("These are flags of an audit: they are in the tab Review."); },
      about: "Texts to work through: a text a line (.txt), or a table (.csv, .tsv, .xlsx, .jsonl). Everybody at this desk sees the same files.",
    });
    const source = el("section", { class: "sheet source", "aria-label": "Text" }, this.where, this.input, this.page, this.view,
      el("div", { class: "row" }, this.suggestButton, this.editButton, this.newButton));
    place.append(el("div", { class: "columns" }, source, this.guide.node, this.result), this.uploads.node);
    for (const kind of ["dragover", "dragleave", "drop"]) place.addEventListener(kind, (event) => this.drop(event));
  }

  async start() {
    if (this.desk.keeps) await this.uploads.refresh();
    else this.uploads.node.hidden = true;
    const [upload, row] = (location.hash.match(/^#tag\/(\d+)\/(\d+)$/) ?? []).slice(1).map(Number);
    const found = upload && this.uploads.all?.find((one) => one.number === upload);
    if (found) return this.openRow(found, row);
    const draft = sessionStorage.getItem(DRAFT);
    if (draft) {
      this.input.value = draft;
      await this.open(draft, {});
    } else this.input.focus();
  }

  // Which text ------------------------------------------------------------------------------------------------

  async suggestTyped() {
    const text = this.input.value;
    if (!text.trim()) return void this.input.focus();
    sessionStorage.setItem(DRAFT, text);
    history.replaceState(null, "", "#tag");
    await this.open(text, {});
    if (this.list.rows.length) this.list.focus(0);
  }

  async openUpload(upload) {
    const { place } = await get(`/v1/desk/uploads/${upload.number}/next`);
    await this.openRow(upload, place ?? 0);
  }

  async openRow(upload, place) {
    const row = await get(`/v1/desk/uploads/${upload.number}/rows/${place}`);
    history.replaceState(null, "", `#tag/${upload.number}/${place}`);
    this.input.value = row.text;
    await this.open(row.text, { upload, place, about: row.about });
    if (this.list.rows.length) this.list.focus(0);
  }

  async reopen(text) {
    this.input.value = text;
    await this.suggestTyped();
  }

  async open(text, from) {
    this.text = text;
    this.from = from;
    this.shown = SHOWN;
    this.tags = [];
    this.explanation = null;
    this.verdict = new Verdict();
    this.showText();
    this.told.textContent = "Reading …";
    this.list.show([], this.verdict);
    this.result.hidden = false;
    this.guide.node.hidden = true;
    try {
      const [, decisions] = await Promise.all([this.suggest(text), this.decisionsOn(text)]);
      if (this.text !== text) return;
      this.takeUp(decisions);
      this.refresh();
      notice(null);
    } catch (error) {
      this.told.replaceChildren(`${error.message} `, el("button", { type: "button", class: "link", onclick: () => this.open(text, from) }, "Try again"));
      notice(error.message);
    }
  }

  // The tags first; their reasons, which take longer, when they are there.
  async suggest(text) {
    const ask = { texts: [text], k: this.shown }, path = `${modelPath(this.desk.model)}/suggest`;
    const answer = await post(path, ask);
    if (this.text !== text) return;
    this.tags = answer.results[0];
    this.told.textContent = this.tags.length ? "" : "The model knows no tag for this text. Add what fits.";
    this.moreButton.hidden = this.tags.length < this.shown || this.shown >= MOST_SHOWN;
    post(path, { ...ask, explain: true }).then((reasons) => this.explain(text, reasons), (error) => {
      this.view.textContent = `No reasons are shown: ${error.message}`;
    });
  }

  async more() {
    this.shown = Math.min(2 * this.shown, MOST_SHOWN);
    try {
      await this.suggest(this.text);
      this.refresh();
    } catch (error) {
      notice(error.message);
    }
  }

  async decisionsOn(text) {
    if (!this.desk.keeps) return [];
    return (await post("/v1/desk/decisions", { text })).decisions.filter((one) => !one.about.flag);
  }

  // The person's own last verdict is taken up again; those of others are told.
  takeUp(decisions) {
    const own = decisions.filter((one) => one.by === this.desk.by).at(-1);
    if (own) this.verdict = new Verdict(own);
    const last = new Map(decisions.filter((one) => one.by !== this.desk.by).map((one) => [one.by, one]));
    this.others.replaceChildren(...[...last.values()].map((one) => {
      const labels = [...one.accepted, ...one.added], more = labels.length - MOST_OF_OTHERS;
      return el("span", {}, el("strong", {}, one.by || "Somebody without a name"),
        ` decided: ${labels.slice(0, MOST_OF_OTHERS).join(", ") || "no tag"}${more > 0 ? ` and ${more} more` : ""}`);
    }));
  }

  explain(text, answer) {
    if (this.text !== text || answer.results[0].length !== this.tags.length) return;
    this.explanation = answer.explanations[0];
    const words = new Map(answer.results[0].map((one) => [one.label, one.words]));
    this.tags = this.tags.map((tag) => ({ ...tag, words: words.get(tag.label) ?? [] }));
    this.columns = new Map(answer.results[0].map((one, column) => [one.label, column]));
    this.reading.show(text, this.explanation);
    const how = this.explanation.view === "removal" ? "how far the tag's score falls without the word" : "the word's part of the tag's score";
    if (this.explanation.weights.flat().some(Boolean)) {
      this.view.title = `Colour tells ${how}.`;
      this.view.replaceChildren("Rest on a tag to see its words: ", el("span", { class: "key-rise" }, "these"), " speak for it, ", el("span", { class: "key-fall" }, "these"), " against it. Rest on a word to see its tags.");
    } else this.view.textContent = `${this.text.trim() ? "The model knows no word of this text" : "The text is empty"}: these tags are merely the frequent ones.`;
    this.refresh();
    this.tagReached(this.list.place ?? null);
  }

  showText() {
    this.input.hidden = true;
    this.page.hidden = false;
    this.reading.show(this.text, null);
    this.view.textContent = "";
    this.suggestButton.hidden = true;
    const ofFile = Boolean(this.from.upload);
    this.editButton.hidden = ofFile;
    this.newButton.hidden = false;
    this.previousButton.hidden = !ofFile;
    this.showWhere();
  }

  showWhere() {
    const { upload, place, about } = this.from;
    this.where.replaceChildren();
    if (!upload) return;
    const cells = Object.entries(about ?? {}).map(([name, value]) => `${name}: ${value}`).join(" · ");
    this.where.append(
      el("div", { class: "row" }, el("strong", {}, upload.name), el("span", { class: "number quiet" }, `text ${place + 1} of ${upload.rows.toLocaleString()}`), el("span", { class: "space" }), progress(upload)),
      cells ? el("p", { class: "quiet" }, cells) : "");
  }

  edit() {
    this.page.hidden = true;
    this.input.hidden = false;
    this.suggestButton.hidden = false;
    this.editButton.hidden = true;
    this.input.focus();
  }

  clear() {
    sessionStorage.removeItem(DRAFT);
    history.replaceState(null, "", "#tag");
    this.text = null;
    this.from = {};
    this.input.value = "";
    this.where.replaceChildren();
    this.view.textContent = "";
    this.result.hidden = true;
    this.guide.node.hidden = false;
    this.newButton.hidden = true;
    this.edit();
  }

  async drop(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.place.classList.toggle("dropping", event.type === "dragover");
    if (event.type !== "drop") return;
    const [file] = event.dataTransfer.files;
    if (/\.(csv|tsv|xlsx|jsonl|ndjson)$/i.test(file.name)) {
      return this.desk.keeps ? this.uploads.take(file) : notice("Files are worked through at a desk: start the service with --desk FOLDER.");
    }
    this.input.value = await file.text();
    await this.suggestTyped();
  }

  // Decisions -------------------------------------------------------------------------------------------------

  decide(label, verdict) {
    if (!this.desk.keeps) return void notice("Decisions are not kept: the service was started without --desk FOLDER.");
    if (this.turn.running) return;
    const now = this.verdict.set(label, verdict);
    say(`${label} ${now ?? "not decided"}`);
    this.changed();
  }

  add(label) {
    const suggested = this.tags.some((tag) => tag.label === label);
    if (["accepted", "added"].includes(this.verdict.of(label))) return;
    this.decide(label, suggested ? "accepted" : "added");
  }

  undo() {
    if (this.turn.running || !this.verdict?.undo()) return;
    say("Undone");
    this.changed();
  }

  changed() {
    this.verdict.done = false;
    this.refresh();
    this.save(false);
  }

  save(done) {
    const shown = this.tags.map(({ label, probability, score }) => ({ label, probability, score }));
    const { upload, place, about } = this.from;
    const of = upload ? { ...about, upload: upload.number, place } : {};
    return this.desk.saving.save(this.desk.model, { text: this.text, ...this.verdict.now, by: this.desk.by, shown, done, about: of });
  }

  async finish() {
    if (this.text === null || this.text === undefined || !this.desk.keeps) return;
    this.verdict.done = true;
    const { upload, place } = this.from;
    const text = this.text;
    this.refresh();
    await this.save(true);
    say("Finished");
    await this.uploads.refresh();
    if (!upload) {
      this.guide.finished(text);
      return this.clear();
    }
    const { place: next } = await get(`/v1/desk/uploads/${upload.number}/next?after=${place}`);
    const fresh = this.uploads.all.find((one) => one.number === upload.number) ?? upload;
    if (next === null) {
      this.from.upload = fresh;
      this.showWhere();
      this.told.textContent = "All texts of this file are done.";
      say("All texts of this file are done");
    } else await this.openRow(fresh, next);
  }

  named() {
    this.nameless.hidden = !this.verdict?.count || Boolean(this.desk.by);
  }

  async step(by) {
    const { upload, place } = this.from;
    if (!upload || place + by < 0 || place + by >= upload.rows) return;
    await this.openRow(upload, place + by);
  }

  // What is seen ----------------------------------------------------------------------------------------------

  refresh() {
    const known = new Set(this.tags.map((tag) => tag.label));
    const extra = [...this.verdict.now.added, ...this.verdict.now.accepted, ...this.verdict.now.rejected]
      .filter((label) => !known.has(label)).map((label) => ({ label, added: true, probability: null }));
    this.list.show([...this.tags, ...extra], this.verdict);
    this.undoButton.disabled = !this.verdict.past.length;
    this.adding.input.disabled = !this.desk.keeps;
    this.finishButton.disabled = !this.desk.keeps;
    const label = this.from.upload ? "Finish, next text " : "Finish ";
    this.finishButton.replaceChildren(...(this.verdict.done ? [icon("check"), "Finished "] : [label]), el("kbd", {}, "n"));
    this.decided.textContent = this.verdict.count ? count(this.verdict.count, "decision") : "";
    this.named();
  }

  tagReached(place) {
    const tag = place === null ? null : this.list.tags[place];
    this.reading.colour(tag ? this.columns?.get(tag.label) ?? null : null);
  }

  wordReached(word) {
    if (word === null || !this.explanation) return this.list.speak(null);
    this.list.speak(this.list.tags.map((tag) => {
      const column = this.columns.get(tag.label);
      return column === undefined ? 0 : this.explanation.weights[column][word];
    }));
  }

  // One key each; nothing happens while somebody types.
  key(event) {
    if (this.result.hidden) return false;
    const now = this.list.current();
    const decide = (verdict) => {
      if (now === null) return;
      const tag = this.list.tags[now];
      this.decide(tag.label, verdict === "accepted" && tag.added ? "added" : verdict);
    };
    const keys = {
      ArrowDown: () => this.list.move(1), j: () => this.list.move(1),
      ArrowUp: () => this.list.move(-1), k: () => this.list.move(-1),
      a: () => decide("accepted"), Enter: () => decide("accepted"),
      r: () => decide("rejected"), x: () => decide("rejected"),
      u: () => this.undo(), n: () => this.turn(() => this.finish()), p: () => this.turn(() => this.step(-1)), e: () => !this.editButton.hidden && this.edit(),
      "/": () => this.adding.input.focus(),
    };
    const act = keys[event.key];
    if (!act || (event.key === "Enter" && event.target.closest?.("button, a"))) return false;
    if (event.key.startsWith("Arrow") && now === null && event.target !== document.body) return false;
    act();
    return true;
  }
}
