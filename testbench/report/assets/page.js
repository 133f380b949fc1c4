"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const figures = JSON.parse(document.getElementById("figures").textContent);

  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");

  // What a figure leaves open is the page's ink, so that it is visible on either paper.
  const styled = (figure) => {
    const style = getComputedStyle(root);
    const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
    const layout = structuredClone(figure.layout);
    const data = structuredClone(figure.data);
    Object.assign(layout, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink } });
    for (const name of Object.keys(layout).filter((name) => /^[xy]axis/.test(name))) {
      Object.assign(layout[name], { gridcolor: line, linecolor: line, automargin: true });
    }
    for (const shape of layout.shapes || []) {
      if (shape.line && shape.line.color === "") shape.line.color = ink;
      if (shape.type === "rect" && theme() === "dark") shape.opacity = 0.12;
    }
    for (const note of layout.annotations || []) {
      if (note.font && note.font.color === "") note.font.color = ink;
    }
    for (const trace of data) {
      for (const part of [trace.line, trace.marker]) if (part && part.color === "") part.color = ink;
    }
    return [data, layout];
  };

  const draw = () => {
    for (const place of document.querySelectorAll("[data-figure]")) {
      const [data, layout] = styled(figures[Number(place.dataset.figure)]);
      Plotly.react(place, data, layout, { responsive: true, displaylogo: false });
    }
  };

  const value = (text) => {
    const number = Number(text.replace(/[,%+×\s]/g, ""));
    return text.trim() === "" || Number.isNaN(number) ? null : number;
  };

  const sort = (head) => {
    const table = head.closest("table");
    const column = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") !== "ascending";
    const key = (row) => row.children[column] ? row.children[column].textContent : "";
    const order = (one, other) => {
      const [a, b] = [value(key(one)), value(key(other))];
      if (a !== null && b !== null) return a - b;
      if (a !== null || b !== null) return a !== null ? -1 : 1;
      return key(one).localeCompare(key(other));
    };
    const rows = [...table.tBodies[0].rows].sort(order);
    table.tBodies[0].append(...(up ? rows : rows.reverse()));
    for (const other of head.parentNode.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  };

  // "text", or "column < bound" with <, <=, =, >=, >; several, separated by commas, all have to hold.
  const filter = (box) => {
    const table = box.closest("figure").querySelector("table");
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    const tests = box.value.split(",").map((part) => part.trim()).filter(Boolean).map((part) => {
      const found = part.match(/^(.*?)\s*(<=|>=|<|>|=)\s*(.+)$/);
      const column = found ? names.indexOf(found[1].trim()) : -1;
      if (column < 0) return (row) => row.textContent.toLowerCase().includes(part.toLowerCase());
      const bound = value(found[3]);
      return (row) => {
        const text = row.cells[column].textContent;
        const here = value(text);
        if (bound === null || here === null) return found[2] === "=" && text.trim() === found[3].trim();
        return { "<": here < bound, "<=": here <= bound, "=": here === bound, ">=": here >= bound, ">": here > bound }[found[2]];
      };
    });
    for (const row of table.tBodies[0].rows) row.hidden = !tests.every((test) => test(row));
  };

  for (const head of document.querySelectorAll("th")) head.addEventListener("click", () => sort(head));
  for (const box of document.querySelectorAll(".filter")) box.addEventListener("input", () => filter(box));
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    draw();
  });
  dark.addEventListener("change", draw);
  draw();
})();
