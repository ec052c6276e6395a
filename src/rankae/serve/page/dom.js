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

export const byId = (id) => document.getElementById(id);

export function percent(probability) {
  if (probability === null || probability === undefined) return "–";
  const value = 100 * probability;
  if (value > 99.5) return ">99 %";
  if (value < 0.5) return "<1 %";
  return `${Math.round(value)} %`;
}

// For people who do not see the page: what has just happened.
export function say(sentence) {
  byId("said").textContent = "";
  requestAnimationFrame(() => { byId("said").textContent = sentence; });
}

export function notice(sentence) {
  const place = byId("notice");
  place.hidden = !sentence;
  place.textContent = sentence ?? "";
}

export const isTyping = (target) =>
  target.matches?.("input:not([type=checkbox]):not([type=file]), textarea, select, [contenteditable]");
