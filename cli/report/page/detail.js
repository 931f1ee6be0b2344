"use strict";
// One case: its figures, and where the report has them its programs, live ranges, pressure, the fat-point arrays and the neighbourhood.

function casePage(k) {
  if (!(k >= 0 && k < numberOfCases)) return [empty("There is no such case in this report.")];
  const played = allocators.filter((a) => figure(k, a, "verdict") !== null);
  // Of a comparison the two sides stand first, with the change between them.
  const sides = comparison ? [reference, production].filter((a) => played.includes(a)) : [], names = [...sides, ...played.filter((a) => !sides.includes(a))];
  const row = (title, of) => {
    const all = names.map(of);
    return sides.length === 2 ? [title, all[0], all[1], changeText(all[0], all[1]), ...all.slice(2)] : [title, ...all];
  };
  const detail = report.details[cases.detail[k]];
  return [el("h2", {}, nameOf(k)),
    el("p", { class: "quiet" }, `${programs.source[cases.program[k]]}; ${count(programs.instructions[cases.program[k]])} instructions; ${texts[cases.target[k]]}, ` +
      `${texts[cases.limits[k]]}; MaxLive ${cases.max_live[k] ?? "unknown"}${knobsText(k)}${comparison ? "" : `; run ${report.runs[cases.run[k]].id}`}`),
    table("Figures", sides.length === 2 ? ["measure", ...sides.map(nick), "change", ...names.slice(2).map(nick)] : ["measure", ...names.map(nick)], [
      row("verdict", (a) => el("span", { class: figure(k, a, "verdict") }, figure(k, a, "verdict") + (reasonOf(k, a) ? `: ${reasonOf(k, a)}` : ""))),
      row("registers beyond MaxLive", (a) => registerGap(k, a)),
      ...(cases.fewest_refill_bytes[k] === null ? [] : [row(`spill load bytes beyond Belady\u2019s bound of ${count(cases.fewest_refill_bytes[k])}`, (a) => refillGap(k, a))]),
      ...Object.entries(measures).map(([m, title]) => row(title, (a) => figure(k, a, m))),
      row("occupancy, percent", (a) => figure(k, a, "occupancy_percent"))]),
    report.objections.filter((o) => o.case === k).map((o) => el("p", { class: "fail" }, `${nick(o.allocator)}: ${o.signature}: ${o.message}`)),
    el("h3", {}, "Play it again"),
    detail ? el("div", { class: "row" }, saveButton(detail.reproducer, fileOf(k))) : null,
    comparison ? [0, 1].filter((side) => commandOf(k, side) !== null).map((side) => [el("p", { class: "quiet" }, side === 0 ? "The older side:" : "The newer side:"), command(commandOf(k, side))]) : command(commandOf(k)),
    detail ? [whatIsNotMadeAgain(k, played, detail), detailParts(detail)] : whyNoDetail()];
}

const changeText = (old, newer) => (typeof old !== "number" || typeof newer !== "number" ? "" : old === newer ? "same" : old <= 0 ? signed(newer - old) : percent(newer / old));
const knobsText = (k) => {
  const old = comparison ? texts[cases.older_knobs[k]] : "", newer = texts[cases.knobs[k]];
  if (comparison && old !== newer) return `; knobs of the older side: ${old || "none"}; of the newer: ${newer || "none"}`;
  return newer ? `; knobs ${newer}` : "";
};

// A detail is made when the report is. It says where that is not what the run had.
function whatIsNotMadeAgain(k, played, d) {
  const notes = played.filter((a) => !d.allocations.some((made) => made.allocator === a)).map((a) => {
    const side = comparison && (sideOf(a) === 0 ? comparison.old : comparison.new);
    return side && !side.made_again ? `${nick(a)} is of another version (${side.version}): its figures are known, and its allocation is not.`
      : `${nick(a)} does not play in a report: its figures are known, and its allocation is not.`;
  });
  for (const a of d.allocations) {
    const other = Object.entries(a.measures ?? {}).find(([m, now]) => measures[m] && figure(k, a.allocator, m) !== null && figure(k, a.allocator, m) !== now);
    if (other) notes.push(`${nick(a.allocator)}: what stands below is made anew, and is not what the run had: ${measureName(other[0])} ${count(figure(k, a.allocator, other[0]))} in the run, ${other[1] === null ? "none" : count(other[1])} here.`);
  }
  return notes.map((text) => el("p", { class: "empty" }, text));
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
  // Of a comparison both sides beside each other, where both are made again.
  const older = made.find((a) => comparison && a.allocator === reference), newer = made.find((a) => comparison && a.allocator === production);
  const state = { allocator: (older ?? newer ?? made[0])?.allocator, beside: older && newer ? newer.allocator : "", file: Object.keys(d.pressure)[0] ?? "R", vreg: (d.vregs.find((v) => v.step && d3.sum(v.step.primary) + d3.sum(v.step.secondary) > 0) ?? d.vregs.find((v) => v.step) ?? d.vregs[0])?.vreg ?? null };
  const one = () => made.find((a) => a.allocator === state.allocator), other = () => made.find((a) => a.allocator === state.beside && a.allocator !== state.allocator);
  const pressure = el("div", {}), ranges = el("div", {}), sides = el("div", {}), spilled = el("div", {}), vreg = el("div", {});
  const fill = (...parts) => {
    for (const [part, box, make] of [["pressure", pressure, pressureChart], ["ranges", ranges, rangesChart], ["spilled", spilled, spilledPart], ["sides", sides, sideBySide], ["vreg", vreg, vregPart]])
      if (parts.length === 0 || parts.includes(part)) {
        box.replaceChildren(...[make(d, [one(), other()].filter(Boolean), state, pick)].flat(Infinity).filter(Boolean));
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
  const choose = (what) => (a) => { state[what] = a; fill("ranges", "spilled", "sides"); };
  const allocatorChoice = choice(made.map((a) => [a.allocator, nick(a.allocator)]), state.allocator, choose("allocator"));
  const besideChoice = made.length < 2 ? [] : labelled("beside", choice([["", "none"], ...made.map((a) => [a.allocator, nick(a.allocator)])], state.beside, choose("beside")));
  const fileChoice = choice(Object.keys(d.pressure).map((f) => [f, `${f}, limit ${d.limits[f]}`]), state.file, (f) => { state.file = f; fill("pressure", "ranges"); });
  fill();
  return [
    el("h3", {}, "Judges"), judgesTable(d.allocations), messages(d.allocations),
    made.length === 0 ? empty("No allocator made a program of it.") : [
      el("div", { class: "row" }, labelled("Allocator", allocatorChoice), besideChoice, labelled("Register file", fileChoice)),
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

function pressureChart(d, shown, state) {
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
// Of both that are shown, on the same scales.
function rangesChart(d, shown, state, pick) {
  for (const a of shown)
    a.marks ??= (() => {
      const marks = [];
      a.program.position.forEach((p, row) => { if (p >= 0) marks[p] = a.program.mark[row]; });
      return marks;
    })();
  const all = shown.flatMap((a) => a.files[state.file]?.ranges ?? []);
  const frame = { units: (d3.max(all, (r) => r[0]) ?? 0) + 1, end: d3.max(shown, (a) => a.marks.length * 2) };
  return el("div", { class: shown.length > 1 ? "grid" : null }, shown.map((a) => rangesOf(d, a, state, pick, frame, shown.length > 1)));
}
function rangesOf(d, chosen, state, pick, { units, end }, isPair) {
  const file = chosen.files[state.file];
  if (!file || file.ranges.length === 0) return empty(`${nick(chosen.allocator)} uses no register of file ${state.file}.`);
  const rowHeight = units > 64 ? 7 : units > 24 ? 10 : 15;
  const spills = d3.range(chosen.marks.length).filter((p) => chosen.marks[p] === "spill" || chosen.marks[p] === "refill");
  const known = new Set(d.vregs.map((v) => v.vreg));
  const where = ([unit, from, to, v]) => `${state.file}${unit}: ${v < 0 ? "a value of the allocator's" : `%${v}`}\ninstructions ${from >> 1} to ${(to - 1) >> 1}` +
    (kindOfRow(chosen, from) === "refill" ? "\nbegins with a refill" : "") + (kindOfRow(chosen, to - 1) === "spill" ? "\nends with a spill" : "");
  return chart({
    title: isPair ? nick(chosen.allocator) : null, height: units * rowHeight + 64, left: 40, top: 24,
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
const spilledPart = (d, shown) => shown.map(spilledOf);
function spilledOf(chosen) {
  const values = chosen.spilled ?? [];
  if (values.length === 0) return empty(`${nick(chosen.allocator)} keeps every value in a register.`);
  return table(`Of ${nick(chosen.allocator)}, the costliest first`, ["value", "line", "stores", "refills", "remats", "bytes", "weighted bytes", "loop depth", "registers that keep it"],
    values.slice(0, 40).map((v) => [v.vreg === null ? "unknown" : `%${v.vreg}${v.name ? ` ${v.name}` : ""}`, v.source || "-", v.stores, v.refills, v.remats, v.store_bytes + v.load_bytes, v.weighted_bytes, v.depth, v.registers || "-"]), "numbers");
}

// Rows of the program before and of the one after, null where there is none: original instructions stand beside each other, what was
// inserted has a row of its own.
function rowsOf(before, after) {
  const rows = [];
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
  return rows;
}
// Likewise of two programs after: what both inserted at one place shares rows.
function rowsOfBoth(first, second) {
  const rows = [];
  let a = 0, b = 0;
  const isInserted = (list, at) => at < list.length && list[at][0] === null;
  while (a < first.length || b < second.length) {
    while (isInserted(first, a) || isInserted(second, b))
      rows.push([null, isInserted(first, a) ? first[a++][1] : null, isInserted(second, b) ? second[b++][1] : null]);
    if (a < first.length && b < second.length) rows.push([first[a][0], first[a++][1], second[b++][1]]);
  }
  return rows;
}

function sideBySide(d, shown) {
  const before = d.before, afters = shown.map((a) => ({ ...a.program, name: nick(a.allocator), objected: new Set(a.findings.map((f) => f.inst)) }));
  const rows = afters.length > 1 ? rowsOfBoth(rowsOf(before, afters[0]), rowsOf(before, afters[1])) : rowsOf(before, afters[0]);
  const names = afters.map((a) => a.name).join(" and ");
  // Where the program before says so.
  const sourceHead = before.source ? [el("th", { scope: "col" }, "source")] : [];
  const sourceCell = (b) => (before.source ? [el("td", { class: "quiet" }, b === null ? "" : before.source[b])] : []);
  const cell = (side, row, kind) => el("td", { class: kind || null }, row === null ? "" : side.text[row]);
  const counted = (a) => [...d3.rollup(a.mark.filter((m) => m !== ""), (v) => v.length, (m) => m)].map(([m, n]) => `${n} ${m}`).join(", ") || "nothing was inserted or deleted";
  const isBlock = (cells) => afters.some((a, n) => cells[n] !== null && a.id[cells[n]] < 0);
  const kind = (a, row) => (row === null ? "" : `${a.mark[row]} ${a.objected.has(a.id[row]) && a.id[row] >= 0 ? "objected" : ""}`.trim());
  return [el("p", { class: "quiet" }, `${afters.map((a) => `Of ${a.name}: ${counted(a)}`).join(". ")}.`),
    legend([["var(--spill)", "spill"], ["var(--refill)", "refill"], ["var(--other)", "other inserted code"], ...(afters.some((a) => a.objected.size) ? [["var(--fail)", "a judge objects here"]] : [])]),
    el("div", { class: "programs scroll", tabindex: 0, role: "region", "aria-label": `Program before and after ${names}` },
      el("table", { class: "code", "aria-label": `Before and after ${names}` }, el("thead", {}, el("tr", {}, ...sourceHead, el("th", { scope: "col" }, "before"), afters.map((a) => el("th", { scope: "col" }, `after ${a.name}`)))),
        el("tbody", {}, rows.map(([b, ...cells]) => el("tr", { class: isBlock(cells) ? "block" : null }, ...sourceCell(b), cell(before, b, ""), afters.map((a, n) => cell(a, cells[n], kind(a, cells[n]))))))))];
}

// --- one vreg

const reasonWords = {
  outside_file: "outside the file", above_limit: "above the limit", misaligned: "misaligned", reserved: "reserved", clobbered: "clobbered", restored: "restored at a ret",
  taken: "taken", kept_free: "kept free for temporaries", chosen: "chosen", callee_saved_first: "callee-saved comes last",
  heavier_primary: "more primary weight", heavier_secondary: "more secondary weight", higher_unit: "a higher number", bank_conflict: "bank conflict",
  not_looked_at: "not looked at",
};
const words = (reason) => reasonWords[reason] ?? reason.replaceAll("_", " ");

function vregPart(d, shown, state, pick) {
  const v = d.vregs.find((one) => one.vreg === state.vreg);
  if (!v) return empty("No details of this one are in the report.");
  const made = d.allocations.find((a) => a.allocator === d.explained)?.program;
  return [el("p", {}, el("code", {}, `%${v.vreg} ${v.class} ${v.type}`), !made ? "" : v.home ? `: ${nick(d.explained)} puts it in ${v.home}${v.spills ? `, with ${v.spills} spills and refills` : ""}${v.spilled_by ? `; sent to memory by ${words(v.spilled_by)} in round ${v.spill_round}` : ""}.` : `: it has no register in the result of ${nick(d.explained)}.`),
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
