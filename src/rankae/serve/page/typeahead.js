// A combobox of labels (the ARIA pattern): what was typed is looked up, arrows choose, Enter takes.

import { el, say } from "./dom.js";

let made = 0;

export function typeAhead({ find, take, name }) {
  const id = `labels-${++made}`;
  const list = el("ul", { role: "listbox", id, "aria-label": name, hidden: true });
  const input = el("input", {
    role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list", autocomplete: "off",
    spellcheck: "false", maxlength: "1000", "aria-label": name, placeholder: name,
  });
  let options = [], chosen = -1, asked = 0;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    chosen = -1;
  };
  const mark = (place) => {
    chosen = place;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === place)));
    if (place >= 0) {
      input.setAttribute("aria-activedescendant", list.children[place].id);
      list.children[place].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const accept = (label) => {
    input.value = "";
    close();
    take(label);
  };
  const look = async () => {
    const typed = input.value.trim(), number = ++asked;
    if (!typed) return close();
    let found = [];
    try {
      found = await find(typed);
    } catch { /* typing on is still possible: the label can be taken as it is */ }
    if (number !== asked) return;
    options = found.map((one) => ({ label: one.label, told: `${one.rows.toLocaleString()} rows` }));
    if (!options.some((one) => one.label === typed)) options.push({ label: typed, told: "new label" });
    list.replaceChildren(...options.map((one, i) => el("li", {
      role: "option", id: `${id}-${i}`, "aria-selected": "false",
      onpointerdown: (event) => { event.preventDefault(); accept(one.label); },
    }, el("span", {}, one.label), el("small", {}, one.told))));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(0);
    say(`${options.length} labels`);
  };
  input.addEventListener("input", look);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) return void look();
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark((chosen + step + options.length) % options.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (chosen >= 0) accept(options[chosen].label);
      else if (input.value.trim()) accept(input.value.trim());
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (list.hidden) input.blur();
      else close();
    }
  });
  return { node: el("div", { class: "typeahead" }, input, list), input };
}
