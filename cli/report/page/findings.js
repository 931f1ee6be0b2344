"use strict";
// Findings of campaigns, what judges objected to in duels, and sightings that are not reduced yet.

const isGap = (f) => /^(gap|cliff)\//.test(f.signature);
function findingsPage(run) {
  const objections = report.objections.filter((o) => run < 0 || cases.run[o.case] === run);
  const all = report.findings.map((f, at) => [f, at]), gaps = all.filter(([f]) => isGap(f)), failures = all.filter(([f]) => !isGap(f));
  const campaigns = comparison ? [] : [heading("Findings"),
    el("p", { class: "quiet" }, "One bug, one finding: its smallest case, of all runs. The judges' reports are of this version of regduel, which judged the case again; of an allocator that is a program they judged the answer that was kept."),
    failures.length === 0 ? empty("There are no findings of campaigns in this database.") : failures.map(([f, at]) => findingCard(f, at)),
    gaps.length === 0 ? [] : [heading("Gaps of quality"),
      el("p", { class: "quiet" }, "Programs on which one allocator is that much worse than another (regduel fuzz --gap), or than it usually is (--cliff), reduced. All are right: these are observations."),
      gaps.map(([f, at]) => findingCard(f, at))]];
  return [...campaigns, heading("Objections"),
    comparison ? el("p", { class: "quiet" }, "Of the compared runs. Findings of campaigns are in the report of their own database.") : null,
    objections.length === 0 ? empty("No judge objected to an allocation that has a row of its own.")
      : paged("What judges said of allocations, as they said it", ["function", "allocator", "signature", "message"],
        objections.map((o) => () => [el("a", { href: `#/case/${o.case}` }, nameOf(o.case)), nick(o.allocator), o.signature, o.message]), "words"),
    report.sightings.length === 0 ? [] : [heading("Sightings"),
      paged("Failures as campaigns saw them, before they were reduced", ["allocator", "signature", "cases", "message"],
        report.sightings.map((s) => () => [nick(s.allocator), s.signature, s.count, s.message]), "words")]];
}

function judgesTable(allocations) {
  const judges = allocations[0]?.judges.map((j) => j.judge) ?? [];
  const names = [...new Set(allocations.flatMap((a) => a.judges.map((j) => j.judge)))];
  return table("What each judge says", ["judge", ...allocations.map((a) => nick(a.allocator))],
    (names.length ? names : judges).map((name) => [name, ...allocations.map((a) => {
      const j = a.judges.find((one) => one.judge === name);
      return j ? el("span", { class: j.verdict }, j.verdict + (j.reason ? `: ${j.reason}` : "")) : "-";
    })]), "words");
}
const messages = (allocations) => {
  const all = allocations.flatMap((a) => a.findings.map((f) => [nick(a.allocator), f.signature, f.message]));
  return all.length === 0 ? [] : table("Objections", ["allocator", "signature", "message"], all, "words");
};

// A bucket begins with the allocator's name.
const titleOf = (f) => f.bucket.replace(f.allocator, nick(f.allocator));
const findingFile = (at) => `finding-${at}.rir`;
const findingCommand = (at) =>
  `regduel duel ${report.findings[at].signature.startsWith("metamorphic/") ? "--metamorphic " : ""}${report.findings[at].arguments} ${findingFile(at)}`;

// A report starts no program: of an allocator that is one it has what the campaign saw.
const isJudged = (f, detail) => detail.allocations.some((a) => a.allocator === f.allocator);
function asSeen(f) {
  const seen = report.sightings.find((s) => s.allocator === f.allocator && s.signature === f.signature);
  return el("p", {}, seen ? [el("b", {}, "A judge said: "), seen.message] : el("span", { class: "quiet" }, "The judges' reports: by the command above."));
}

function findingCard(f, at) {
  const detail = report.details[f.detail];
  return el("article", { "aria-labelledby": `finding${at}` }, el("h3", { id: `finding${at}` }, titleOf(f)),
    el("p", {}, el("span", { title: f.allocator }, `${nick(f.allocator)}: `), el("code", {}, f.signature), `. ${count(f.count)} ${f.count === 1 ? "case" : "cases"}, `, el("b", {}, f.state),
      `; seen from ${moment(f.first_seen)} to ${moment(f.last_seen)} by ${f.version}.`, f.decision ? ` First bad decision: ${f.decision}.` : ""),
    el("div", { class: "row" }, saveButton(f.program, findingFile(at)), detail ? el("a", { href: `#/finding/${at}` }, "In detail") : el("span", { class: "quiet" }, "no details: see --details")),
    command(findingCommand(at)),
    detail && isJudged(f, detail) ? [judgesTable(detail.allocations), messages(detail.allocations)] : asSeen(f),
    el("details", { open: report.findings.length <= 3 }, el("summary", {}, `Reduced program, ${count(f.instructions)} instructions`),
      el("pre", { tabindex: 0, role: "region", "aria-label": "Reduced program" }, f.program)));
}
