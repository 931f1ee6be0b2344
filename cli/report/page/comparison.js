"use strict";
// Two runs held against each other: what `regduel compare` says (cli/report/comparison_part.h).

// At first one that has changed.
let shownSection = comparison ? Math.max(0, comparison.sections.findIndex((s) => s.measures.some((m) => m.less + m.more > 0))) : 0;
const comparisonTitle = () => {
  const side = (s) => `${s.database}, run ${s.run}`, { old, new: newer } = comparison;
  return old.database === newer.database && old.run === newer.run ? side(old) : `${side(old)} \u2192 ${side(newer)}`;
};
const percent = (ratio) => `${signed(((ratio - 1) * 100).toFixed(2))}%`;
const measureName = (m) => measures[m] ?? m.replaceAll("_", " ");
const isSignificant = (m) => m.p_adjusted < comparison.alpha;

function comparisonPage() {
  const section = comparison.sections[shownSection], { old, new: newer } = comparison;
  const changed = section.measures.filter((m) => m.less + m.more > 0), same = section.measures.filter((m) => m.less + m.more === 0);
  return [heading(section.title),
    table("What is compared", ["side", "database", "run", "command", "version", "machine"],
      [["old", old], ["new", newer]].map(([name, s]) => [name, s.database, String(s.run), s.command || "-", s.version, s.machine || "-"]), "words"),
    el("p", {}, countsOf(section)),
    [["old", old], ["new", newer]].filter(([, s]) => !s.made_again).map(([name, s]) => el("p", { class: "empty" },
      `The ${name} run is of another version of the program (${s.version}; this report is of ${report.regduel}): of its allocations the figures are known, and their programs are not.`)),
    section.verdicts.length === 0 ? [] : [heading("Verdicts that changed"),
      paged("Pairs of which one passed and the other did not", ["function", "limits", "old", "new", "reason"],
        section.verdicts.map((v) => () => [caseLink(v.case), limitsText(v.case), el("span", { class: v.old }, v.old), el("span", { class: v.new }, v.new), v.reason || "-"]), "words")],
    heading("Measures"),
    section.passed === 0 ? empty("There is nothing to compare: no pair passed on both sides.")
      : [changed.length === 0 ? empty("All measures are the same in all pairs.") : [intervalChart(section, changed), measureTable(section, changed)],
        changed.length === 0 || same.length === 0 ? null : el("p", { class: "quiet" }, `The same in all pairs: ${same.map((m) => measureName(m.measure)).join(", ")}.`),
        changed.length === 0 ? [] : programsPart(section, changed)]];
}

function countsOf(s) {
  const parts = [`${count(s.pairs)} ${s.pairs === 1 ? "pair" : "pairs"} of ${nick(s.old)} and ${nick(s.new)}, of which both passed ${count(s.passed)}`];
  if (s.only_old + s.only_new > 0) parts.push(`${count(s.only_old)} rows are only old, ${count(s.only_new)} only new`);
  if (s.changed_inputs > 0) parts.push(`${count(s.changed_inputs)} of them have another input of the same name`);
  if (s.changed_knobs > 0) parts.push(`${count(s.changed_knobs)} of them have other knobs (--across-knobs pairs those)`);
  return `${parts.join("; ")}.`;
}
const caseLink = (k) => (k < 0 ? "-" : el("a", { href: `#/case/${k}` }, nameOf(k)));
const limitsText = (k) => (k < 0 ? "-" : `${texts[cases.target[k]]} ${limitsOf(k) || "no limit"}`);

// A line a measure: from the low end of the interval to its high one, on a scale of ratios.
function intervalChart(section, changed) {
  const row = innerWidth > 600 ? 26 : 36, text = (m) => `${measureName(m.measure)} ${percent(m.ratio)}, from ${percent(m.low)} to ${percent(m.high)}${isSignificant(m) ? ", significant" : ""}`;
  return chart({
    title: null, height: changed.length * row + 58, left: 8, top: 6,
    label: `Change of the geometric mean with its interval of 95%: ${changed.map(text).join("; ")}`,
    keys: legend([["var(--s0)", "less"], ["var(--s1)", "more"], ["var(--skipped)", "not significant"], ["", "no change", "dashed"]]),
    draw(g, width, height) {
      // Names stand above their lines where there is no room beside them.
      const names = width > 560 ? 190 : 0, low = Math.min(0.98, d3.min(changed, (m) => m.low)), high = Math.max(1.02, d3.max(changed, (m) => m.high));
      const x = d3.scaleLog([low, high], [names + 8, width - 8]), y = (k) => k * row + (names ? row / 2 : row - 6);
      const all = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1, 1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 100, 1000].filter((t) => t >= low && t <= high);
      const ticks = all.filter((t) => t === 1);  // from the middle outwards, those with room
      for (const t of [...all].sort((a, b) => Math.abs(Math.log(b)) - Math.abs(Math.log(a)))) if (ticks.every((s) => Math.abs(x(s) - x(t)) > 56)) ticks.push(t);
      g.append("g").attr("class", "rule").selectAll("line").data(ticks).join("line").attr("x1", x).attr("x2", x).attr("y1", 0).attr("y2", height);
      g.append("path").attr("class", "bound").attr("d", `M${x(1)},0V${height}`);
      g.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).tickValues(ticks).tickFormat((t) => `${signed(Math.round((t - 1) * 100))}%`)).selectAll(".domain").remove();
      g.append("text").attr("x", width).attr("y", height + 36).attr("text-anchor", "end").text("change of the geometric mean");
      const paint = (m) => (!isSignificant(m) ? "var(--skipped)" : m.ratio < 1 ? "var(--s0)" : "var(--s1)");
      const lines = withTip(g.append("g").selectAll("g").data(changed).join("g"), text);
      lines.append("text").attr("x", 0).attr("y", (m, k) => (names ? y(k) + 4 : y(k) - 7)).text((m) => measureName(m.measure));
      lines.append("rect").attr("class", "hit").attr("x", 0).attr("width", width).attr("y", (m, k) => k * row).attr("height", row);
      lines.append("line").attr("stroke", paint).attr("stroke-width", 3).attr("x1", (m) => x(m.low)).attr("x2", (m) => x(m.high)).attr("y1", (m, k) => y(k)).attr("y2", (m, k) => y(k));
      lines.append("circle").attr("r", 5).attr("fill", paint).attr("cx", (m) => x(m.ratio)).attr("cy", (m, k) => y(k));
    },
  });
}

function measureTable(section, changed) {
  const p = (x) => (x !== 0 && x < 0.001 ? x.toExponential(1) : x.toFixed(3));
  return [table(`Over the ${count(section.passed)} pairs that both passed`, ["measure", "old", "new", "less", "same", "more", "change", "95% interval", "p", "effect", "significant"],
    changed.map((m) => [el("span", { title: m.what }, measureName(m.measure)), m.old, m.new, m.less, m.pairs - m.less - m.more, m.more, percent(m.ratio), `${percent(m.low)} to ${percent(m.high)}`, p(m.p_adjusted), signed(m.effect.toFixed(2)), isSignificant(m) ? "yes" : "no"]), "numbers"),
    el("p", { class: "quiet" }, "old, new: sums. less, same, more: pairs. change: of the geometric mean of the ratios, with its interval (bootstrap). p: Wilcoxon\u2019s signed-rank test, adjusted for the number of measures (Holm). effect: \u22121 all less, 1 all more.")];
}

function programsPart(section, changed) {
  const asked = addressOf().chosen.get("measure"), box = el("div", {});
  const usual = changed.find((m) => m.measure === "weighted_spill_bytes") ?? changed[0];
  let chosen = changed.find((m) => m.measure === asked) ?? usual;
  const list = (title, changes) => (changes.length === 0 ? empty(`${title}: there is none.`)
    : table(title, ["function", "limits", "old", "new", "change", "in detail"], changes.map((c) => [caseLink(c.case), limitsText(c.case), c.old, c.new, percent(c.ratio), c.case >= 0 && cases.detail[c.case] >= 0 ? "yes" : ""])));
  const fill = () => {
    const name = measureName(chosen.measure);
    box.replaceChildren(el("div", { class: "grid" }, list(`Most more ${name}`, chosen.worst), list(`Most less ${name}`, chosen.best)),
      ...(measures[chosen.measure] ? [el("h3", {}, `${nick(section.new)} against ${nick(section.old)}, ${name}`), ...scatter(casesOf(-1), chosen.measure)] : []));
    redrawAll(box);
  };
  const pick = choice(changed.map((m) => [m.measure, measureName(m.measure)]), chosen.measure, (m) => { chosen = changed.find((one) => one.measure === m); keepInAddress({ measure: m }); fill(); });
  fill();
  return [heading("Programs"), el("div", { class: "row" }, labelled("Measure", pick)), box];
}
