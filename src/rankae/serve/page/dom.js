// Elements from plain values. Whatever a user wrote becomes a text node, so no markup in it can ever run.

export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const ICONS = { check: "M3 8.5l3.5 3.5L13 4.5", cross: "M4 4l8 8M12 4l-8 8" };
export const icon = (name) => svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));

export const byId = (id) => document.getElementById(id);

export function percent(probability) {
  if (probability === null || probability === undefined) return "–";
  const value = 100 * probability;
  if (value > 99.5) return ">99 %";
  if (value < 0.5) return "<1 %";
  return `${Math.round(value)} %`;
}

export const count = (n, one, many = `${one}s`) => `${n.toLocaleString()} ${n === 1 ? one : many}`;

export const day = (at) => new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short" });

// For people who do not see the page: what has just happened.
export function say(sentence) {
  byId("said").textContent = "";
  requestAnimationFrame(() => { byId("said").textContent = sentence; });
}

export function notice(sentence) {
  const place = byId("notice");
  place.hidden = !sentence;
  const close = () => notice(null);
  place.replaceChildren(...(sentence ? [el("span", {}, sentence), el("button", { type: "button", class: "plain small", "aria-label": "Close this message", onclick: close }, icon("cross"))] : []));
}

export const isTyping = (target) =>
  target.matches?.("input:not([type=checkbox]):not([type=file]), textarea, select, [contenteditable]");

// Runs one action at a time: a key that is pressed before the last one has done its work does nothing, for whoever
// pressed it has not seen yet what it would decide.
export function oneAtATime() {
  const turn = async (act) => {
    if (turn.running) return;
    turn.running = true;
    try {
      await act();
    } finally {
      turn.running = false;
    }
  };
  turn.running = false;
  return turn;
}
