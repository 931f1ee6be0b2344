"use strict";
// The document of the report (cli/report/document.h says what is in it), and questions about it. Everything else reads it here.
const report = JSON.parse(document.getElementById("document").textContent);
const { allocators, cases, programs, texts } = report;
// Of two runs held against each other; null in a report of one database.
const comparison = report.comparison ?? null;
// What the charts hold against each other: of a comparison the newer side of what is chosen and the older one.
let [production, reference] = allocators;
const numberOfCases = cases.run.length;

const measures = {
  registers: "registers",
  weighted_spill_bytes: "weighted spill bytes",
  spill_store_bytes: "spill store bytes",
  spill_load_bytes: "spill load bytes",
  weighted_copies: "weighted copies",
  remats: "rematerialised",
  bank_conflicts: "bank conflicts",
  estimated_latency: "estimated latency, cycles",
  instructions: "instructions after",
  microseconds: "microseconds of allocation",
  heap_bytes: "bytes of memory while allocating",
};

const figure = (k, allocator, measure) => cases.of[allocator]?.[measure][k] ?? null;
const spillBytes = (k, allocator) => {
  const stores = figure(k, allocator, "spill_store_bytes"), loads = figure(k, allocator, "spill_load_bytes");
  return stores === null || loads === null ? null : stores + loads;
};
// Random programs all have one name: their source says more; "standard mix 1/22" is case 22 of seed 1.
const nameOf = (k) => {
  const p = cases.program[k];
  return programs.name[p] === "generated" ? programs.source[p].replace(/, seed (\d+), case (\d+)$/, " $1/$2") : programs.name[p];
};
// What is live at one point, or the highest register that an operand is fixed to, at most the limit. No bound: values that are equal may share a
// register, and what is computed again needs none.
const maxLiveOf = (k) => {
  const live = cases.max_live[k], limit = cases.limit[k];
  if (live === null) return null;
  const most = Math.max(live, programs.fixed[cases.program[k]] ?? 0);
  return limit === null ? most : Math.min(most, limit);
};
const registerGap = (k, allocator) => {
  const used = figure(k, allocator, "registers"), live = maxLiveOf(k);
  return used === null || live === null ? null : used - live;
};
// What refills move beyond the fewest bytes that any allocation moves; null where no such bound is known.
const refillGap = (k, allocator) => {
  const loads = figure(k, allocator, "spill_load_bytes"), fewest = cases.fewest_refill_bytes[k];
  return loads === null || fewest === null ? null : loads - fewest;
};
// log2 of (production + offset) / (reference + offset): 0 = alike, 1 = twice as many, -1 = half.
const spillGap = (k) => {
  const ours = figure(k, production, "weighted_spill_bytes"), theirs = reference ? figure(k, reference, "weighted_spill_bytes") : null;
  return ours === null || theirs === null ? null : Math.log2((ours + report.spill_offset) / (theirs + report.spill_offset));
};
// One word of all allocators: the worst.
const verdictOf = (k) => {
  const all = allocators.map((a) => figure(k, a, "verdict"));
  return ["fail", "inconclusive", "pass", "impossible", "unsupported"].find((v) => all.includes(v)) ?? "none";
};
const reasonOf = (k, allocator) => texts[figure(k, allocator, "reason")] ?? "";

// The allocator that stands under a name of this report.
const playerOf = (name) => report.columns?.[name]?.allocator ?? name;
const sideOf = (name) => report.columns?.[name]?.side ?? 1;
// An allocator's name in headings: the command of an external program stands without its paths.
const nick = (name) => {
  const allocator = playerOf(name), side = name.slice(allocator.length);
  const text = allocator.replace(/^(.*\+)?exec:/, "$1").replace(/(\S*)\//g, "").replace(/^(python3?|bash|sh|node) /, "");
  return (text.length > 40 ? `${text.slice(0, 39)}\u2026` : text) + side;
};
const tag = (name) => nick(name).split(" ")[0].slice(0, 14) + name.slice(playerOf(name).length);
// "mix 1/2" stands before "mix 1/10".
const byName = new Intl.Collator("en", { numeric: true }).compare;
// Those that a run has.
const allocatorsOf = (run) => allocators.filter((a) => casesOf(run).some((k) => figure(k, a, "verdict") !== null));

// Cases of the run that is shown: all of them where it is -1.
const casesOf = (run) => d3.range(numberOfCases).filter((k) => run < 0 || cases.run[k] === run);
// What is shown first: the last run with rows of its own.
const firstRun = () => (comparison ? -1 : numberOfCases > 0 ? cases.run[numberOfCases - 1] : report.runs.length > 0 ? report.runs.length - 1 : -1);

// --- the address: #/PAGE?NAME=VALUE&...: what is chosen on the page, so that a link shows the same
const addressOf = () => {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/"), chosen: new URLSearchParams(query) };
};
// Values that are the usual ones need no word.
function keepInAddress(values) {
  const { path, chosen } = addressOf();
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === "") chosen.delete(name);
    else chosen.set(name, value);
  }
  const query = chosen.toString();
  history.replaceState(history.state, "", `#/${path.join("/")}${query ? `?${query}` : ""}`);
}

const shellWord = (s) => (/^[\w@%+=:,./-]+$/.test(s) ? s : `'${s.replaceAll("'", "'\\''")}'`);
// Files that are limited to their own size need no word.
const limitsOf = (k) => {
  const own = report.targets[texts[cases.target[k]]] ?? {};
  return texts[cases.limits[k]].split(" ").filter((l) => String(own[l.split("=")[0]]) !== l.split("=")[1]).join(" ");
};
const settings = (text, option) => (text === "" ? [] : text.split(/ (?=\S+=)/).map((s) => `${option} ${shellWord(s)}`));
// How the case is played again: its program comes out of the database. Of a comparison: on a side (1 = the newer one), with its knobs.
const fileOf = (k) => `${programs.hash[cases.program[k]]}.rir`;
const commandOf = (k, side = 1) => {
  const names = allocators.filter((a) => figure(k, a, "verdict") !== null && sideOf(a) === side).map(playerOf);
  if (names.length === 0) return null;
  const database = comparison ? (side === 0 ? comparison.old : comparison.new).database : report.database, knobs = side === 0 ? cases.older_knobs : cases.knobs;
  return ["regduel export", shellWord(database), "--program", programs.hash[cases.program[k]], "-o", fileOf(k), "&& regduel duel", fileOf(k), "--with", shellWord(names.join(",")), "--sm", texts[cases.target[k]].replace(/\D/g, ""),
    ...settings(limitsOf(k), "--limit"), ...settings(texts[knobs[k]], "--knob")].join(" ");
};

const count = (n) => d3.format(Number.isInteger(n) ? ",d" : ",")(n);
const short = d3.format(".3~s");
const share = (part, whole) => (whole > 0 ? d3.format(".1%")(part / whole) : "-");
const signed = (x) => (x > 0 ? `+${x}` : `${x}`).replace("-", "\u2212");
const moment = (seconds) => (seconds === null ? "-" : new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC");
