// Files to work through: chosen or dropped, kept by the service, so that a team can share them.

import { call, download, get } from "./api.js";
import { askForColumn, columnsOf } from "./columns.js";
import { day, el, notice, say } from "./dom.js";

export const TYPES = ".txt,.csv,.tsv,.xlsx,.jsonl,.ndjson";

async function sendFile(file, by, column) {
  const query = new URLSearchParams({ name: file.name, by });
  if (column) query.set("text_column", column);
  return (await call("POST", `/v1/desk/uploads?${query}`, file, file.type || "application/octet-stream")).json();
}

export function progress(upload) {
  return el("span", { class: "progress" },
    el("progress", { max: upload.rows, value: upload.done, "aria-label": `${upload.name}: ${upload.done} of ${upload.rows} done` }),
    el("span", { class: "number" }, `${upload.done.toLocaleString()} of ${upload.rows.toLocaleString()} done`));
}

// The list of uploads of one kind, with a way to add one.
export class Uploads {
  constructor({ kind, by, open, wrongKind, about }) {
    Object.assign(this, { kind, by, open, wrongKind });
    this.input = el("input", { type: "file", accept: TYPES, class: "unseen", id: `file-${kind}`, onchange: () => this.take(this.input.files[0]) });
    this.list = el("ul", { class: "uploads" });
    this.node = el("section", { class: "sheet files" },
      el("div", { class: "head" }, el("h2", {}, "Files"), el("span", { class: "space" }),
        el("button", { type: "button", class: "plain", onclick: () => this.export("jsonl") }, "Export JSONL"),
        kind === "texts" ? el("button", { type: "button", class: "plain", onclick: () => this.export("csv") }, "Export CSV") : null,
        this.input, el("label", { class: "button", for: this.input.id }, "Open a file …")),
      el("p", { class: "quiet" }, about), this.list);
  }

  async export(format) {
    try {
      await download(`/v1/desk/export?format=${format}&kind=${this.kind}`, `${this.kind === "flags" ? "flags" : "decisions"}.${format}`);
      say("Exported");
    } catch (error) {
      notice(error.message);
    }
  }

  async take(file, column = null) {
    if (!file) return;
    this.input.value = "";
    notice(null);
    try {
      const upload = await sendFile(file, this.by(), column);
      await this.refresh();
      notice(null);
      if (upload.kind === this.kind) this.open(upload);
      else this.wrongKind(upload);
    } catch (error) {
      const columns = error.status === 422 && /no column/.test(error.message) ? await columnsOf(file) : [];
      if (!columns.length) return void notice(`${file.name}: ${error.message}`);
      const chosen = await askForColumn(file.name, columns);
      if (chosen) await this.take(file, chosen);
    }
  }

  async refresh() {
    const { uploads } = await get("/v1/desk/uploads");
    this.all = uploads.filter((one) => one.kind === this.kind);
    this.list.replaceChildren(...this.all.map((one) => el("li", {},
      el("div", {}, el("button", { type: "button", class: "link", onclick: () => this.open(one) }, one.name),
        el("span", { class: "quiet" }, `${one.by ? `${one.by}, ` : ""}${day(one.at)}`)),
      progress(one),
      el("button", { type: "button", class: "plain small", "aria-label": `Forget ${one.name}`, onclick: () => this.forget(one) }, "Forget"))));
    return this.all;
  }

  async forget(upload) {
    if (!confirm(`Forget ${upload.name}? Decisions on its texts are kept.`)) return;
    await call("DELETE", `/v1/desk/uploads/${upload.number}`);
    await this.refresh();
  }
}
