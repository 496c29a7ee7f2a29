"use strict";
// Sorting, searching and pointing; without them the page is complete, only less handy.

function value(row, column, numeric) {
  const text = row.cells[column].dataset.value;
  if (!numeric) return text.toLocaleLowerCase();
  return text === "" ? null : Number(text);
}

function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  return direction * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
}

function sort(table, header, direction) {
  const column = header.cellIndex, numeric = header.dataset.type === "number", body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [value(row, column, numeric), row]);
  rows.sort((a, b) => compare(a[0], b[0], direction));
  body.append(...rows.map((pair) => pair[1]));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const header of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const first = header.dataset.type === "number" ? -1 : 1;
      const now = header.getAttribute("aria-sort");
      sort(table, header, now === null ? first : now === "ascending" ? -1 : 1);
    });
  }
}

const search = document.getElementById("search");

if (search) {
  const shown = document.getElementById("shown");
  const rows = Array.from(document.getElementById("table").tBodies[0].rows);
  const texts = new Map(rows.map((row) => [row, row.textContent.toLocaleLowerCase()]));
  const filter = () => {
    const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => texts.get(row).includes(word));
      count += !row.hidden;
    }
    shown.value = count + " of " + rows.length;
  };
  search.addEventListener("input", filter);
  // Not on "change": it also occurs when a click elsewhere begins, and the scrolling would make that click miss.
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && search.value) document.getElementById("students").scrollIntoView();
  });
  window.addEventListener("hashchange", () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.hidden) {
      search.value = "";
      filter();
    }
    const more = target.querySelector("details");
    if (more) more.open = true;
    target.scrollIntoView();
  });
}

const picture = document.getElementById("picture");

if (picture) {
  const data = JSON.parse(document.getElementById("picture-data").textContent);
  const cell = document.getElementById("cell"), before = cell.value;
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    const place = (position, length, count) => Math.min(count - 1, Math.max(0, Math.floor((position / length) * count)));
    const x = place(event.clientX - box.left, box.width, data.names.length);
    return [x, place(event.clientY - box.top, box.height, data.criteria.length)];
  };
  picture.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    const mistakes = (data.cells[y][x] || []).map((number) => data.mistakes[number]);
    const state = mistakes.length ? "lost: " + mistakes.join(" ") : data.states[data.lines[y][x]];
    const who = (data.names[x] ? data.names[x] + ", " : "") + data.scores[x] + " points";
    cell.value = who + " \u00b7 " + data.criteria[y] + " " + state;
  });
  picture.addEventListener("click", (event) => {
    const row = data.rows[at(event)[0]];
    if (row !== null) location.hash = "s" + row;
  });
  picture.addEventListener("pointerleave", () => { cell.value = before; });
}

// On paper nothing can be opened: everything is printed open, and closed again afterwards.
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = Array.from(document.querySelectorAll("details:not([open])"));
  for (const part of opened) part.open = true;
});
window.addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
