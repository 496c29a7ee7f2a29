"use strict";
// Sorting and searching; without them the page is complete, only longer to read.

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
const shown = document.getElementById("shown");
const rows = Array.from(document.getElementById("table").tBodies[0].rows);
const texts = new Map(rows.map((row) => [row, row.textContent.toLocaleLowerCase()]));

function filter() {
  const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    row.hidden = !words.every((word) => texts.get(row).includes(word));
    count += !row.hidden;
  }
  shown.value = count + " of " + rows.length;
}

search.addEventListener("input", filter);
window.addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.hidden) {
    search.value = "";
    filter();
    target.scrollIntoView();
  }
});
