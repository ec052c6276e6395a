"""How the audit's page looks, and what it does in the browser: filters, decisions, and their download."""

STYLE = """
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.tiles div { border: 1px solid #ddd; border-radius: 6px; padding: .5rem .9rem; min-width: 7rem; color: #555; }
.tiles b { display: block; font-size: 1.25rem; color: #222; } .small { color: #555; font-size: .85rem; }
p.note code { background: #f2f2f2; border-radius: 4px; padding: .1rem .35rem; }
form.filter { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; position: sticky; top: 0; z-index: 1;
  background: #fff; padding: .5rem 0; border-bottom: 1px solid #ddd; margin-top: .8rem; }
form.filter label { font-size: .85rem; color: #555; }
form.filter input, form.filter select { display: block; font: 15px/1.5 system-ui, sans-serif; padding: .2rem .4rem;
  box-sizing: border-box; height: 2.1rem; border: 1px solid #bbb; border-radius: 5px; background: #fff; width: 9rem; }
form.filter input { width: 13rem; }
form.filter .told { margin-left: auto; text-align: right; } #shown { display: block; }
button.plain { font: inherit; border: 1px solid #bbb; border-radius: 5px; background: #fff; padding: .2rem .7rem;
  cursor: pointer; }
button.plain:hover { background: #f3f7fb; } button.plain:focus-visible { outline: 2px solid #0072B2; }
#save { border-color: #0072B2; background: #0072B2; color: #fff; height: 2.1rem; } #save:disabled { opacity: .4; }
table.flags { width: 100%; } table.flags tr { outline-offset: -2px; } table.flags th { text-align: left; }
table.flags td { vertical-align: top; white-space: normal; text-align: left; padding: .7rem .6rem; }
table.flags td.p { text-align: right; } table.flags td.label { min-width: 9rem; max-width: 15rem; }
table.flags td.label b { display: block; overflow-wrap: anywhere; margin: .15rem 0; }
table.flags td.text { min-width: 22rem; max-width: 46rem; overflow-wrap: anywhere; }
.bar { display: block; height: 4px; width: 4rem; border-radius: 2px; margin: .3rem 0 0 auto;
  background: linear-gradient(#0072B2 0 0) 0 / var(--p) 100% no-repeat #e3e3e3; }
.kind { border-radius: 4px; padding: 0 .4rem; white-space: nowrap; font-size: .85rem; }
.kind.missing { background: #dcebf7; } .kind.wrong { background: #fbe3d6; }
.carried { margin-top: .4rem; } .carried span { display: inline-block; border: 1px solid #ddd; border-radius: 4px;
  padding: 0 .35rem; margin: .1rem .25rem .1rem 0; font-size: .85rem; color: #555; }
.carried span.flagged { border-color: #D55E00; color: #9c4500; }
mark { background: #ffe9a8; padding: 0 .1em; } details summary { cursor: pointer; color: #0072B2; }
details ul { padding-left: 1.1rem; margin: .3rem 0; font-size: .85rem; }
td.decide { white-space: nowrap !important; }
td.decide button { display: block; width: 5.4rem; margin-bottom: .3rem; }
tr[data-decision=accept] { background: #eaf6f0; } tr[data-decision=accept] .accept { background: #009E73; color: #fff; }
tr[data-decision=reject] { background: #f4f4f4; } tr[data-decision=reject] .reject { background: #666; color: #fff; }
tr[data-decision=reject] td.text { opacity: .6; }
@media (max-width: 700px) {
  body { margin: 1rem auto; }
  .tiles { gap: .4rem; } .tiles div { flex: 1 0 auto; min-width: 5rem; padding: .3rem .6rem; }
  form.filter { display: grid; grid-template-columns: 1fr 1fr; gap: .4rem; position: static; }
  form.filter input, form.filter select { width: 100%; }
  form.filter .told { position: fixed; left: 0; right: 0; bottom: 0; display: flex; align-items: center; padding: .6rem;
    background: #fff; border-top: 1px solid #ddd; justify-content: space-between; z-index: 1; }
  body { padding-bottom: 4rem; }
  table.flags thead { display: none; }
  table.flags, table.flags tbody, table.flags tr, table.flags td { display: block; min-width: 0; max-width: none; }
  table.flags tr { position: relative; border: 1px solid #ddd; border-radius: 6px; padding: .7rem; margin: .7rem 0; }
  table.flags tr[hidden] { display: none; }
  table.flags td { border: 0; padding: 0 0 .5rem; } table.flags td.text { min-width: 0; }
  table.flags td.label { max-width: calc(100% - 5rem); min-width: 0; }
  table.flags td.p { position: absolute; right: .7rem; top: .7rem; }
  td.decide { display: flex !important; gap: .5rem; } td.decide button { flex: 1; padding: .5rem; }
}
"""

# Decisions stay in the browser until they are saved as JSON lines, which `rankae audit apply` reads.
SCRIPT = """
const form = document.querySelector("form.filter");
if (form) {
  const rows = [...document.querySelectorAll("table.flags tbody tr")], shown = document.getElementById("shown");
  const save = document.getElementById("save"), key = form.dataset.key;
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(key)) || {}; } catch (error) {}
  const named = row => row.dataset.kind + " " + row.dataset.row + " " + row.dataset.name;
  const decided = () => rows.filter(row => row.dataset.decision);
  const tell = () => {
    const count = decided().length;
    save.disabled = !count; save.textContent = count ? "Save " + count + " decisions" : "Save decisions";
  };
  const show = row => {
    const made = kept[named(row)];
    if (made) row.dataset.decision = made; else delete row.dataset.decision;
    for (const button of row.querySelectorAll("td.decide button"))
      button.setAttribute("aria-pressed", button.className.includes(made || "none"));
  };
  const decide = (row, made) => {
    if (row.dataset.decision === made) delete kept[named(row)]; else kept[named(row)] = made;
    try { localStorage.setItem(key, JSON.stringify(kept)); } catch (error) {}
    show(row); tell();
  };
  const filter = () => {
    const plain = field => field.value.trim().toLowerCase();
    const kind = form.kind.value, label = plain(form.label), word = plain(form.word), made = form.decided.value;
    let count = 0;
    for (const row of rows) {
      const fits = (!kind || row.dataset.kind === kind) && row.dataset.name.toLowerCase().includes(label)
        && (!made || !!row.dataset.decision === (made === "decided"))
        && (!word || row.cells[2].textContent.toLowerCase().includes(word));
      row.hidden = !fits; count += fits;
    }
    shown.textContent = count + " of " + rows.length;
  };
  document.querySelector("table.flags").addEventListener("click", event => {
    const button = event.target.closest("td.decide button");
    if (button) decide(button.closest("tr"), button.dataset.decision);
  });
  document.querySelector("table.flags").addEventListener("keydown", event => {
    const row = event.target.closest("tbody tr"), made = {a: "accept", r: "reject"}[event.key];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = made || event.key === "ArrowDown" ? "nextElementSibling"
      : event.key === "ArrowUp" ? "previousElementSibling" : "";
    if (!step) return;
    event.preventDefault();
    if (made) decide(row, made);
    let next = row[step];
    while (next && next.hidden) next = next[step];
    if (next) { next.focus({preventScroll: true}); next.scrollIntoView({block: "center"}); }
  });
  save.addEventListener("click", () => {
    const line = row => JSON.stringify({row: +row.dataset.row, id: row.dataset.id, label: row.dataset.name,
      kind: row.dataset.kind, decision: row.dataset.decision}) + "\\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(decided().map(line), {type: "application/x-ndjson"}));
    link.download = "decisions.jsonl"; link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  form.addEventListener("input", filter); form.addEventListener("submit", event => event.preventDefault());
  rows.forEach(show); tell(); filter();
}
"""
