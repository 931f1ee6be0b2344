"use strict";
// Which page is shown: the part of the address after #. The theme, the run, the width.

const pages = {
  ...(comparison ? { comparison: ["Comparison", comparisonPage] } : {}),
  overview: ["Overview", overviewPage],
  limits: ["Limits", limitsPage],
  scatter: ["Scatter", scatterPage],
  gaps: ["Gaps", gapsPage],
  functions: ["Functions", functionsPage],
  findings: ["Findings", findingsPage],
};
const firstPage = Object.keys(pages)[0];
let shownRun = firstRun();

// Of a comparison: the section whose sides the charts hold against each other.
function chooseSection(at) {
  shownSection = comparison.sections[at] ? at : 0;
  const { old, new: newer } = comparison.sections[shownSection];
  [production, reference] = [newer, old];
}

// Charts know their width only when they stand in the page.
function redrawAll(box) {
  if (!box.isConnected) return;
  for (const e of box.querySelectorAll("figure, .functions")) e.redraw?.();
}

function showPage(isNavigation) {
  const { path: [page = firstPage, argument], chosen } = addressOf();
  const run = chosen.get("run");
  if (comparison) chooseSection(chosen.has("pair") ? Number(chosen.get("pair")) : shownSection);
  else if (run !== null) shownRun = run === "all" ? -1 : report.runs.findIndex((r) => String(r.id) === run);
  runChoice.value = String(comparison ? shownSection : shownRun);
  const main = document.getElementById("main");
  tip(null, null);
  const parts = page === "case" ? casePage(Number(argument)) : page === "finding" ? findingPage(Number(argument)) : (pages[page] ?? pages[firstPage])[1](shownRun);
  main.replaceChildren(...parts.flat(Infinity).filter((p) => p !== null && p !== undefined));
  redrawAll(main);
  const tab = page === "case" ? "functions" : page === "finding" ? "findings" : pages[page] ? page : firstPage;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === `#/${tab}`) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  document.title = `${main.querySelector("h2")?.textContent ?? pages[tab][0]} - regduel report`;
  if (isNavigation) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

function setTheme(isDark) {
  document.documentElement.classList.toggle("dark", isDark);
  document.getElementById("theme").textContent = isDark ? "Light" : "Dark";
  document.getElementById("theme").setAttribute("aria-label", isDark ? "Light colours" : "Dark colours");
}

document.getElementById("database").textContent = comparison ? comparisonTitle() : report.database;
document.getElementById("tabs").append(...Object.entries(pages).map(([key, [title]]) => el("li", {}, el("a", { href: `#/${key}` }, title))));
const runChoice = document.getElementById("run");
if (comparison) document.querySelector("label[for=run]").textContent = "Allocator";
const choices = comparison ? comparison.sections.map((s, k) => [k, s.title]) : [[-1, "all runs"], ...report.runs.map((r, k) => [k, `${r.id}: ${(r.command || r.mode || "run").slice(0, 60)}`])];
runChoice.append(...choices.map(([value, text]) => el("option", { value, selected: value === shownRun }, text)));
runChoice.addEventListener("change", () => {
  if (comparison) shownSection = Number(runChoice.value);
  else shownRun = Number(runChoice.value);
  keepInAddress(comparison ? { pair: shownSection } : { run: shownRun < 0 ? "all" : report.runs[shownRun].id });
  showPage(false);
});
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
setTheme(darkSystem.matches);
darkSystem.addEventListener("change", (event) => setTheme(event.matches));
document.getElementById("theme").addEventListener("click", () => setTheme(!document.documentElement.classList.contains("dark")));
addEventListener("hashchange", () => showPage(true));
let shownWidth = innerWidth, resizing = 0;
addEventListener("resize", () => {
  if (innerWidth === shownWidth) return;
  shownWidth = innerWidth;
  clearTimeout(resizing);
  resizing = setTimeout(() => redrawAll(document.getElementById("main")), 120);
});
showPage(false);
