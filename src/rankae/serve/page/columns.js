// A table whose texts stand in a column of another name: which one is it?

import { el } from "./dom.js";

const START = 65_536; // bytes of a file that hold its first lines
const MOST_SHOWN = 160; // characters of a cell

// A table's columns, each with its first cell; none where the first lines tell nothing.
export async function columnsOf(file) {
  if (/\.xlsx$/i.test(file.name)) return []; // the service names its columns
  const start = (await file.slice(0, START).text()).replace(/^\uFEFF/, "");
  const line = start.split(/\r?\n/)[0];
  if (/\.(jsonl|ndjson|json)$/i.test(file.name)) {
    try {
      return Object.entries(JSON.parse(line)).map(([name, value]) => ({ name, cell: String(value) }));
    } catch {
      return [];
    }
  }
  const [names, cells = []] = firstRecords(start, ["\t", ";", ","].find((one) => line.includes(one)) ?? ",");
  return names.map((name, i) => ({ name: name.trim(), cell: cells[i] ?? "" })).filter((one) => one.name);
}

// The cells of the first two lines of a table; a quoted cell may hold separators, doubled quotes and ends of lines.
function firstRecords(text, separator) {
  const records = [[""]];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const record = records.at(-1);
    if (text[i] === '"' && !(quoted && text[i + 1] === '"')) quoted = !quoted;
    else if (!quoted && text[i] === separator) record.push("");
    else if (!quoted && text[i] === "\n") {
      if (records.length === 2) break;
      records.push([""]);
    } else if (text[i] !== "\r") {
      record[record.length - 1] += text[i];
      if (text[i] === '"') i++;
    }
  }
  return records;
}

// Gives the name of the chosen column, or null. The longest cell is probably the text.
export function askForColumn(name, columns) {
  return new Promise((resume) => {
    const longest = columns.reduce((best, one) => (one.cell.length > best.cell.length ? one : best));
    const select = el("select", { id: "column", onchange: () => preview() },
      columns.map((one) => el("option", { value: one.name, selected: one === longest }, one.name)));
    const cell = el("p", { class: "quiet sample", "aria-live": "polite" });
    const preview = () => {
      const first = columns[select.selectedIndex].cell;
      cell.textContent = `Its first cell: ${first.length > MOST_SHOWN ? `${first.slice(0, MOST_SHOWN)} …` : first || "(empty)"}`;
    };
    const dialog = el("dialog", { "aria-labelledby": "column-title" },
      el("form", { method: "dialog" },
        el("h2", { id: "column-title" }, "Which column holds the text?"),
        el("p", { class: "quiet" }, `${name} has no column called text.`),
        el("label", {}, "Column ", select), cell,
        el("div", { class: "row" },
          el("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Cancel"),
          el("button", { class: "main", value: "yes" }, "Open"))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resume(dialog.returnValue === "yes" ? select.value : null);
    });
    document.body.append(dialog);
    preview();
    dialog.showModal();
    select.focus();
  });
}
