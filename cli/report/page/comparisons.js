"use strict";
// Charts over many functions: against the limit, allocator against allocator, and gaps.

// --- registers and spill bytes against the limit

const limitsState = { search: "", page: 0 };
const kCardsAPage = 8;

function limitsPage(run) {
  const byProgram = d3.groups(casesOf(run).filter((k) => cases.limit[k] !== null), (k) => `${cases.run[k]} ${cases.program[k]} ${texts[cases.target[k]]}`)
    .map(([, ks]) => ks.sort((a, b) => cases.limit[a] - cases.limit[b]))
    .filter((ks) => new Set(ks.map((k) => cases.limit[k])).size > 1)
    .sort((a, b) => d3.ascending(nameOf(a[0]), nameOf(b[0])) || a[0] - b[0]);
  const intro = el("p", { class: "quiet" }, "Each function at each limit of general registers (file R). The dashed line is a measure of the program, and no bound: the most registers live at one point of it (MaxLive), or the highest register that an operand is fixed to, at most the limit.");
  const others = report.runs.map((r, k) => k).filter((k) => run >= 0 && k !== run && d3.groups(casesOf(k), (c) => cases.program[c]).some(([, ks]) => new Set(ks.map((c) => cases.limit[c])).size > 1));
  if (byProgram.length === 0 && others.length > 0)
    return [heading("Against the limit"), intro, el("p", { class: "empty" }, "No function has been allocated at more than one limit in this run. ",
      others.map((k) => [el("a", { href: `#/limits?run=${report.runs[k].id}` }, `Run ${report.runs[k].id}`), " has limits. "]))];
  if (byProgram.length === 0)
    return [heading("Against the limit"), intro, empty("No function has been allocated at more than one limit in what is chosen. regduel duel --db F.sqlite --regs 16,24,32,64 FILE… does that.")];
  const box = el("div", { class: "grid" }), where = el("span", { class: "quiet", role: "status" });
  const fill = () => {
    const found = byProgram.filter((ks) => nameOf(ks[0]).toLowerCase().includes(limitsState.search.toLowerCase()));
    const pages = Math.max(1, Math.ceil(found.length / kCardsAPage));
    limitsState.page = Math.min(limitsState.page, pages - 1);
    const from = limitsState.page * kCardsAPage;
    box.replaceChildren(...found.slice(from, from + kCardsAPage).map(limitCard));
    where.textContent = found.length === 0 ? `no function has "${limitsState.search}" in its name` : `${from + 1} to ${Math.min(from + kCardsAPage, found.length)} of ${count(found.length)} functions`;
    back.disabled = limitsState.page === 0;
    on.disabled = limitsState.page >= pages - 1;
    redrawAll(box);
  };
  limitsState.search = addressOf().chosen.get("search") ?? "";
  const turn = (by) => () => { limitsState.page += by; fill(); };
  const back = el("button", { type: "button", onclick: turn(-1) }, "Previous"), on = el("button", { type: "button", onclick: turn(1) }, "Next");
  const search = el("input", { type: "search", value: limitsState.search, oninput: () => { limitsState.search = search.value; limitsState.page = 0; keepInAddress({ search: search.value }); fill(); } });
  fill();
  return [heading("Against the limit"), intro, el("div", { class: "row" }, labelled("Function", search), back, on, where),
    allocatorLegend(["", "MaxLive", "dashed"]), box];
}

function limitCard(ks) {
  const one = (title, of, measure) => chart({
    title: null, height: 170, left: 46,
    label: `${title} of ${nameOf(ks[0])} by limit: ` + allocators.map((a) => `${a} ${ks.map((k) => `${cases.limit[k]}: ${of(k, a) ?? "none"}`).join(", ")}`).join("; "),
    draw(g, width, height) {
      const most = d3.max(ks, (k) => Math.max(measure?.(k) ?? 0, ...allocators.map((a) => of(k, a) ?? 0)));
      const x = d3.scalePoint(ks.map((k) => cases.limit[k]), [0, width]).padding(0.3), y = d3.scaleLinear([0, Math.max(most, 4)], [height, 0]).nice();
      g.append("g").attr("class", "rule").selectAll("line").data(y.ticks(4)).join("line").attr("x2", width).attr("y1", y).attr("y2", y);
      g.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x));
      g.append("g").call(d3.axisLeft(y).ticks(4, ".3~s"));
      g.append("text").attr("x", -6).attr("y", -9).text(title);
      g.append("text").attr("x", width).attr("y", height + 33).attr("text-anchor", "end").text("limit");
      for (const a of allocators) {
        const own = ks.filter((k) => of(k, a) !== null);
        g.append("path").attr("class", "series").attr("stroke", colour(a)).attr("d", d3.line((k) => x(cases.limit[k]), (k) => y(of(k, a)))(own));
        withTip(g.append("g").selectAll("circle").data(own).join("circle").attr("class", "dot").attr("fill", colour(a)).attr("stroke", colour(a))
          .attr("r", allocators.indexOf(a) === 0 ? 4.5 : 3).attr("cx", (k) => x(cases.limit[k])).attr("cy", (k) => y(of(k, a)))
          .on("click", (event, k) => { location.hash = `#/case/${k}`; }),
          (k) => `${nameOf(k)} at ${cases.limit[k]}\n${nick(a)}: ${count(of(k, a))} ${title}`);
      }
      if (measure) g.append("path").attr("class", "bound").attr("d", d3.line((k) => x(cases.limit[k]), (k) => y(measure(k) ?? 0))(ks));
    },
  });
  return el("article", {}, el("h3", {}, nameOf(ks[0]), el("span", { class: "quiet" }, ` MaxLive ${cases.max_live[ks[0]] ?? "unknown"}`)),
    one("registers", (k, a) => figure(k, a, "registers"), maxLiveOf), one("spill bytes, stores and loads", spillBytes),
    figuresOf(`${nameOf(ks[0])} by limit`, ["limit", "MaxLive", ...allocators.flatMap((a) => [`${nick(a)} registers`, `${nick(a)} spill bytes`]), "page"],
      () => ks.map((k) => [cases.limit[k], maxLiveOf(k), ...allocators.flatMap((a) => [figure(k, a, "registers"), spillBytes(k, a)]),
        el("a", { href: `#/case/${k}` }, "open")])));
}

// --- production against reference

const scatterState = { measure: "weighted_spill_bytes" };

function scatterPage(run) {
  if (!reference) return [heading("Scatter"), empty("There is one allocator in this database: nothing to hold it against.")];
  const box = el("div", {});
  scatterState.measure = measures[addressOf().chosen.get("measure")] ? addressOf().chosen.get("measure") : "weighted_spill_bytes";
  const fill = () => {
    box.replaceChildren(...scatter(casesOf(run), scatterState.measure));
    redrawAll(box);
  };
  const pick = choice(Object.entries(measures), scatterState.measure, (m) => { scatterState.measure = m; keepInAddress({ measure: m }); fill(); });
  fill();
  return [heading(`${nick(production)} against ${nick(reference)}`),
    el("p", { class: "quiet" }, `A dot is one or more cases that passed with both. Below the line ${nick(production)} has less, which is better.`),
    el("div", { class: "row" }, labelled("Measure", pick)), box];
}

function scatter(ks, measure) {
  const points = new Map();
  let less = 0, more = 0, same = 0;
  for (const k of ks) {
    const y = figure(k, production, measure), x = figure(k, reference, measure);
    if (x === null || y === null || figure(k, production, "verdict") !== "pass" || figure(k, reference, "verdict") !== "pass") continue;
    y < x ? ++less : y > x ? ++more : ++same;
    const key = `${x} ${y}`;
    if (points.has(key)) points.get(key).ks.push(k);
    else points.set(key, { x, y, ks: [k] });
  }
  const all = [...points.values()];
  if (all.length === 0) return [empty("No case passed with both in what is chosen.")];
  const most = d3.max(all, (p) => Math.max(p.x, p.y)), sum = `${production} less in ${count(less)}, alike in ${count(same)}, more in ${count(more)} cases`;
  const radius = (p) => Math.min(9, 2.5 + Math.log2(p.ks.length));
  const far = [...all].sort((a, b) => Math.abs(Math.log((b.y + 16) / (b.x + 16))) - Math.abs(Math.log((a.y + 16) / (a.x + 16))));
  return [el("p", {}, sum + "."), chart({
    title: null, height: Math.min(560, Math.max(320, innerHeight - 260)), left: 56, label: `Scatter of ${measures[measure]}: ${sum}`,
    draw(g, width, height) {
      const x = wide(most, [0, width]), y = wide(most, [height, 0]);
      wideAxes(g, x, y, width, height, most, { xLabel: `${nick(reference)}: ${measures[measure]}`, yLabel: `${nick(production)}: ${measures[measure]}` });
      g.append("line").attr("class", "bound").attr("x1", x(0)).attr("y1", y(0)).attr("x2", x(most)).attr("y2", y(most));
      withTip(g.append("g").selectAll("circle").data(all).join("circle").attr("class", "dot").attr("cx", (p) => x(p.x)).attr("cy", (p) => y(p.y)).attr("r", radius)
        .attr("fill", (p) => (p.y > p.x ? "var(--s1)" : p.y < p.x ? "var(--s0)" : "var(--skipped)"))
        .on("click", (event, p) => { location.hash = `#/case/${p.ks[0]}`; }),
        (p) => `${p.ks.length > 1 ? `${count(p.ks.length)} cases, such as ` : ""}${nameOf(p.ks[0])}\n${nick(production)} ${count(p.y)}, ${nick(reference)} ${count(p.x)}`);
    },
    keys: legend([["var(--s0)", `${nick(production)} less`], ["var(--s1)", `${nick(production)} more`], ["var(--skipped)", "alike"]]),
    figures: figuresOf("Those furthest apart first", ["function", nick(production), nick(reference), "cases"],
      () => far.map((p) => [el("a", { href: `#/case/${p.ks[0]}` }, nameOf(p.ks[0])), p.y, p.x, p.ks.length])),
  })];
}

// --- gaps

function gapsPage(run) {
  const ks = casesOf(run);
  const passed = (a) => ks.filter((k) => figure(k, a, "verdict") === "pass");
  const registers = allocators.map((a) => [a, passed(a).map((k) => registerGap(k, a)).filter((x) => x !== null)]).filter(([, v]) => v.length > 0);
  // Where nothing has to be refilled and nothing is, the bound says nothing.
  const refills = allocators.map((a) => [a, passed(a).filter((k) => cases.fewest_refill_bytes[k] > 0 || refillGap(k, a) > 0)
    .map((k) => refillGap(k, a)).filter((x) => x !== null)]).filter(([, v]) => v.length > 0);
  const spills = reference ? passed(production).filter((k) => figure(k, reference, "verdict") === "pass").map(spillGap).filter((x) => x !== null) : [];
  const differing = spills.filter((x) => x !== 0);
  return [heading("Registers beyond MaxLive"),
    el("p", { class: "quiet" }, "Registers in use, less MaxLive (or the highest register that an operand is fixed to, at most the limit); cases that passed. MaxLive is no bound. Negative: values that are equal share a register, and what is rematerialised or in memory needs none."),
    registers.length === 0 ? empty("No figures in what is chosen.") : histogram("registers beyond MaxLive", registers, true),
    refills.length === 0 ? [] : [heading("Refilled bytes beyond Belady\u2019s"),
      el("p", { class: "quiet" }, "What refills move, less the fewest bytes that any allocation moves at that limit (Belady\u2019s choice; it counts file R alone, and no value that can be had without a refill); cases that passed, without branches, and that refill."),
      histogram("refilled bytes beyond Belady\u2019s", refills, true)],
    heading(`Spill bytes, ${nick(production)} against ${nick(reference ?? "nothing")}`),
    el("p", { class: "quiet" }, "log2 of (a + 16) / (b + 16) over weighted spill bytes: 0 alike, 1 twice as many, \u22121 half as many."),
    spills.length === 0 ? empty("No case passed with two allocators in what is chosen.")
      : [el("p", {}, `${count(spills.length - differing.length)} of ${count(spills.length)} cases are alike and are not drawn.`),
        differing.length === 0 ? [] : histogram("log2 of the ratio of spill bytes", [[production, differing]], false)]];
}

function histogram(what, groups, isWhole) {
  const values = groups.flatMap(([, v]) => v);
  // The furthest 2 in 1,000 at each end stand in the last bins; 0 is always in sight.
  const least = isWhole ? 8 : 1;
  const low = Math.min(-least, d3.quantile(values, 0.002)), high = Math.max(least, d3.quantile(values, 0.998));
  const clamped = groups.map(([a, v]) => [a, v.map((x) => Math.max(low, Math.min(high, x)))]);
  // A bin begins at 0; bins of whole registers begin half a register before them.
  const step = isWhole ? Math.max(1, Math.ceil((high - low) / 40)) : Math.max((high - low) / 36, 0.01);
  const from = Math.floor(low / step) * step - (isWhole ? 0.5 : 0), bins = Math.max(1, Math.ceil((high - from) / step + 1e-9));
  const edges = d3.range(bins + 1).map((k) => from + k * step);
  const bin = d3.bin().domain([edges[0], edges.at(-1)]).thresholds(edges.slice(1, -1));
  const data = clamped.map(([a, v]) => ({ a, bins: bin(v) }));
  const quantiles = ([a, v]) => [nick(a), v.length, ...[0, 0.05, 0.25, 0.5, 0.75, 0.95, 1].map((q) => Math.round(d3.quantile(v, q) * 1000) / 1000)];
  const head = ["allocator", "cases", "least", "5%", "25%", "median", "75%", "95%", "most"];
  return el("div", {}, chart({
    title: null, height: 260, label: `Distribution of ${what}: ` + groups.map(quantiles).map((q) => `${q[0]} median ${q[5]}, 5% ${q[3]}, 95% ${q[7]}`).join("; "),
    draw(g, width, height) {
      const x = d3.scaleLinear([edges[0], edges.at(-1)], [0, width]);
      const y = d3.scaleSqrt([0, d3.max(data, (d) => d3.max(d.bins, (b) => b.length))], [height, 0]).nice();
      axes(g, x, y, width, height, { xLabel: what, yLabel: "cases (square root scale)", yTicks: 5, isWhole: true });
      // What lies beyond stands in the last bins.
      const end = (at, text, anchor) => g.append("text").attr("x", at).attr("y", height + 20).attr("text-anchor", anchor).attr("class", "endbin").text(text);
      if (d3.min(values) < low) end(0, `\u2264 ${signed(Math.round(low * 100) / 100)}`, "start");
      if (d3.max(values) > high) end(width, `\u2265 ${signed(Math.round(high * 100) / 100)}`, "end");
      data.forEach(({ a, bins }, at) => {
        const part = (b) => Math.max(1, (x(b.x1) - x(b.x0) - 2) / data.length);
        withTip(g.append("g").selectAll("rect").data(bins.filter((b) => b.length > 0)).join("rect").attr("fill", colour(a))
          .attr("x", (b) => x(b.x0) + 1 + at * part(b)).attr("width", part).attr("y", (b) => y(b.length)).attr("height", (b) => height - y(b.length)),
          (b) => `${a}: ${count(b.length)} cases\n${isWhole && step === 1 ? Math.round((b.x0 + b.x1) / 2) : `${b.x0.toFixed(2)} to ${b.x1.toFixed(2)}`}`);
      });
    },
    keys: groups.length > 1 ? legend(groups.map(([a]) => [colour(a), nick(a)])) : null,
  }), table(`Quantiles of ${what}`, head, groups.map(quantiles)));
}
