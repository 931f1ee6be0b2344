"use strict";
// Verdicts, runs, and what a campaign did over time.

function overviewPage(run) {
  const shown = report.runs.filter((r, k) => run < 0 || k === run);
  const sums = {};
  for (const r of shown)
    for (const [allocator, verdicts] of Object.entries(r.verdicts))
      for (const [verdict, n] of Object.entries(verdicts)) (sums[allocator] ??= {})[verdict] = (sums[allocator][verdict] ?? 0) + n;
  const allocations = d3.sum(Object.values(sums), (v) => d3.sum(Object.entries(v), ([name, n]) => (["pass", "fail", "inconclusive"].includes(name) ? n : 0)));
  const seconds = d3.sum(shown, (r) => r.seconds ?? 0);
  const tried = d3.sum(shown, (r) => (r.next === null || r.first === null ? 0 : r.next - r.first));
  const ks = casesOf(run);
  return [
    el("dl", { class: "tiles" }, [
      ["Runs", count(shown.length)],
      ["Allocations judged", count(allocations)],
      ["Cases with a row", count(ks.length)],
      ...(comparison ? [] : [[run < 0 ? "Findings" : "Findings of all runs", count(report.findings.filter((f) => !isGap(f)).length)]]),
      ["Objections", count(report.objections.filter((o) => run < 0 || cases.run[o.case] === run).length)],
      ...(seconds > 0 && tried > 0 ? [["Programs a second", short(tried / seconds)]] : []),
      ...(seconds > 0 ? [["Time", `${count(seconds)} s`]] : []),
    ].map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    heading("Verdicts"), verdictTable(sums),
    heading("Quality"), ...qualityTables(ks), ...paretoCharts(ks),
    ...(comparison ? [] : [heading("Over time"), ...overTime(shown)]),
    heading("Runs"), runTable(shown),
  ];
}

const allVerdicts = ["pass", "fail", "inconclusive", "impossible", "unsupported"];
function verdictTable(sums) {
  const names = allocators.filter((a) => sums[a]);
  if (names.length === 0) return empty("No case has been judged in what is chosen.");
  const verdicts = allVerdicts.filter((v) => ["pass", "fail", "inconclusive"].includes(v) || names.some((a) => sums[a][v]));
  const rows = names.map((a) => {
    const all = d3.sum(Object.values(sums[a]));
    const bar = el("div", { class: "share", "aria-hidden": "true" }, verdicts.filter((v) => sums[a][v]).map((v) =>
      el("i", { style: `flex:${sums[a][v]} 0 0; background:var(--${["impossible", "unsupported"].includes(v) ? "skipped" : v})` })));
    return [el("span", { title: a }, nick(a)), ...verdicts.map((v) => el("span", { class: sums[a][v] ? v : "quiet" }, `${count(sums[a][v] ?? 0)} (${share(sums[a][v] ?? 0, all)})`)), bar];
  });
  return table("Cases by allocator and verdict", ["allocator", ...verdicts, "share"], rows, "numbers");
}

// Sums are over the same cases for all allocators of a table: a table for each set of allocators that competed.
function qualityTables(ks) {
  const names = (k) => allocators.filter((a) => figure(k, a, "registers") !== null);
  const passed = ks.filter((k) => names(k).length > 1 && allocators.every((a) => [null, "pass"].includes(figure(k, a, "verdict"))));
  if (passed.length === 0) return [empty("No program with rows of its own passed with several allocators.")];
  return d3.groups(passed, (k) => names(k).join("\n")).map(([, own]) => qualityTable(own, names(own[0])));
}
function qualityTable(ks, names) {
  const spill = (k, a) => figure(k, a, "weighted_spill_bytes");
  const best = (a) => ks.filter((k) => spill(k, a) !== null && names.every((b) => (spill(k, b) ?? Infinity) >= spill(k, a))).length;
  return table(`Sums over the ${count(ks.length)} cases that passed with ${names.map(nick).join(" and ")}`,
    ["measure", ...names.map(nick)],
    [...Object.entries(measures).map(([m, title]) => [title, ...names.map((a) => d3.sum(ks, (k) => figure(k, a, m) ?? 0))]),
      ["cases that spill", ...names.map((a) => share(ks.filter((k) => spillBytes(k, a) > 0).length, ks.length))],
      ["cases with the least spill", ...names.map((a) => share(best(a), ks.length))]]);
}

// Time of allocation against weighted spill bytes, a point an allocator: what lies below and to the left of all others is on the front.
const corpusOf = (k) => programs.source[cases.program[k]].replace(/, (seed \d+, )?case .*$/, "").replace(/\/[^/]*$/, "");
function paretoCharts(ks) {
  const ofAll = ks.filter((k) => allocators.filter((a) => figure(k, a, "verdict") === "pass" && figure(k, a, "microseconds") !== null).length > 1);
  const corpora = d3.groups(ofAll, corpusOf).filter(([, own]) => own.length > 0).sort((a, b) => b[1].length - a[1].length).slice(0, 6);
  if (corpora.length === 0) return [];
  return [heading("Time against spills"),
    el("p", { class: "quiet" }, "Each allocator a point, over the cases of a corpus that it and another passed: below is fewer weighted spill bytes, to the left is faster."),
    el("div", { class: "grid" }, corpora.map(([corpus, own]) => paretoChart(corpus, own)))];
}
function paretoChart(corpus, ks) {
  const points = allocators.map((a) => ({ a, own: ks.filter((k) => figure(k, a, "verdict") === "pass") })).filter((p) => p.own.length > 0)
    .map(({ a, own }) => ({ a, cases: own.length, time: d3.mean(own, (k) => figure(k, a, "microseconds")), bytes: d3.mean(own, (k) => figure(k, a, "weighted_spill_bytes") ?? 0) }));
  const text = (p) => `${nick(p.a)}: ${short(p.time)} microseconds, ${short(p.bytes)} weighted spill bytes a case`;
  return chart({
    title: `${corpus} (${count(ks.length)} cases)`, height: 230, left: 56, label: `${corpus}: ${points.map(text).join("; ")}`,
    draw(g, width, height) {
      const mostX = d3.max(points, (p) => p.time), mostY = d3.max(points, (p) => p.bytes);
      const x = wide(mostX * 1.2, [0, width]), y = wide(mostY * 1.2, [height, 0]);
      wideAxes(g, x, y, width, height, Math.max(mostX, mostY), { xLabel: "microseconds a case", yLabel: "weighted spill bytes a case" });
      withTip(g.append("g").selectAll("circle").data(points).join("circle").attr("class", "dot").attr("r", 6).attr("cx", (p) => x(p.time)).attr("cy", (p) => y(p.bytes)).attr("fill", (p) => colour(p.a)).attr("stroke", (p) => colour(p.a)), text);
    },
    keys: legend(points.map((p) => [colour(p.a), nick(p.a)])),
    figures: figuresOf(corpus, ["allocator", "cases", "microseconds", "weighted spill bytes"], () => points.map((p) => [nick(p.a), p.cases, Math.round(p.time), Math.round(p.bytes)])),
  });
}

// Sessions one after the other, as one clock that runs only while a campaign does.
function timeline(runs) {
  const points = [];
  let before = 0;
  for (const r of runs) {
    const s = r.samples;
    if (s.time.length === 0) continue;
    const start = Math.min(r.started ?? s.time[0], s.time[0]);
    s.time.forEach((t, k) => points.push({
      at: before + t - start, next: s.next[k], inputs: s.inputs[k], features: s.features[k], edges: s.edges[k], findings: s.findings[k],
      rate: k > 0 && t > s.time[k - 1] ? (s.next[k] - s.next[k - 1]) / (t - s.time[k - 1]) : null,
    }));
    before = points.at(-1).at;
  }
  return points;
}

function overTime(runs) {
  const points = timeline(runs);
  if (points.length < 2)
    return [empty("There are no samples over time in what is chosen: only campaigns (regduel fuzz --db) take them, one a second.")];
  const series = [["rate", "Programs a second"], ["findings", "Failures: findings, and signatures not understood yet"], ["features", "Coverage: features of behaviour"],
    ["inputs", "Inputs in the corpus"], ...(d3.max(points, (p) => p.edges) > 0 ? [["edges", "Coverage: edges of the allocators' code"]] : [])];
  return [el("div", { class: "grid" }, series.map(([key, title]) => {
    const own = points.filter((p) => p[key] !== null);
    const last = own.at(-1), most = d3.max(own, (p) => p[key]);
    return chart({
      title, height: 190, top: 8,
      label: `${title} over ${count(last.at)} seconds: at the end ${count(Math.round(last[key]))}, at most ${count(Math.round(most))}`,
      draw(g, width, height) {
        const x = d3.scaleLinear([0, last.at], [0, width]), y = d3.scaleLinear([0, Math.max(most, 4)], [height, 0]).nice();
        axes(g, x, y, width, height, { xLabel: "seconds", yTicks: 4, yFormat: ".3~s" });
        g.append("path").attr("class", "series").attr("stroke", "var(--s0)")
          .attr("d", d3.line((p) => x(p.at), (p) => y(p[key])).curve(d3.curveStepAfter)(own));
        withTip(g.append("rect").attr("class", "hit").attr("width", width).attr("height", height), () => null)
          .on("mousemove", (event) => {
            const p = own[Math.min(own.length - 1, d3.bisector((q) => q.at).left(own, x.invert(d3.pointer(event)[0])))];
            tip(event, `${count(p.at)} s: ${short(p[key])}`);
          });
      },
      figures: figuresOf(title, ["second", title], () => own.map((p) => [p.at, Math.round(p[key] * 10) / 10])),
    });
  }))];
}

function runTable(runs) {
  return table(comparison ? "The runs that are compared" : "Runs of regduel that wrote into this database",
    ["run", "command", "mode", "seed", "programs", "seconds", "started", "version", "machine"],
    runs.map((r) => [String(r.id), r.command || "-", r.mode || "-", r.seed === null ? "-" : String(r.seed),
      r.next === null || r.next === r.first ? "-" : `${r.first} to ${r.next}`, r.seconds, moment(r.started), r.program, r.machine || "-"]), "words");
}
