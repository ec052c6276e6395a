// The API's own description, read from /openapi.json: every route with its fields, an example, and a way to try it.

import { call } from "./api.js";
import { byId, el, notice } from "./dom.js";

const METHODS = ["get", "post", "delete", "put"];
let all, first = "";

const resolve = (schema) => (schema?.$ref ? all.components.schemas[schema.$ref.split("/").at(-1)] : schema ?? {});

function kind(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  return schema.type ?? "anything";
}

function fields(schema) {
  const own = resolve(schema);
  if (!own.properties) return el("p", { class: "quiet" }, kind(schema));
  return el("dl", { class: "facts" }, Object.entries(own.properties).flatMap(([name, one]) => [
    el("dt", {}, el("code", {}, name), own.required?.includes(name) ? " *" : ""),
    el("dd", {}, kind(one), one.default !== undefined && one.default !== null ? `, ${JSON.stringify(one.default)} by default` : "", one.description ? `. ${one.description}` : ""),
  ]));
}

function example(content) {
  const own = resolve(content?.schema);
  return own.examples?.[0] ?? Object.fromEntries(Object.entries(own.properties ?? {}).filter(([name]) => own.required?.includes(name))
    .map(([name, one]) => [name, one.type === "array" ? [] : one.type === "integer" ? 1 : ""]));
}

// A sentence whose `code` is set as such.
const words = (sentence) => sentence.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));

function route(path, method, described) {
  const inputs = (described.parameters ?? []).map((one) => {
    const input = el("input", { "aria-label": one.name, value: String(one.schema.default ?? (one.in === "path" && ["model", "project_id"].includes(one.name) ? first : "")) });
    return { ...one, input };
  });
  const [type, content] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  const body = type && el("textarea", { rows: "6", "aria-label": "Body" });
  if (body) body.value = type === "application/json" ? JSON.stringify(example(content), null, 1) : type.includes("form") ? "text=some+words&limit=5" : "a text a line\n";
  const answer = el("pre", { hidden: true, tabindex: "0" });
  const attempt = async () => {
    let address = path;
    const query = new URLSearchParams();
    for (const { name, in: where, input } of inputs) {
      if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value !== "") query.set(name, input.value);
    }
    try {
      const found = await call(method.toUpperCase(), query.size ? `${address}?${query}` : address, body?.value, type);
      const text = await found.text();
      answer.textContent = `${found.status}\n${text.startsWith("{") || text.startsWith("[") ? pretty(text) : text}`.slice(0, 20_000);
    } catch (error) {
      answer.textContent = `${error.status || "no answer"}\n${error.message}`;
    }
    answer.hidden = false;
  };
  const given = Object.entries(described.responses).find(([status]) => status.startsWith("2"))?.[1].content?.["application/json"]?.schema;
  return el("details", { class: "route" },
    el("summary", {}, el("span", { class: "method" }, method.toUpperCase()), el("code", {}, path), el("span", { class: "quiet" }, words((described.description ?? "").split("\n")[0]))),
    inputs.map((one) => el("label", {}, el("code", {}, one.name), one.required ? " *" : "", one.input, " ", el("span", { class: "quiet" }, one.description ?? kind(one.schema)))),
    body ? [el("h2", {}, `Body (${Object.keys(described.requestBody.content).join(", ")})`), content.schema ? fields(content.schema) : null, body] : null,
    el("div", { class: "row" }, el("button", { type: "button", class: "main", onclick: attempt }, "Try it")),
    answer,
    given ? [el("h2", {}, "Answer"), fields(given)] : null);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

async function start() {
  all = await (await call("GET", "/openapi.json")).json();
  first = (await (await call("GET", "/v1/models")).json()).models[0].name;
  const groups = new Map();
  for (const [path, methods] of Object.entries(all.paths)) {
    for (const method of METHODS.filter((one) => methods[one])) {
      const tag = methods[method].tags?.[0] ?? "other";
      groups.set(tag, [...(groups.get(tag) ?? []), route(path, method, methods[method])]);
    }
  }
  byId("main").append(el("p", {}, `${all.info.title} ${all.info.version}. ${all.info.description} Fields with * are required.`),
    ...[...groups].map(([tag, routes]) => el("section", {}, el("h2", {}, tag), routes)));
}

start().catch((error) => notice(error.message));
