"use strict";
// One case: its figures, and where the report has them its programs, live ranges, pressure, the fat-point arrays and the neighbourhood.

function casePage(k) {
  if (!(k >= 0 && k < numberOfCases)) return [empty("There is no such case in this report.")];
  const names = allocators.filter((a) => figure(k, a, "verdict") !== null);
  const detail = report.details[cases.detail[k]];
  return [el("h2", {}, nameOf(k)),
    el("p", { class: "quiet" }, `${programs.source[cases.program[k]]}; ${count(programs.instructions[cases.program[k]])} instructions; ${texts[cases.target[k]]}, ` +
      `${texts[cases.limits[k]]}; MaxLive ${cases.max_live[k] ?? "unknown"}${texts[cases.knobs[k]] ? `; knobs ${texts[cases.knobs[k]]}` : ""}; run ${report.runs[cases.run[k]].id}`),
    table("Figures", ["measure", ...names.map(nick)], [
      ["verdict", ...names.map((a) => el("span", { class: figure(k, a, "verdict") }, figure(k, a, "verdict") + (reasonOf(k, a) ? `: ${reasonOf(k, a)}` : "")))],
      ["registers beyond the bound", ...names.map((a) => registerGap(k, a))],
      ...(cases.fewest_refill_bytes[k] === null ? [] : [[`spill load bytes beyond Belady\u2019s bound of ${count(cases.fewest_refill_bytes[k])}`, ...names.map((a) => refillGap(k, a))]]),
      ...Object.entries(measures).map(([m, title]) => [title, ...names.map((a) => figure(k, a, m))]),
      ["occupancy, percent", ...names.map((a) => figure(k, a, "occupancy_percent"))]]),
    report.objections.filter((o) => o.case === k).map((o) => el("p", { class: "fail" }, `${nick(o.allocator)}: ${o.signature}: ${o.message}`)),
    el("h3", {}, "Play it again"),
    detail ? el("div", { class: "row" }, saveButton(detail.reproducer, fileOf(k))) : null,
    command(commandOf(k)),
    detail ? detailParts(detail) : whyNoDetail()];
}

function findingPage(at) {
  const f = report.findings[at], detail = f && report.details[f.detail];
  if (!detail) return [empty("There are no details of this finding in this report.")];
  return [el("h2", {}, titleOf(f)), isJudged(f, detail) ? null : asSeen(f), el("div", { class: "row" }, saveButton(f.program, findingFile(at))), command(findingCommand(at)), detailParts(detail)];
}

function whyNoDetail() {
  const m = report.details_missing;
  return [empty(`This function has no details here: ${count(report.details.length)} of at most ${count(m.asked)} have (--details N), first findings, then what judges objected to, then the largest gaps.` +
    (m.too_large ? ` ${count(m.too_large)} would have been too large.` : "") + (m.no_program ? ` Of ${count(m.no_program)} the program is not in the database, and this version does not make the same one.` : "") +
    (m.budget ? ` ${count(m.budget)} would have made the file too large.` : ""))];
}

function detailParts(d) {
  const made = d.allocations.filter((a) => a.program);
  const state = { allocator: made[0]?.allocator, file: Object.keys(d.pressure)[0] ?? "R", vreg: (d.vregs.find((v) => v.step && d3.sum(v.step.primary) + d3.sum(v.step.secondary) > 0) ?? d.vregs.find((v) => v.step) ?? d.vregs[0])?.vreg ?? null };
  const one = () => made.find((a) => a.allocator === state.allocator);
  const pressure = el("div", {}), ranges = el("div", {}), sides = el("div", {}), spilled = el("div", {}), vreg = el("div", {});
  const fill = (...parts) => {
    for (const [part, box, make] of [["pressure", pressure, pressureChart], ["ranges", ranges, rangesChart], ["spilled", spilled, spilledPart], ["sides", sides, sideBySide], ["vreg", vreg, vregPart]])
      if (parts.length === 0 || parts.includes(part)) {
        box.replaceChildren(...[make(d, one(), state, pick)].flat(Infinity).filter(Boolean));
        redrawAll(box);
      }
  };
  const vregChoice = choice(d.vregs.map((v) => [v.vreg, `%${v.vreg} ${v.class} ${v.type}${v.name ? ` ${v.name}` : ""}${v.spills ? `, ${v.spills} spills and refills` : ""}`]), state.vreg,
    (v) => { state.vreg = Number(v); fill("ranges", "vreg"); });
  function pick(v) {
    state.vreg = v;
    vregChoice.value = String(v);
    fill("ranges", "vreg");
  }
  const allocatorChoice = choice(made.map((a) => [a.allocator, a.allocator]), state.allocator, (a) => { state.allocator = a; fill("ranges", "spilled", "sides"); });
  const fileChoice = choice(Object.keys(d.pressure).map((f) => [f, `${f}, limit ${d.limits[f]}`]), state.file, (f) => { state.file = f; fill("pressure", "ranges"); });
  fill();
  return [
    el("h3", {}, "Judges"), judgesTable(d.allocations), messages(d.allocations),
    made.length === 0 ? empty("No allocator made a program of it.") : [
      el("div", { class: "row" }, labelled("Allocator", allocatorChoice), labelled("Register file", fileChoice)),
      el("h3", {}, "Pressure"), pressure,
      el("h3", {}, "Live ranges in their registers"), ranges,
      el("h3", {}, "Spilled values"), spilled,
      el("h3", {}, "Before and after"), sides],
    el("h3", {}, "One virtual register"),
    d.vregs.length === 0 ? empty("There are no virtual registers in it.") : [
      el("div", { class: "row" }, labelled("Virtual register", vregChoice), el("span", { class: "quiet" }, "the most spilled, and those with the most neighbours")), vreg]];
}

// Where an instruction of the program after stands on the axis of the program before: inserted ones lie behind the original before them.
function placesOf(before, after) {
  const byId = new Map(before.id.map((id, row) => [id, before.position[row]]));
  const places = [];
  let last = -1, run = 0;
  after.position.forEach((position, row) => {
    if (position < 0) return;
    const at = byId.get(after.id[row]);
    const isOriginal = at !== undefined && (after.mark[row] === "" || after.mark[row] === "deleted" || at > last);
    if (isOriginal) { last = at; run = 0; }
    places[position] = isOriginal ? at : Math.max(0, last) + Math.min(0.95, ++run * 0.1);
  });
  return places;
}

function pressureChart(d, chosen, state) {
  const before = d.pressure[state.file], limit = d.limits[state.file];
  const after = d.allocations.filter((a) => a.files?.[state.file]).map((a) => ({ a: a.allocator, values: a.files[state.file].pressure, places: placesOf(d.before, a.program) }));
  const most = d3.max([d3.max(before), ...after.map((a) => d3.max(a.values))]);
  const shownLimit = limit <= most * 3;
  return chart({
    title: null, height: 230,
    label: `Pressure in file ${state.file}: before at most ${d3.max(before)}, ${after.map((a) => `${a.a} at most ${d3.max(a.values)}`).join(", ")}; limit ${limit}`,
    keys: legend([["var(--quiet)", "before allocation"], ...after.map((a) => [colour(a.a), a.a]), ...(shownLimit ? [["", `limit ${limit}`, "dashed"]] : [])]),
    draw(g, width, height) {
      const x = d3.scaleLinear([0, Math.max(1, before.length - 1)], [0, width]), y = d3.scaleLinear([0, Math.max(most, shownLimit ? limit : 0, 1)], [height, 0]).nice();
      axes(g, x, y, width, height, { xLabel: "instruction of the program before", yLabel: `units of ${state.file} live`, isWhole: true, xIsWhole: true });
      const line = (values, at) => d3.line((v, k) => x(at(k)), (v) => y(v)).curve(d3.curveStepAfter)(values);
      if (shownLimit) g.append("path").attr("class", "bound").attr("d", `M0,${y(limit)}H${width}`);
      g.append("path").attr("class", "series before").attr("d", line(before, (k) => k));
      for (const a of after) g.append("path").attr("class", "series").attr("stroke", colour(a.a)).attr("stroke-width", 1.5).attr("d", line(a.values, (k) => a.places[k] ?? 0));
    },
    figures: figuresOf(`Units of ${state.file} live at each instruction before allocation`, ["instruction", "before"], () => before.map((v, k) => [k, v])),
  });
}

const kindOfRow = (chosen, moment) => chosen.marks[moment >> 1];
function rangesChart(d, chosen, state, pick) {
  const file = chosen?.files[state.file];
  if (!file || file.ranges.length === 0) return empty(`${chosen?.allocator ?? "No allocator"} uses no register of file ${state.file}.`);
  chosen.marks ??= (() => {
    const marks = [];
    chosen.program.position.forEach((p, row) => { if (p >= 0) marks[p] = chosen.program.mark[row]; });
    return marks;
  })();
  const units = d3.max(file.ranges, (r) => r[0]) + 1, rowHeight = units > 64 ? 7 : units > 24 ? 10 : 15, end = chosen.marks.length * 2;
  const spills = d3.range(chosen.marks.length).filter((p) => chosen.marks[p] === "spill" || chosen.marks[p] === "refill");
  const known = new Set(d.vregs.map((v) => v.vreg));
  const where = ([unit, from, to, v]) => `${state.file}${unit}: ${v < 0 ? "a value of the allocator's" : `%${v}`}\ninstructions ${from >> 1} to ${(to - 1) >> 1}` +
    (kindOfRow(chosen, from) === "refill" ? "\nbegins with a refill" : "") + (kindOfRow(chosen, to - 1) === "spill" ? "\nends with a spill" : "");
  return chart({
    title: null, height: units * rowHeight + 64, left: 40, top: 24,
    label: `Live ranges of ${chosen.allocator} in ${units} units of ${state.file} over ${chosen.marks.length} instructions: ${file.ranges.length} ranges, ${spills.length} spills and refills`,
    keys: legend([["var(--text)", `%${state.vreg}`], ["var(--bar0)", "others, a colour a vreg"], ["var(--s0)", "above: refills"], ["var(--s1)", "above: spills"]]),
    draw(g, width, height) {
      const x = d3.scaleLinear([0, end], [0, width]), y = (unit) => unit * rowHeight;
      g.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(d3.scaleLinear([0, end / 2], [0, width])).ticks(Math.max(2, width / 90)));
      g.append("text").attr("x", width).attr("y", height + 33).attr("text-anchor", "end").text("instruction after allocation");
      const step = Math.ceil(14 / rowHeight);
      g.append("g").selectAll("text").data(d3.range(0, units, step)).join("text").attr("x", -6).attr("y", (u) => y(u) + rowHeight / 2 + 4).attr("text-anchor", "end").text((u) => `${state.file}${u}`);
      g.append("g").selectAll("line").data(spills).join("line").attr("class", (p) => `${chosen.marks[p]}mark`).attr("x1", (p) => x(2 * p + 1)).attr("x2", (p) => x(2 * p + 1)).attr("y1", (p) => (chosen.marks[p] === "spill" ? -10 : -20)).attr("y2", (p) => (chosen.marks[p] === "spill" ? -1 : -11));
      withTip(g.append("g").selectAll("rect").data(file.ranges).join("rect").attr("class", (r) => (r[3] === state.vreg ? "bar chosen" : "bar"))
        .attr("fill", (r) => (r[3] < 0 ? "var(--skipped)" : `var(--bar${(r[3] * 7) % 6})`))
        .attr("x", (r) => x(r[1])).attr("width", (r) => Math.max(1, x(r[2]) - x(r[1]))).attr("y", (r) => y(r[0]) + 1).attr("height", rowHeight - 2)
        .on("click", (event, r) => { if (known.has(r[3])) pick(r[3]); }), where);
    },
    figures: figuresOf(`Live ranges of ${chosen.allocator} in file ${state.file}`, ["unit", "from instruction", "to", "vreg"],
      () => file.ranges.map((r) => [`${state.file}${r[0]}`, r[1] >> 1, (r[2] - 1) >> 1, r[3] < 0 ? "-" : `%${r[3]}`])),
  });
}

// Which values are in memory or computed again, from which lines, at what cost, and with how many registers they would stay.
function spilledPart(d, chosen) {
  const values = chosen.spilled ?? [];
  if (values.length === 0) return empty(`${nick(chosen.allocator)} keeps every value in a register.`);
  return table(`Of ${nick(chosen.allocator)}, the costliest first`, ["value", "line", "stores", "refills", "remats", "bytes", "weighted bytes", "loop depth", "registers that keep it"],
    values.slice(0, 40).map((v) => [v.vreg === null ? "unknown" : `%${v.vreg}${v.name ? ` ${v.name}` : ""}`, v.source || "-", v.stores, v.refills, v.remats, v.store_bytes + v.load_bytes, v.weighted_bytes, v.depth, v.registers || "-"]), "numbers");
}

// Original instructions stand beside each other; what was inserted has a row of its own.
function sideBySide(d, chosen) {
  const before = d.before, after = chosen.program, rows = [];
  const objected = new Set(chosen.findings.map((f) => f.inst));
  const isOwn = (row) => ["spill", "refill", "remat", "copy", "pack", "edge"].includes(after.mark[row]) && !ids.has(after.id[row]);
  const ids = new Set(before.id.filter((id) => id >= 0));
  let at = 0;
  for (let row = 0; row < after.text.length; ++row) {
    if (isOwn(row) || (after.id[row] < 0 && before.id[at] !== -1)) { rows.push([null, row]); continue; }
    // What the program before has at this place and the program after has not.
    while (at < before.text.length && before.id[at] !== after.id[row] && after.id[row] >= 0) rows.push([at++, null]);
    rows.push([at < before.text.length ? at++ : null, row]);
  }
  while (at < before.text.length) rows.push([at++, null]);
  // Where the program before says so.
  const sourceHead = before.source ? [el("th", { scope: "col" }, "source")] : [];
  const sourceCell = (b) => (before.source ? [el("td", { class: "quiet" }, b === null ? "" : before.source[b])] : []);
  const cell = (side, row, kind) => el("td", { class: kind || null }, row === null ? "" : side.text[row]);
  const marks = d3.rollup(after.mark.filter((m) => m !== ""), (v) => v.length, (m) => m);
  return [el("p", { class: "quiet" }, marks.size === 0 ? "Nothing was inserted or deleted." : `Of ${chosen.allocator}: ${[...marks].map(([m, n]) => `${n} ${m}`).join(", ")}.`),
    legend([["var(--spill)", "spill"], ["var(--refill)", "refill"], ["var(--other)", "other inserted code"], ...(objected.size ? [["var(--fail)", "a judge objects here"]] : [])]),
    el("div", { class: "programs scroll", tabindex: 0, role: "region", "aria-label": `Program before and after ${chosen.allocator}` },
      el("table", { class: "code", "aria-label": `Before and after ${nick(chosen.allocator)}` }, el("thead", {}, el("tr", {}, ...sourceHead, el("th", { scope: "col" }, "before"), el("th", { scope: "col" }, `after ${chosen.allocator}`))),
        el("tbody", {}, rows.map(([b, a]) => el("tr", { class: a !== null && after.id[a] < 0 ? "block" : null }, ...sourceCell(b), cell(before, b, ""),
          cell(after, a, a === null ? "" : `${after.mark[a]} ${objected.has(after.id[a]) && after.id[a] >= 0 ? "objected" : ""}`.trim()))))))];
}

// --- one vreg

const reasonWords = {
  outside_file: "outside the file", above_limit: "above the limit", misaligned: "misaligned", reserved: "reserved", clobbered: "clobbered", restored: "restored at a ret",
  taken: "taken", kept_free: "kept free for temporaries", chosen: "chosen", callee_saved_first: "callee-saved comes last",
  heavier_primary: "more primary weight", heavier_secondary: "more secondary weight", higher_unit: "a higher number", bank_conflict: "bank conflict",
  not_looked_at: "not looked at",
};
const words = (reason) => reasonWords[reason] ?? reason.replaceAll("_", " ");

function vregPart(d, chosen, state, pick) {
  const v = d.vregs.find((one) => one.vreg === state.vreg);
  if (!v) return empty("No details of this one are in the report.");
  const made = d.allocations.find((a) => a.allocator === "fatpoint")?.program;
  return [el("p", {}, el("code", {}, `%${v.vreg} ${v.class} ${v.type}`), !made ? "" : v.home ? `: fatpoint puts it in ${v.home}${v.spills ? `, with ${v.spills} spills and refills` : ""}${v.spilled_by ? `; sent to memory by ${words(v.spilled_by)} in round ${v.spill_round}` : ""}.` : ": it has no register in the result of fatpoint."),
    el("div", { class: "grid" }, el("div", {}, arrays(v)), el("div", {}, neighbourhood(v, pick)))];
}

function arrays(v) {
  const s = v.step;
  if (!s) return empty(v.spilled_by ? `Fatpoint sent it to memory (${words(v.spilled_by)}) before any scan for a register.` : "Fatpoint never looked for a register for it.");
  const units = d3.range(s.reason.length), isOpen = (u) => !["outside_file", "above_limit", "misaligned", "reserved", "clobbered", "restored", "taken", "kept_free"].includes(s.reason[u]);
  const most = Math.max(1, d3.max(units, (u) => Math.max(s.primary[u], s.secondary[u])));
  return chart({
    title: `Fat-point arrays in round ${s.round}: ${words(s.kind)}`, height: 250, left: 52,
    label: `Fat-point arrays of %${v.vreg}: ${s.unit < 0 ? "no unit chosen" : `unit ${s.unit} chosen`} of ${units.length}; ` +
      d3.rollups(units, (g) => g.length, (u) => words(s.reason[u])).map(([r, n]) => `${n} ${r}`).join(", "),
    keys: legend([["var(--s0)", "primary, up"], ["var(--s2)", "secondary, down"], ["color-mix(in srgb, var(--fail) 30%, transparent)", "taken"], ["color-mix(in srgb, var(--skipped) 30%, transparent)", "closed"], ["var(--s1)", "chosen"]]),
    draw(g, width, height) {
      const x = d3.scaleBand(units, [0, width]).paddingInner(0.15), y = d3.scaleSymlog().constant(4).domain([-most, most]).range([height, 0]);
      const ticks = wideTicks(most).slice(-3), every = [1, 2, 4, 8, 16, 32, 64].find((n) => units.length / n * 30 < width) ?? 64;
      g.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).tickValues(units.filter((u) => u % every === 0)));
      g.append("g").call(d3.axisLeft(y).tickValues([...ticks.map((t) => -t), 0, ...ticks]).tickFormat((t) => short(Math.abs(t))));
      g.append("path").attr("class", "bound").attr("d", `M0,${y(0)}H${width}`);
      const rect = (of, kind) => g.append("g").selectAll("rect").data(of).join("rect").attr("class", kind).attr("x", (u) => x(u)).attr("width", x.bandwidth());
      rect(units.filter((u) => !isOpen(u)), (u) => (s.reason[u] === "taken" ? "taken" : "closed")).attr("y", 0).attr("height", height);
      rect(units, "").attr("fill", "var(--s0)").attr("y", (u) => y(s.primary[u])).attr("height", (u) => y(0) - y(s.primary[u]));
      rect(units, "").attr("fill", "var(--s2)").attr("y", y(0)).attr("height", (u) => y(-s.secondary[u]) - y(0));
      if (s.unit >= 0 && x(s.unit) !== undefined)
        g.append("rect").attr("x", x(s.unit) - 1).attr("width", x.bandwidth() + 2).attr("y", 0).attr("height", height).attr("fill", "none").attr("stroke", "var(--s1)").attr("stroke-width", 2.5);
      withTip(rect(units, "hit").attr("y", 0).attr("height", height), (u) =>
        `unit ${u}: ${words(s.reason[u])}${s.by[u] ? ` (${s.by[u]})` : ""}\nprimary ${count(s.primary[u])}, secondary ${count(s.secondary[u])}`);
      g.append("text").attr("x", width).attr("y", height + 33).attr("text-anchor", "end").text("unit where it would begin");
    },
    figures: figuresOf(`${words(s.kind)}, round ${s.round}, limit ${s.limit}`, ["unit", "primary", "secondary", "why"],
      () => units.map((u) => [u, s.primary[u], s.secondary[u], words(s.reason[u]) + (s.by[u] ? ` (${s.by[u]})` : "")])),
  });
}

function neighbourhood(v, pick) {
  const n = v.neighbours, height = 300;
  return chart({
    title: `Interference: ${n.vreg.length - 1 < n.all ? `${n.vreg.length - 1} of ` : ""}${n.all} neighbours`, height, left: 0, right: 0, top: 0, bottom: 0,
    label: `Interference graph of %${v.vreg}: ${n.all} neighbours, ${n.edges.length} edges among those shown: ${n.vreg.slice(1).map((u) => `%${u}`).join(", ")}`,
    draw(g, width) {
      const nodes = n.vreg.map((vreg, k) => ({ vreg, k, units: n.units[k], home: n.home[k] })), links = n.edges.map(([source, target]) => ({ source, target }));
      const spread = nodes.length > 14 ? 120 : 90;
      const force = d3.forceSimulation(nodes).force("link", d3.forceLink(links).distance(spread).strength(0.05)).force("charge", d3.forceManyBody().strength(-260))
        .force("x", d3.forceX(width / 2).strength(0.09)).force("y", d3.forceY(height / 2).strength(0.16)).force("collide", d3.forceCollide(20)).stop();
      force.tick(220);
      const at = (value, most) => Math.max(22, Math.min(most - 22, value));
      for (const node of nodes) { node.x = at(node.x, width); node.y = at(node.y, height); }
      g.append("g").selectAll("line").data(links).join("line").attr("class", "edge").attr("x1", (l) => l.source.x).attr("y1", (l) => l.source.y).attr("x2", (l) => l.target.x).attr("y2", (l) => l.target.y);
      const node = withTip(g.append("g").selectAll("g").data(nodes).join("g").attr("class", (m) => (m.k === 0 ? "node chosen" : "node")).attr("transform", (m) => `translate(${m.x},${m.y})`),
        (m) => `%${m.vreg}: ${m.units} ${m.units === 1 ? "unit" : "units"}${m.home ? `, in ${m.home}` : ""}`);
      node.append("circle").attr("r", (m) => 14 + Math.min(6, m.units));
      node.append("text").attr("dy", 4).text((m) => `%${m.vreg}`);
    },
    figures: figuresOf(`Neighbours of %${v.vreg}`, ["vreg", "units", "home"], () => n.vreg.slice(1).map((u, k) => [`%${u}`, n.units[k + 1], n.home[k + 1] || "-"])),
  });
}
