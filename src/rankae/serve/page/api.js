// Requests to the service that this page came from. The token, where one is needed, is kept for this tab only.

import { el } from "./dom.js";

const TOKEN = "rankae.token";

export class Failure extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export async function call(method, path, body, kind = "application/json") {
  for (let attempt = 0; ; attempt++) {
    const headers = {};
    const token = sessionStorage.getItem(TOKEN);
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers["Content-Type"] = kind;
    const content = body === undefined || kind !== "application/json" ? body : JSON.stringify(body);
    let answer;
    try {
      answer = await fetch(path, { method, headers, body: content, credentials: "omit" });
    } catch {
      throw new Failure(0, "The service cannot be reached.");
    }
    if (answer.ok) return answer;
    if (answer.status === 401) {
      await askForToken(attempt > 0);
      continue;
    }
    if (answer.status === 503 && attempt < 3) {
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await new Promise((resume) => setTimeout(resume, 1000 * seconds));
      continue;
    }
    let sentence = `The service answered ${answer.status}.`;
    try {
      sentence = (await answer.json()).detail ?? sentence;
    } catch { /* no JSON: the status says it */ }
    throw new Failure(answer.status, sentence);
  }
}

export const get = async (path) => (await call("GET", path)).json();
export const post = async (path, body) => (await call("POST", path, body)).json();
export const modelPath = (model) => `/v1/models/${encodeURIComponent(model)}`;

export async function download(path, name) {
  const blob = await (await call("GET", path)).blob();
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

let asking = null;

function askForToken(again) {
  asking ??= new Promise((resume) => {
    const input = el("input", { type: "password", autocomplete: "off", required: true, id: "token" });
    const dialog = el("dialog", { "aria-labelledby": "token-title" },
      el("form", { method: "dialog" },
        el("h2", { id: "token-title" }, "This service asks for a token"),
        again ? el("p", { class: "bad" }, "That was not the right one.") : null,
        el("label", {}, "Token ", input),
        el("p", { class: "quiet" }, "Whoever runs the service has it. It is forgotten when this tab closes."),
        el("div", { class: "row" }, el("button", { class: "main" }, "Go on"))));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      sessionStorage.setItem(TOKEN, input.value.trim());
      dialog.remove();
      asking = null;
      resume();
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
  return asking;
}
