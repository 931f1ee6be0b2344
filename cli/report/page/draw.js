"use strict";
// Elements, tables, commands to copy, and the frame that all charts share. Each chart has its figures as a table under it.

// el("p", {class: "quiet", onclick: f}, "text", child, [children])
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
  return e;
}

const heading = (text) => el("h2", {}, text);
const empty = (text) => el("p", { class: "empty" }, text);

// A cell is text, a number, or an element.
function table(caption, head, rows, kind = "") {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", { class: kind }, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c) => el("td", {}, typeof c === "number" ? count(c) : c ?? "-")))))));
}

// Figures of a chart as text; made when they are asked for.
function figuresOf(caption, head, rows) {
  const box = el("details", {}, el("summary", {}, "Figures"));
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1) {
      const all = typeof rows === "function" ? rows() : rows;
      box.append(table(all.length > 300 ? `${caption} (the first 300 of ${count(all.length)})` : caption, head, all.slice(0, 300)));
    }
  });
  return box;
}

// A long table in parts.
function paged(caption, head, rows, kind, size = 50) {
  let at = 0;
  const box = el("div", {}), where = el("span", { class: "quiet", role: "status" });
  const pages = Math.ceil(rows.length / size);
  const fill = () => {
    box.replaceChildren(table(caption, head, rows.slice(at * size, (at + 1) * size).map((make) => make()), kind));
    where.textContent = `${at * size + 1} to ${Math.min(rows.length, (at + 1) * size)} of ${count(rows.length)}`;
    back.disabled = at === 0;
    on.disabled = at === pages - 1;
  };
  const back = el("button", { type: "button", onclick: () => { --at; fill(); } }, "Previous"), on = el("button", { type: "button", onclick: () => { ++at; fill(); } }, "Next");
  fill();
  return pages > 1 ? [el("div", { class: "row" }, back, on, where), box] : [box];
}

function say(text) {
  document.getElementById("said").textContent = text;
}

// A file that is opened has no clipboard everywhere: then the text is selected.
function copyButton(text, what) {
  return el("button", {
    type: "button", "aria-label": `Copy ${what}`,
    onclick: async (event) => {
      const button = event.currentTarget;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
        say(`Copied ${what}`);
      } catch {
        const range = document.createRange();
        range.selectNodeContents(button.parentNode.querySelector("code"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "Selected";
        say(`Selected ${what}`);
      }
    },
  }, "Copy");
}
const command = (text) => el("div", { class: "command" }, el("code", {}, text), copyButton(text, "command"));

function saveButton(text, name) {
  return el("button", {
    type: "button",
    onclick: () => {
      const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
      el("a", { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    },
  }, `Save ${name}`);
}

function tip(event, text) {
  const box = document.getElementById("tip");
  box.hidden = text === null;
  if (text === null) return;
  box.textContent = text;
  const width = box.offsetWidth, height = box.offsetHeight;
  box.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4))}px`;
  box.style.top = `${event.clientY + 16 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 16}px`;
}
const withTip = (selection, text) =>
  selection.on("mousemove", (event, d) => tip(event, text(d))).on("mouseleave", (event) => tip(event, null));

// Of an allocator that the database does not have (a finding is shown with others beside it) the next colour that is free.
const strangers = [];
function colour(allocator) {
  let at = allocators.indexOf(allocator);
  if (at < 0) {
    if (!strangers.includes(allocator)) strangers.push(allocator);
    at = allocators.length + strangers.indexOf(allocator);
  }
  return `var(--s${at % 4})`;
}
const legend = (items) => el("ul", { class: "legend" }, items.map(([style, text, kind]) =>
  el("li", {}, el("i", { class: kind ?? null, style: kind === "dashed" ? null : `background:${style}` }), text)));
const allocatorLegend = (...more) => legend([...allocators.map((a) => [colour(a), nick(a)]), ...more]);

function labelled(label, control) {
  control.id ||= `c${++labelled.next}`;
  return [el("label", { for: control.id }, label), control];
}
labelled.next = 0;
function choice(options, chosen, onchange) {
  const s = el("select", { onchange: () => onchange(s.value) }, options.map(([value, text]) =>
    el("option", { value, selected: String(value) === String(chosen) }, text)));
  return s;
}

// A figure with an svg of its box's width, drawn when it is in the page: draw(g, width, height, svg). What is drawn is an image with a name;
// its figures stand beneath.
function chart({ title, label, height = 240, left = 52, bottom = 36, top = 20, right = 14, draw, figures, keys }) {
  const svg = d3.create("svg").attr("role", "img").attr("aria-label", label ?? title);
  const box = el("figure", {}, title ? el("figcaption", {}, title) : null, keys ?? null, svg.node(), figures ?? null);
  const redraw = () => {
    const width = Math.max(240, box.clientWidth || 600);
    svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height).selectAll("*").remove();
    draw(svg.append("g").attr("transform", `translate(${left},${top})`), width - left - right, height - top - bottom, svg);
  };
  box.redraw = redraw;
  return box;
}

function axes(g, x, y, width, height, { xLabel, yLabel, yTicks = 5, yFormat, isWhole, xIsWhole }) {
  const ticks = y.ticks(yTicks).filter((t) => !isWhole || Number.isInteger(t));
  const bottom = d3.axisBottom(x).ticks(Math.max(2, width / 80)).tickFormat(xIsWhole ? (t) => (Number.isInteger(t) ? d3.format("~s")(t) : "") : null), left = d3.axisLeft(y).tickValues(ticks).tickFormat(d3.format(yFormat ?? "~s"));
  g.append("g").attr("class", "rule").selectAll("line").data(ticks).join("line")
    .attr("x2", width).attr("y1", (d) => y(d)).attr("y2", (d) => y(d));
  g.append("g").attr("transform", `translate(0,${height})`).call(bottom);
  g.append("g").call(left);
  if (xLabel) g.append("text").attr("x", width).attr("y", height + 33).attr("text-anchor", "end").text(xLabel);
  if (yLabel) g.append("text").attr("x", -6).attr("y", -9).text(yLabel);
}

// Bytes and counts from 0 to millions: linear near 0, logarithmic beyond.
const wide = (most, range) => d3.scaleSymlog().constant(8).domain([0, Math.max(1, most)]).range(range);
function wideTicks(most) {
  const ticks = [0];
  for (let t = 10; t <= most; t *= 10) ticks.push(t);
  return ticks;
}
function wideAxes(g, x, y, width, height, most, { xLabel, yLabel }) {
  const ticks = wideTicks(most), fewer = ticks.filter((t, k) => width > 420 || k % 2 === 0);
  g.append("g").attr("class", "rule").selectAll("line").data(ticks).join("line").attr("x2", width).attr("y1", y).attr("y2", y);
  g.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).tickValues(fewer).tickFormat(short));
  g.append("g").call(d3.axisLeft(y).tickValues(ticks).tickFormat(short));
  g.append("text").attr("x", width).attr("y", height + 33).attr("text-anchor", "end").text(xLabel);
  g.append("text").attr("x", -6).attr("y", -9).text(yLabel);
}
