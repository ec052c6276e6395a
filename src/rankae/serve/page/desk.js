// The desk: its three views, who works at it, with which model, and the keys.

import { Failure, get } from "./api.js";
import { byId, el, icon, isTyping, notice } from "./dom.js";
import { Quality } from "./quality.js";
import { Review } from "./review.js";
import { Saving } from "./saving.js";
import { Tagging } from "./tagging.js";

const BY = "rankae.by", MODEL = "rankae.model";
const KEYS = [
  ["↑ ↓ or k j", "go from tag to tag"], ["a or Enter", "accept"], ["r or x", "reject"], ["/", "add a label"],
  ["u", "undo"], ["n", "finish, next text"], ["p", "previous text"], ["s", "skip a flag (Review)"], ["e", "edit the text"], ["Ctrl Enter", "suggest tags"],
  ["← →", "word by word, in the text"], ["1 2 3", "Tag, Review, Quality"], ["?", "this list"],
];

const desk = {
  model: null,
  keeps: false,
  by: localStorage.getItem(BY) ?? "",
  saving: new Saving((words, bad) => {
    state.replaceChildren(...(bad || !words.startsWith("Saved") ? [words] : [icon("check"), words]));
    state.title = words.startsWith("Saved") ? new Date().toLocaleTimeString() : "";
    state.classList.toggle("bad", bad);
  }),
};
const state = el("span", { class: "saved", "aria-live": "polite" });
byId("tabs").after(state);

const views = {
  tag: new Tagging(byId("view-tag"), desk),
  review: new Review(byId("view-review"), desk),
  quality: new Quality(byId("view-quality"), desk),
};
let current = "tag";

async function open(name, focus = false) {
  if (name !== current) notice(null);
  current = name;
  for (const other of Object.keys(views)) {
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    byId(`view-${other}`).hidden = other !== name;
  }
  if (focus) byId(`tab-${name}`).focus();
  if (name !== "tag") {
    if (!location.hash.startsWith(`#${name}`)) history.replaceState(null, "", `#${name}`);
    await views[name].start();
  } else if (!location.hash.startsWith("#tag")) history.replaceState(null, "", "#tag");
}

for (const name of Object.keys(views)) {
  const tab = byId(`tab-${name}`);
  tab.addEventListener("click", () => open(name));
  tab.addEventListener("keydown", (event) => {
    const names = Object.keys(views), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    open(names[(names.indexOf(name) + step + names.length) % names.length], true);
  });
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "?") { event.preventDefault(); return void help(); }
  const name = { 1: "tag", 2: "review", 3: "quality" }[event.key];
  if (name) { event.preventDefault(); return void open(name, true); }
  if (views[current].key(event)) event.preventDefault();
});

function help() {
  const dialog = el("dialog", { "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", { class: "facts" }, KEYS.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("form", { method: "dialog", class: "row" }, el("button", { class: "main" }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
byId("keys").addEventListener("click", help);

const by = byId("by");
by.value = desk.by;
by.addEventListener("input", () => {
  desk.by = by.value.trim();
  localStorage.setItem(BY, desk.by);
  views.tag.named();
});

async function start() {
  const { models, desk: keeps } = await get("/v1/models");
  desk.keeps = keeps;
  const select = byId("model");
  select.replaceChildren(...models.map((one) => el("option", { value: one.name }, one.name)));
  if (models.length === 1) {
    select.hidden = true;
    byId("of-model").append(el("output", {}, models[0].name));
  }
  const last = localStorage.getItem(MODEL);
  desk.model = models.some((one) => one.name === last) ? last : models[0].name;
  select.value = desk.model;
  select.addEventListener("change", async () => {
    desk.model = select.value;
    localStorage.setItem(MODEL, desk.model);
    if (current === "quality") return void views.quality.start();
    if (views.tag.text) await views.tag.open(views.tag.text, views.tag.from);
  });
  if (!keeps) notice("Decisions are not kept: the service was started without --desk FOLDER.");
  desk.saving.flush();
  const wanted = location.hash.slice(1).split("/")[0];
  await views.tag.start();
  if (wanted in views && wanted !== "tag") await open(wanted);
}

addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Failure)) return;
  event.preventDefault();
  notice(event.reason.message);
});
start().catch((error) => notice(error.message));
