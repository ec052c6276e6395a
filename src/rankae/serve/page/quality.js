// The model's card: what it learnt from, how good it is on rows that it had not seen, and what the desk says of it.

import { get, modelPath } from "./api.js";
import { count, el, notice, svg } from "./dom.js";

const SIZE = 260, EDGE = 36;
const ENOUGH = 50; // tags of which probabilities at the desk can be told

export class Quality {
  constructor(place, desk) {
    this.place = place;
    this.desk = desk;
  }

  async start() {
    this.place.replaceChildren(el("p", { class: "quiet" }, "Reading …"));
    try {
      this.show(await get(`${modelPath(this.desk.model)}/card`));
    } catch (error) {
      this.place.replaceChildren();
      notice(error.message);
    }
  }

  show(card) {
    const facts = el("dl", { class: "facts" }, Object.entries(card.facts).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
    const parts = [el("section", { class: "sheet" }, el("h2", {}, card.name), facts)];
    if (card.figures) {
      parts.push(el("section", { class: "sheet" }, el("h2", {}, "On rows that it had not seen"),
        el("p", { class: "quiet" }, `${card.held_out_rows.toLocaleString()} rows; all figures in percent.`),
        el("div", { class: "figures" }, Object.entries(card.figures).map(([name, value]) =>
          el("div", {}, el("b", {}, value === null ? "–" : value.toFixed(1)), el("span", {}, name))))));
    } else parts.push(el("p", { class: "sheet quiet" }, "This model keeps no rows that it had not seen, so there are no figures here."));
    const plots = el("div", { class: "plots" });
    if (card.calibration.length) {
      plots.append(plot("Probabilities on held-out rows", card.calibration.map((one) => [one.said, one.right, one.tags])));
    }
    if (card.desk && card.desk.accepted + card.desk.rejected >= ENOUGH) {
      plots.append(plot("Probabilities at this desk", card.desk.calibration.map((one) => [one.said, one.accepted, one.tags])));
    }
    if (plots.childElementCount) parts.push(el("section", { class: "sheet" }, el("h2", {}, "Is a probability what it says?"),
      el("p", { class: "quiet" }, "Each dot is a band of probabilities: the probability that the model gave its tags, and how many of them were right. On the line, the two agree; larger dots hold more tags."), plots));
    if (card.desk) {
      const d = card.desk;
      const told = [[d.texts, "texts finished"], [d.accepted, "tags accepted"], [d.rejected, "tags rejected"], [d.added, "tags added"], [d.conflicts, "texts with disagreement"]];
      parts.push(el("section", { class: "sheet" }, el("h2", {}, "At this desk"),
        el("div", { class: "figures" }, told.map(([n, what]) => el("div", {}, el("b", {}, n.toLocaleString()), el("span", {}, what)))),
        d.accepted + d.rejected >= ENOUGH ? null : el("p", { class: "quiet" }, `From ${count(ENOUGH, "accepted or rejected tag")} on, a plot shows whether probabilities hold here.`)));
    }
    if (card.choices.length) {
      parts.push(el("details", { class: "sheet broad" }, el("summary", {}, "What was chosen, and why"),
        el("dl", { class: "facts" }, card.choices.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))));
    }
    parts.push(el("section", { class: "sheet broad" }, el("h2", {}, "Labels"), this.table(card)));
    this.place.replaceChildren(el("div", { class: "cards" }, parts));
  }

  table(card) {
    const columns = [["label", "Label"], ["rows", "Training rows"], ["held_out", "Held-out rows"], ["precision", "Precision"], ["recall", "Recall"], ["accepted", "Accepted"], ["rejected", "Rejected"], ["added", "Added"]];
    const shown = columns.filter(([name]) => card.labels.some((one) => one[name] !== null && one[name] !== undefined));
    const filter = el("input", { type: "search", "aria-label": "Find a label", placeholder: "Find a label" });
    const body = el("tbody");
    let by = "rows", down = true;
    const draw = () => {
      const wanted = filter.value.trim().toLowerCase();
      const rows = card.labels.filter((one) => one.label.toLowerCase().includes(wanted));
      rows.sort((a, b) => (down ? -1 : 1) * (by === "label" ? a.label.localeCompare(b.label) : (a[by] ?? -1) - (b[by] ?? -1)));
      body.replaceChildren(...rows.slice(0, 500).map((one) => el("tr", {}, shown.map(([name]) =>
        name === "label" ? el("th", { scope: "row" }, one.label) : el("td", {}, shownCell(name, one[name]))))));
    };
    const heads = shown.map(([name, title]) => el("th", { scope: "col", "aria-sort": name === by ? "descending" : "none" },
      el("button", { type: "button", class: "link", onclick: (event) => {
        down = by === name ? !down : name !== "label";
        by = name;
        for (const head of event.target.closest("tr").children) head.setAttribute("aria-sort", "none");
        event.target.closest("th").setAttribute("aria-sort", down ? "descending" : "ascending");
        draw();
      } }, title)));
    filter.addEventListener("input", draw);
    draw();
    const more = card.all_labels > card.labels.length ? el("p", { class: "quiet" }, `The ${card.labels.length.toLocaleString()} most frequent of ${card.all_labels.toLocaleString()} labels.`) : null;
    return el("div", {}, filter, more, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Labels" },
      el("table", {}, el("thead", {}, el("tr", {}, heads)), body)));
  }

  key() {
    return false;
  }
}

function shownCell(name, value) {
  if (value === null || value === undefined) return "–";
  return name === "precision" || name === "recall" ? value.toFixed(1) : value.toLocaleString();
}

function plot(title, points) {
  const at = (x, y) => [EDGE + x * (SIZE - 2 * EDGE), SIZE - EDGE - y * (SIZE - 2 * EDGE)];
  const [x0, y0] = at(0, 0), [x1, y1] = at(1, 1);
  const most = Math.max(...points.map(([, , n]) => n));
  const text = (x, y, words, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, words);
  const drawing = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": `${title}: ${points.map(([s, r]) => `${Math.round(100 * s)} % predicted, ${Math.round(100 * r)} % right`).join("; ")}` },
    svg("path", { class: "axis", d: `M${x0} ${y1}V${y0}H${x1}` }),
    svg("path", { class: "even", d: `M${x0} ${y0}L${x1} ${y1}` }),
    ...[0, 0.5, 1].flatMap((share) => [text(at(share, 0)[0], y0 + 15, `${100 * share}`), text(x0 - 6, at(0, share)[1] + 4, `${100 * share}`, "end")]),
    text((x0 + x1) / 2, SIZE - 4, "predicted, %"),
    svg("text", { x: 10, y: SIZE / 2, "text-anchor": "middle", transform: `rotate(-90 10 ${SIZE / 2})` }, "right, %"),
    svg("path", { class: "line", d: points.map(([s, r], i) => `${i ? "L" : "M"}${at(s, r).join(" ")}`).join("") }),
    ...points.map(([s, r, n]) => {
      const [cx, cy] = at(s, r);
      const dot = svg("circle", { class: "dot", cx, cy, r: 2.5 + 5 * Math.sqrt(n / most) });
      dot.append(svg("title", {}, `predicted ${(100 * s).toFixed(0)} %, right ${(100 * r).toFixed(0)} %, ${n} tags`));
      return dot;
    }));
  return el("figure", {}, drawing, el("figcaption", {}, title));
}
