"use strict";
// Tables sort by a click on, or Enter at, the name of a column; rows without a value come last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("n");
      const now = head.getAttribute("aria-sort") ?? (numeric ? "ascending" : "descending");
      const next = now === "ascending" ? "descending" : "ascending";
      const sign = next === "ascending" ? 1 : -1;
      const value = (row) => parseFloat(row.cells[k].dataset.value);
      const text = (row) => row.cells[k].textContent;
      const compare = (a, b) => {
        if (!numeric) return sign * text(a).localeCompare(text(b), undefined, { numeric: true });
        const [x, y] = [value(a), value(b)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return sign * (x - y);
      };
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", next);
    });
  });
}
// What is folded is printed, too, and folded again afterwards.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((part) => { part.open = true; });
});
addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
