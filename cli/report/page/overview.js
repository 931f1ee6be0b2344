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
      ["Findings", count(report.findings.length)],
      ["Objections", count(report.objections.filter((o) => run < 0 || cases.run[o.case] === run).length)],
      ...(seconds > 0 && tried > 0 ? [["Programs a second", short(tried / seconds)]] : []),
      ...(seconds > 0 ? [["Time", `${count(seconds)} s`]] : []),
    ].map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    heading("Verdicts"), verdictTable(sums),
    heading("Quality"), ...qualityTables(ks),
    heading("Over time"), ...overTime(shown),
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
    ["allocator", ...Object.values(measures), "spilling", "least spill"],
    names.map((a) => [nick(a), ...Object.keys(measures).map((m) => d3.sum(ks, (k) => figure(k, a, m) ?? 0)),
      share(ks.filter((k) => spillBytes(k, a) > 0).length, ks.length), share(best(a), ks.length)]));
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
  return table("Runs of regduel that wrote into this database",
    ["run", "command", "mode", "seed", "programs", "seconds", "started", "version", "machine"],
    runs.map((r) => [String(r.id), r.command || "-", r.mode || "-", r.seed === null ? "-" : String(r.seed),
      r.next === null || r.next === r.first ? "-" : `${r.first} to ${r.next}`, r.seconds, moment(r.started), r.program, r.machine || "-"]), "words");
}
