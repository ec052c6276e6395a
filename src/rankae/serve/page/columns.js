// A table whose texts stand in a column of another name: which one is it?

import { el } from "./dom.js";

const START = 65_536; // bytes of a file that hold its first line

// The names of a table's columns, read off its first line; none where that tells nothing.
export async function columnsOf(file) {
  const [line] = (await file.slice(0, START).text()).replace(/^\uFEFF/, "").split(/\r?\n/);
  if (/\.(jsonl|ndjson|json)$/i.test(file.name)) {
    try {
      return Object.keys(JSON.parse(line));
    } catch {
      return [];
    }
  }
  const separator = ["\t", ";", ","].find((one) => line.includes(one)) ?? ",";
  return line.split(separator).map((name) => name.trim().replace(/^"(.*)"$/, "$1")).filter(Boolean);
}

// Gives the chosen column, or null.
export function askForColumn(name, columns) {
  return new Promise((resume) => {
    const select = el("select", { id: "column" }, columns.map((one) => el("option", { value: one }, one)));
    const dialog = el("dialog", { "aria-labelledby": "column-title" },
      el("form", { method: "dialog" },
        el("h2", { id: "column-title" }, "Which column holds the text?"),
        el("p", { class: "quiet" }, `${name} has no column called text.`),
        el("label", {}, "Column ", select),
        el("div", { class: "row" },
          el("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Cancel"),
          el("button", { class: "main", value: "yes" }, "Open"))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resume(dialog.returnValue === "yes" ? select.value : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    select.focus();
  });
}
