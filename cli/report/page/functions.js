"use strict";
// The table of functions: a row a case, any number of them; only those in sight are elements.

const kRowHeight = 30;
const functionsState = { search: "", verdict: "", sort: "gap", down: true, scroll: 0 };
// What the address says of it; the largest gap stands first where it says nothing.
function readFunctionsState() {
  const { chosen } = addressOf(), state = functionsState;
  const before = `${state.search} ${state.verdict} ${state.sort} ${state.down}`;
  state.search = chosen.get("search") ?? "";
  state.verdict = chosen.get("verdict") ?? "";
  state.sort = chosen.get("sort") ?? (reference ? "gap" : "name");
  state.down = chosen.has("sort") ? chosen.has("down") : reference !== undefined;
  if (`${state.search} ${state.verdict} ${state.sort} ${state.down}` !== before) state.scroll = 0;
}
const keepFunctionsState = () => keepInAddress({ search: functionsState.search, verdict: functionsState.verdict, sort: functionsState.sort, down: functionsState.down ? "1" : "" });

function functionColumns(run) {
  const names = comparison ? [reference, production] : allocatorsOf(run).slice(0, 4);
  const spill = (k, a) => figure(k, a, "weighted_spill_bytes");
  return [
    { key: "name", title: "function", width: "minmax(200px, 3fr)", words: true, of: nameOf },
    { key: "size", title: "instr.", width: "70px", of: (k) => programs.instructions[cases.program[k]] },
    { key: "limit", title: "limit", width: "60px", of: (k) => cases.limit[k] },
    { key: "live", title: "Max\u00adLive", width: "60px", of: (k) => cases.max_live[k] },
    ...names.map((a) => ({ key: `r ${a}`, title: `${tag(a)} registers`, width: "86px", of: (k) => figure(k, a, "registers") })),
    ...names.map((a) => ({ key: `s ${a}`, title: `${tag(a)} spill`, width: "104px", of: (k) => spill(k, a) })),
    ...(reference ? [{ key: "gap", title: "spill gap", hint: `log2 of (${production} + ${report.spill_offset}) / (${reference} + ${report.spill_offset}) over weighted spill bytes: 0 alike, 1 twice as many, -1 half as many`, width: "76px", of: spillGap, show: (x) => signed(Math.round(x * 100) / 100) }] : []),
    { key: "verdict", title: "verdict", width: "104px", words: true, of: verdictOf, kind: (v) => v },
    { key: "detail", title: "detail", width: "64px", words: true, of: (k) => (cases.detail[k] >= 0 ? "yes" : "") },
  ];
}

function functionsPage(run) {
  readFunctionsState();
  const columns = functionColumns(run), state = functionsState, all = casesOf(run);
  if (all.length === 0)
    return [heading("Functions"), empty("No function has a row of its own in what is chosen. Of a campaign most cases are counted only; regduel duel --db writes a row for each.")];
  let rows = [];
  const widths = columns.map((c) => c.width).join(" "), least = d3.sum(columns, (c) => parseInt(c.width.replace("minmax(", "")));
  const shape = `grid-template-columns:${widths}; min-width:${least}px`;
  const said = el("span", { class: "quiet", role: "status" }), none = el("p", { class: "empty", hidden: true });
  const body = el("div", { class: "body", role: "rowgroup", style: `min-width:${least}px` });
  const heads = columns.map((c) => el("div", { role: "columnheader", class: c.words ? "words" : null }, el("button", { type: "button", title: c.hint ?? null, onclick: () => sortBy(c.key) }, c.title)));
  const box = el("div", { class: "functions", role: "table", "aria-label": "Functions", onscroll: () => { state.scroll = box.scrollTop; show(); } },
    el("div", { role: "rowgroup" }, el("div", { role: "row", class: "head", "aria-rowindex": 1, style: shape }, heads)), body);

  function select() {
    const wanted = state.search.toLowerCase().split(/\s+/).filter((w) => w !== "");
    const column = columns.find((c) => c.key === state.sort) ?? columns[0];
    const value = new Map();
    rows = all.filter((k) => {
      if (state.verdict !== "" && verdictOf(k) !== state.verdict) return false;
      const text = `${nameOf(k)} ${programs.source[cases.program[k]]} ${texts[cases.target[k]]} ${texts[cases.limits[k]]} ${texts[cases.knobs[k]]}`.toLowerCase();
      return wanted.every((w) => text.includes(w));
    });
    for (const k of rows) value.set(k, column.of(k));
    // Cells without a figure come last, whichever way.
    rows.sort((a, b) => {
      const x = value.get(a), y = value.get(b);
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      if (typeof x === "string") return (state.down ? -1 : 1) * byName(x, y) || a - b;
      return (state.down ? d3.descending(x, y) : d3.ascending(x, y)) || a - b;
    });
    heads.forEach((h, at) => h.setAttribute("aria-sort", columns[at].key !== state.sort ? "none" : state.down ? "descending" : "ascending"));
    none.hidden = rows.length > 0;
    none.textContent = `No function has ${wanted.length > 0 ? `"${state.search}"` : "this verdict"}${wanted.length > 0 && state.verdict !== "" ? ` and the verdict ${state.verdict}` : ""}.`;
    body.style.height = `${rows.length * kRowHeight}px`;
    box.setAttribute("aria-rowcount", rows.length + 1);
    said.textContent = `${count(rows.length)} of ${count(all.length)} rows`;
    show();
  }
  function sortBy(key) {
    state.down = state.sort === key ? !state.down : key !== "name";
    state.sort = key;
    box.scrollTop = 0;
    keepFunctionsState();
    select();
  }
  const shown = new Map();
  let current = 0;  // the row that the Tab key reaches
  function show() {
    const first = Math.max(0, Math.floor(box.scrollTop / kRowHeight) - 4), last = Math.min(rows.length, first + Math.ceil(box.clientHeight / kRowHeight) + 8);
    const kept = new Map();
    for (let at = first; at < last; ++at) {
      const k = rows[at], old = shown.get(at);
      const row = old?.k === k ? old.row : makeRow(k, at);
      row.tabIndex = at === Math.max(first, Math.min(current, last - 1)) ? 0 : -1;
      kept.set(at, { k, row });
      if (old?.row !== row) { old?.row.remove(); body.append(row); }
    }
    for (const [at, { row }] of shown) if (kept.get(at)?.row !== row) row.remove();
    shown.clear();
    kept.forEach((v, at) => shown.set(at, v));
  }
  function makeRow(k, at) {
    return el("div", {
      role: "row", "aria-rowindex": at + 2, "aria-label": `${nameOf(k)}, limit ${cases.limit[k] ?? "none"}, ${verdictOf(k)}`, style: `top:${at * kRowHeight}px; ${shape}`,
      onclick: () => { location.hash = `#/case/${k}`; },
      onkeydown: (event) => {
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -rows.length, End: rows.length }[event.key];
        if (event.key === "Enter" || event.key === " ") location.hash = `#/case/${k}`;
        else if (by !== undefined) go(at + by);
        else return;
        event.preventDefault();
      },
    }, columns.map((c) => {
      const v = c.of(k);
      const text = v === null ? "-" : c.show ? c.show(v) : typeof v === "number" ? count(v) : v;
      return el("div", { role: "cell", class: `${c.words ? "words" : ""} ${c.kind ? c.kind(v) : ""}`.trim() || null, title: c.key === "name" ? v : null }, text);
    }));
  }
  function go(at) {
    current = Math.max(0, Math.min(rows.length - 1, at));
    const top = current * kRowHeight, head = box.firstChild.offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + kRowHeight > box.scrollTop + box.clientHeight - head) box.scrollTop = top + kRowHeight - box.clientHeight + head;
    show();
    shown.get(current)?.row.focus();
  }

  const search = el("input", { type: "search", value: state.search, placeholder: "name, source, target, knob", oninput: () => { state.search = search.value; current = 0; box.scrollTop = 0; keepFunctionsState(); select(); } });
  const verdict = choice([["", "all"], ...["pass", "fail", "inconclusive", "impossible", "unsupported"].map((v) => [v, v])], state.verdict, (v) => { state.verdict = v; box.scrollTop = 0; keepFunctionsState(); select(); });
  select();
  box.redraw = () => { box.scrollTop = state.scroll; show(); };
  return [heading("Functions"),
    el("p", { class: "quiet" }, "A row is a program at one limit. spill: bytes of spills and refills times the weight of their block. spill gap: log2 of the ratio of both, 0 alike, 1 twice as many. Enter or a click opens the row; arrow keys move between rows."),
    el("div", { class: "row" }, labelled("Search", search), labelled("Verdict", verdict), said), none, box];
}
