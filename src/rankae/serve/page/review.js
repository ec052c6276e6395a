// The view that works through the flags of `rankae audit`: is this label missing, or wrong?

import { get } from "./api.js";
import { el, icon, notice, oneAtATime, percent, say } from "./dom.js";
import { Uploads, progress } from "./uploads.js";

export class Review {
  constructor(place, desk) {
    this.desk = desk;
    this.undone = []; // places that were decided, for undo
    this.turn = oneAtATime();
    this.where = el("div", { class: "where" });
    this.question = el("h2", { class: "question", tabindex: "-1" });
    this.page = el("div", { class: "document", dir: "auto" });
    this.facts = el("dl", { class: "facts" });
    this.buttons = {
      accept: el("button", { type: "button", class: "accepted wide", "aria-pressed": "false", onclick: () => this.turn(() => this.decide(true)) }),
      reject: el("button", { type: "button", class: "rejected wide", "aria-pressed": "false", onclick: () => this.turn(() => this.decide(false)) }),
    };
    this.undoButton = el("button", { type: "button", onclick: () => this.turn(() => this.undo()) }, "Undo ", el("kbd", {}, "u"));
    this.card = el("div", { class: "columns flag", hidden: true, role: "group", "aria-label": "Flag" },
      el("section", { class: "sheet", "aria-label": "Text" }, this.where, this.page),
      el("section", { class: "sheet asking", "aria-label": "Question" },
        this.question, el("div", { class: "row decideflag" }, this.buttons.accept, this.buttons.reject), this.facts,
      el("div", { class: "row foot" }, this.undoButton, el("span", { class: "space" }),
        el("button", { type: "button", onclick: () => this.turn(() => this.step(-1)) }, "Previous ", el("kbd", {}, "p")),
        el("button", { type: "button", onclick: () => this.turn(() => this.step(1)) }, "Skip ", el("kbd", {}, "s")))));
    this.uploads = new Uploads({
      kind: "flags", by: () => desk.by, open: (upload) => this.openUpload(upload),
      wrongKind: () => { notice("This file holds texts, not flags: it is in the tab Tag."); },
      about: "Flags that rankae audit has written. Export the answers when you are through: rankae audit apply corrects the data by them.",
    });
    this.none = el("p", { class: "sheet empty", hidden: true }, "Decisions are not kept: start the service with --desk FOLDER to review flags.");
    this.guide = el("section", { class: "sheet empty", hidden: true },
      el("h2", {}, "Are the labels of your data right?"),
      el("p", {}, "An audit finds labels that are probably missing or wrong. Here you answer its questions, one by one."),
      el("pre", {}, "rankae audit DATA -o flags.jsonl"), el("p", { class: "quiet" }, "Then open flags.jsonl below."));
    place.append(this.none, this.guide, this.card, this.uploads.node);
  }

  async start() {
    this.none.hidden = this.desk.keeps;
    this.uploads.node.hidden = !this.desk.keeps;
    if (!this.desk.keeps || this.started) return;
    this.started = true;
    await this.uploads.refresh();
    this.guide.hidden = false;
    const [upload, row] = (location.hash.match(/^#review\/(\d+)\/(\d+)$/) ?? []).slice(1).map(Number);
    const found = upload && this.uploads.all.find((one) => one.number === upload);
    if (found) await this.openRow(found, row);
  }

  async openUpload(upload) {
    this.undone = [];
    const { place } = await get(`/v1/desk/uploads/${upload.number}/next`);
    await this.openRow(upload, place ?? 0);
    this.card.scrollIntoView({ block: "start" });
  }

  async openRow(upload, place) {
    const row = await get(`/v1/desk/uploads/${upload.number}/rows/${place}`);
    history.replaceState(null, "", `#review/${upload.number}/${place}`);
    this.at = { upload, place, row };
    const flag = row.about, missing = flag.kind === "missing";
    this.question.replaceChildren(
      ...(missing ? ["Is ", el("q", {}, flag.label), " missing here?"] : ["Is ", el("q", {}, flag.label), " wrong here?"]));
    this.buttons.accept.replaceChildren(icon("check"), missing ? "Yes, it belongs here " : "Yes, it is wrong ", el("kbd", {}, "a"));
    this.buttons.reject.replaceChildren(icon("cross"), missing ? "No, it does not " : "No, it is right ", el("kbd", {}, "r"));
    this.where.replaceChildren(el("div", { class: "row" }, el("strong", {}, upload.name),
      el("span", { class: "number quiet" }, `flag ${place + 1} of ${upload.rows.toLocaleString()}`), el("span", { class: "space" }), progress(upload)));
    const last = row.decisions.filter((one) => one.by === this.desk.by).at(-1);
    const said = last && (last.accepted.length ? true : last.rejected.length ? false : null);
    this.press(said ?? null);
    const facts = [
      ["Probability", percent(flag.probability)],
      ["Row", flag.id === undefined || flag.id === null ? String(flag.row) : `${flag.id} (row ${flag.row})`],
      ["Recorded labels", (flag.labels ?? []).join(", ") || null],
      ["Words", (flag.words ?? []).join(", ") || null],
      ["Rows like it", this.alike(flag.nearest ?? [])],
    ];
    this.facts.replaceChildren(...facts.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
    this.showText(row.text, new Set((flag.words ?? []).map((word) => String(word).toLowerCase())));
    this.undoButton.disabled = !this.undone.length;
    this.card.hidden = false;
    this.guide.hidden = true;
    this.question.focus({ preventScroll: true });
  }

  // What the nearest rows say, most of them first.
  alike(nearest) {
    const rows = (carries) => nearest.filter((one) => Boolean(one.carries) === carries).map((one) => one.row).join(", ");
    return [rows(true) && `with it: row ${rows(true)}`, rows(false) && `without it: row ${rows(false)}`].filter(Boolean).join("; ") || null;
  }

  showText(text, words) {
    const pieces = text.split(/([\p{L}\p{N}_+.-]+)/u);
    this.page.replaceChildren();
    for (const piece of pieces) this.page.append(words.has(piece.toLowerCase()) ? el("span", { class: "rises" }, piece) : piece);
  }

  press(said) {
    this.buttons.accept.setAttribute("aria-pressed", String(said === true));
    this.buttons.reject.setAttribute("aria-pressed", String(said === false));
  }

  async decide(accept) {
    const { upload, place } = this.at;
    await this.keep(this.at, accept);
    this.undone.push(place);
    say(accept ? "Yes" : "No");
    const all = await this.uploads.refresh();
    const fresh = all.find((one) => one.number === upload.number) ?? upload;
    const { place: next } = await get(`/v1/desk/uploads/${upload.number}/next?after=${place}`);
    await this.openRow(fresh, next ?? place);
    if (next === null) {
      say("All flags of this file are done");
      this.question.textContent = "All flags of this file are done.";
    }
  }

  keep(at, accept) {
    const flag = at.row.about, label = [flag.label];
    return this.desk.saving.save(this.desk.model, {
      text: at.row.text, by: this.desk.by, done: accept !== null,
      accepted: accept === true ? label : [], rejected: accept === false ? label : [],
      about: { upload: at.upload.number, place: at.place, flag },
    });
  }

  // The last decision is taken back: it becomes an empty one, and the flag is open again.
  async undo() {
    const place = this.undone.pop();
    if (place === undefined) return;
    const { upload } = this.at;
    const row = await get(`/v1/desk/uploads/${upload.number}/rows/${place}`);
    await this.keep({ upload, place, row }, null);
    const all = await this.uploads.refresh();
    await this.openRow(all.find((one) => one.number === upload.number) ?? upload, place);
    say("Undone");
  }

  async step(by) {
    const { upload, place } = this.at;
    if (place + by >= 0 && place + by < upload.rows) await this.openRow(upload, place + by);
  }

  key(event) {
    if (this.card.hidden) return false;
    const keys = { a: () => this.decide(true), r: () => this.decide(false), x: () => this.decide(false),
      s: () => this.step(1), n: () => this.step(1), p: () => this.step(-1), u: () => this.undo() };
    if (!keys[event.key]) return false;
    this.turn(keys[event.key]);
    return true;
  }
}
