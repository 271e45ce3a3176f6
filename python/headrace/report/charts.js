// SPDX-License-Identifier: Apache-2.0
// Histogram, lines, drawn rows and the scatter plot whose points open as rows; then page assembly.

/** Axes of an SVG chart: grid, ticks and labels; returns the scales. Long ticks take room from the box. */
function axes(root, box, xRange, yRange, { x, y, xTicks }) {
  const ys = ticks(yRange[0], yRange[1], 5), yWords = tickWords(ys);
  const more = Math.max(0, (y ? 27 : 8) + 6.6 * Math.max(...yWords.map((text) => text.length)) - box.left);
  box.left += more;
  box.width -= more;
  const toX = (value) => box.left + ((value - xRange[0]) / (xRange[1] - xRange[0] || 1)) * box.width;
  const toY = (value) => box.top + box.height - ((value - yRange[0]) / (yRange[1] - yRange[0] || 1)) * box.height;
  ys.forEach((value, i) => {
    root.append(svg("line", { x1: box.left, x2: box.left + box.width, y1: toY(value), y2: toY(value), stroke: "var(--grid)" }),
      svg("text", { class: "axis", x: box.left - 7, y: toY(value) + 4, "text-anchor": "end", text: yWords[i] }));
  });
  const base = box.top + box.height;
  const xs = xTicks ?? ticks(xRange[0], xRange[1], box.width / 85), xWords = tickWords(xs);
  let free = 0;  // labels that would overlap are left out
  xs.forEach((value, i) => {
    const half = 3.3 * xWords[i].length;
    root.append(svg("line", { x1: toX(value), x2: toX(value), y1: base, y2: base + 4, stroke: "var(--line)" }));
    if (toX(value) - half < free) return;
    free = toX(value) + half + 4;
    root.append(svg("text", { class: "axis", x: toX(value), y: base + 17, "text-anchor": "middle", text: xWords[i] }));
  });
  root.append(svg("line", { x1: box.left, x2: box.left + box.width, y1: base, y2: base, stroke: "var(--line)" }),
    svg("text", { class: "label", x: box.left + box.width / 2, y: base + 35, "text-anchor": "middle", text: x }),
    svg("text", { class: "label", transform: `translate(13 ${box.top + box.height / 2}) rotate(-90)`, "text-anchor": "middle", text: y }));
  return { toX, toY };
}

function newChart(holder, height) {
  const width = Math.max(240, holder.clientWidth);
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  holder.replaceChildren(root);
  return { root, box: { left: 64, top: 10, width: width - 76, height: height - 56 } };
}

function drawHistogram(root, section) {
  const counts = numbers(section.counts);
  const edges = numbers(section.edges);
  const holder = make("div");
  root.append(holder);
  paints(holder, () => {
    const { root: chart, box } = newChart(holder, 290);
    const most = Math.max(1, ...counts);
    const { toX, toY } = axes(chart, box, [edges[0], edges.at(-1)], [0, most * 1.04], { x: section.x, y: section.y });
    counts.forEach((count, i) => {
      const left = toX(edges[i]);
      const width = toX(edges[i + 1]) - left;
      const bar = svg("rect", { class: "bin", x: left + Math.min(0.5, width * 0.1), width: Math.max(0.5, width - Math.min(1, width * 0.2)), y: toY(count), height: toY(0) - toY(count), fill: "var(--signal)", rx: Math.min(2, width / 4) });
      bar.append(svg("title", { text: `${brief(edges[i])} to ${brief(edges[i + 1])}: ${grouped(count)}` }));
      chart.append(bar);
    });
    section.lines.forEach((line, k) => {
      if (line.at < edges[0] || line.at > edges.at(-1)) return;
      const x = toX(line.at);
      chart.append(svg("line", { x1: x, x2: x, y1: box.top, y2: toY(0), stroke: `var(--${KINDS[k + 1]})`, "stroke-width": 1.6, "stroke-dasharray": "5 4" }));
    });
  });
  if (section.lines.length) root.append(make("div", { class: "legend" }, ...section.lines.map((line, k) => key({ kind: "line", color: KINDS[k + 1], dash: "4 3" }, line.name))));
}

function drawLines(root, section) {
  const lines = section.lines.map((line) => ({ name: line.name, x: numbers(line.x), y: numbers(line.y) }));
  const paintOf = (k) => ["signal", "bad", "good", "third", "fourth"][k % 5];
  const holder = make("div", { style: "position:relative" });
  root.append(holder);
  paints(holder, () => {
    const { root: chart, box } = newChart(holder, section.bands.length ? 330 : 290);
    if (section.bands.length) { box.top += 26; box.height -= 26; }
    const xs = extent(lines.map((line) => line.x));
    const range = extent(lines.map((line) => line.y));
    const ys = [section.zero ? Math.min(0, range[0]) : range[0], range[1] + (range[1] - range[0] || 1) * 0.05];
    const behind = svg("g");
    chart.append(behind);
    const { toX, toY } = axes(chart, box, xs, ys, { x: section.x, y: section.y });
    section.bands.forEach((band, k) => {
      const left = Math.max(box.left, toX(band.begin));
      const right = Math.min(box.left + box.width, toX(band.end));
      const group = svg("g", {});
      group.append(svg("title", { text: `${band.name}: ${brief(band.begin)} to ${brief(band.end)}` }),
        svg("rect", { class: "band", x: left, y: box.top - 26, width: Math.max(1, right - left), height: box.height + 26, fill: k % 2 ? "transparent" : "var(--band)" }));
      const letters = Math.floor((right - left - 6) / 6.6);
      if (letters >= 2) group.append(svg("text", { class: "axis", x: left + 4, y: box.top - 10, text: band.name.length <= letters ? band.name : letters < 5 ? String(k + 1) : band.name.slice(0, letters - 1) + "…" }));
      behind.append(group);
    });
    lines.forEach((line, k) => {
      let path = "";
      let pen = "M";
      line.x.forEach((x, i) => {
        if (Number.isNaN(line.y[i])) { pen = "M"; return; }
        path += `${pen}${toX(x).toFixed(2)} ${toY(line.y[i]).toFixed(2)}`;
        pen = "L";
      });
      if (k === 0 && section.zero && lines.length === 1 && path) {
        chart.append(svg("path", { d: `${path}L${toX(line.x.at(-1))} ${toY(0)}L${toX(line.x[0])} ${toY(0)}Z`, fill: "var(--signal-soft)" }));
      }
      chart.append(svg("path", { class: "line", d: path, fill: "none", stroke: `var(--${paintOf(k)})`, "stroke-width": 1.8, "stroke-linejoin": "round" }));
    });
    const cursor = svg("line", { y1: box.top, y2: box.top + box.height, stroke: "var(--faint)", visibility: "hidden" });
    const words = svg("text", { class: "axis", y: box.top + 14, visibility: "hidden" });
    chart.append(cursor, words);
    chart.onpointermove = (event) => {
      const x = event.clientX - chart.getBoundingClientRect().left;
      const inside = x >= box.left && x <= box.left + box.width;
      cursor.setAttribute("visibility", inside ? "visible" : "hidden");
      words.setAttribute("visibility", inside ? "visible" : "hidden");
      if (!inside) return;
      const value = xs[0] + ((x - box.left) / box.width) * (xs[1] - xs[0]);
      const parts = lines.map((line) => {
        let best = 0;
        line.x.forEach((each, i) => { if (Math.abs(each - value) < Math.abs(line.x[best] - value)) best = i; });
        return `${lines.length > 1 ? line.name + " " : ""}${brief(line.y[best])}`;
      });
      const band = section.bands.find((each) => value >= each.begin && value < each.end);
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      words.textContent = `${brief(Number(value.toPrecision(4)))}: ${parts.join(", ")}${band ? "  (" + band.name + ")" : ""}`;
      const flip = x > box.left + box.width * 0.6;
      words.setAttribute("x", x + (flip ? -6 : 6));
      words.setAttribute("text-anchor", flip ? "end" : "start");
    };
    chart.onpointerleave = () => { cursor.setAttribute("visibility", "hidden"); words.setAttribute("visibility", "hidden"); };
  });
  if (lines.length > 1) root.append(make("div", { class: "legend" }, ...lines.map((line, k) => key({ kind: "line", color: paintOf(k) }, line.name))));
}

/** Rows of numbers behind one packed series. */
class Rows {
  constructor(section, codes) {
    this.section = section;
    this.codes = codes;
    this.count = section.count;
    this.length = section.length;
    this.reference = section.reference ? [...numbers(section.reference)] : null;
  }

  row(i) {
    const { offset, step } = this.section.series;
    return Array.from(this.codes.subarray(i * this.length, (i + 1) * this.length), (code) => (code === 0 ? NaN : offset + step * code));
  }

  /** Draws row `i` over the reference row. */
  drawing(i, width, height, detailed) {
    const values = this.row(i);
    const [low, high] = extent(this.reference ? [values, this.reference] : [values]);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "one row, drawn" });
    const box = detailed ? { left: 40, top: 6, width: width - 46, height: height - 46 } : { left: 1, top: 4, width: width - 2, height: height - 8 };
    if (detailed) axes(root, box, [0, (this.length - 1) / (this.section.rate || 1)], [low, high], { x: this.section.rate ? "time [s]" : "sample", y: "", xTicks: ticks(0, (this.length - 1) / (this.section.rate || 1), 4) });
    if (this.reference) root.append(svg("path", { d: rowPath(this.reference, box.left, box.top, box.width, box.height, low, high), fill: "none", stroke: "var(--faint)", "stroke-width": 1.4, "stroke-dasharray": "4 3" }));
    root.append(svg("path", { class: "row", d: rowPath(values, box.left, box.top, box.width, box.height, low, high), fill: "none", stroke: "var(--signal)", "stroke-width": detailed ? 2 : 1.8, "stroke-linejoin": "round" }));
    return root;
  }

  keys() {
    const found = [key({ kind: "line" }, this.section.label)];
    if (this.reference) found.push(key({ kind: "line", color: "faint", dash: "4 3", width: 1.5 }, this.section.reference_name));
    return found;
  }
}

/** Whether rows can be shown in a series, which may stand below and be drawn later. */
const hasSeries = () => page.sections.some((section) => section.kind === "series");

function drawRows(root, section, codes) {
  const rows = new Rows(section, codes);
  const at = numbers(section.at);
  const grid = make("div", { class: "rows" });
  for (let i = 0; i < rows.count; ++i) {
    const figure = make("figure", {}, rows.drawing(i, 170, 96, false), make("figcaption", { text: section.captions[i] ?? "" }));
    if (at && hasSeries()) {
      figure.classList.add("place");
      figure.title = "Show it in the series";
      figure.addEventListener("click", () => page.series?.goTo(at[i]));
    }
    grid.append(figure);
  }
  root.append(grid, make("div", { class: "legend" }, ...rows.keys(), ...(at && hasSeries() ? [make("span", { text: "A click shows it in the series." })] : [])));
}

class ScatterView {
  constructor(root, section, codes) {
    this.root = root;
    this.section = section;
    this.x = numbers(section.points_x);
    this.y = numbers(section.points_y);
    this.score = numbers(section.score);
    this.flag = section.flag ? numbers(section.flag) : null;
    this.at = numbers(section.at);
    this.linked = Boolean(this.at && hasSeries());
    this.area = null;  // what was brushed, as pairs of x and of y
    this.rows = codes ? new Rows(section, codes) : null;
    const sorted = Float64Array.from(this.score.filter((value) => !Number.isNaN(value))).sort();
    const part = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    this.scale = [part(0.01), part(0.999)];
    // Scores that span decades use a logarithmic scale.
    this.decades = this.scale[0] > 0 && this.scale[1] > 8 * this.scale[0];
    // Outliers last, on top of the common points.
    this.order = Uint32Array.from(this.score.keys()).filter((i) => this.score[i] === this.score[i]).sort((a, b) => this.score[a] - this.score[b]);
    this.chosen = this.order.at(-1) ?? -1;
    this.build();
    this.reset();
    paints(this.canvas, () => this.draw());
    this.choose(this.chosen);
  }

  build() {
    this.canvas = make("canvas", { class: "plain", role: "img", "aria-label": `${this.section.title}: click a point to draw its row` });
    this.side = make("div", { class: "side" });
    const ramp = make("span", { class: "ramp", style: `background:linear-gradient(90deg,${[0, 0.25, 0.5, 0.75, 1].map(rampColor).join(",")})` });
    const legend = make("div", { class: "legend" },
      make("span", { class: "key" }, make("span", { text: `${this.section.score_name} ≤ ${brief(this.scale[0])}` }), ramp, make("span", { text: `≥ ${brief(this.scale[1])}${this.decades ? " (logarithmic)" : ""}` })),
      ...(this.flag ? [key({ kind: "ring", color: "ink" }, this.section.flag_name)] : []),
      make("span", { text: `Wheel zooms, drag pans, double click resets, click draws${this.linked ? ", Shift and drag marks in the series" : ""}.` }),
      this.found = make("span"));
    this.root.append(make("div", { class: "pair" }, make("div", {}, this.canvas, legend), this.side));
    pansAndZooms(this.canvas, {
      move: (dx, dy) => this.shift(dx, dy),
      zoom: (factor, x, y) => this.zoomAt(factor, x, y),
      reset: () => {
        this.reset();
        if (page.brushed === this) { page.brushed = null; page.series.mark("", []); this.forget(); }
        this.draw();
      },
      hover: (x, y) => { this.canvas.style.cursor = this.nearest(x, y) >= 0 ? "pointer" : ""; },
      click: (x, y) => { const found = this.nearest(x, y); if (found >= 0) this.choose(found); },
      brush: this.linked && ((from, to, done) => page.series && this.brush(from, to, done)),
    });
  }

  /** Takes the brush and its button away. */
  forget() {
    this.area = null;
    this.found.replaceChildren();
    this.draw();
  }

  /** Marks in the series the rows of the points between two corners, in place of those of any other cloud. */
  brush(from, to, done) {
    if (page.brushed !== this) page.brushed?.forget();
    page.brushed = this;
    const ends = (k, value) => [from[k], to[k]].map(value).sort((a, b) => a - b);
    this.area = [
      ends(0, (x) => this.xs[0] + ((x - this.box.left) / this.box.width) * (this.xs[1] - this.xs[0])),
      ends(1, (y) => this.ys[1] - ((y - this.box.top) / this.box.height) * (this.ys[1] - this.ys[0])),
    ];
    this.draw();
    if (!done) return;
    const [[left, right], [low, high]] = this.area;
    const inside = this.order.filter((i) => this.x[i] >= left && this.x[i] <= right && this.y[i] >= low && this.y[i] <= high);
    const rows = Float64Array.from(inside, (i) => this.at[i]).sort();
    page.series.mark(`brushed in ${this.section.title}`, rows);
    if (!rows.length) this.area = null;
    const words = `Show ${grouped(rows.length)} in the series`;
    this.found.replaceChildren(...(rows.length ? [make("button", { type: "button", text: words, onclick: () => page.series.goTo(rows[0]) })] : []));
    this.draw();
  }

  reset() {
    const pad = ([low, high]) => { const air = (high - low || 1) * 0.05; return [low - air, high + air]; };
    this.xs = pad(extent([this.x]));
    this.ys = pad(extent([this.y]));
  }

  shift(dx, dy) {
    const x = (dx * (this.xs[1] - this.xs[0])) / this.box.width;
    const y = (dy * (this.ys[1] - this.ys[0])) / this.box.height;
    this.xs = this.xs.map((value) => value - x);
    this.ys = this.ys.map((value) => value + y);
    this.draw();
  }

  zoomAt(factor, x, y) {
    const cx = this.xs[0] + ((x - this.box.left) / this.box.width) * (this.xs[1] - this.xs[0]);
    const cy = this.ys[1] - ((y - this.box.top) / this.box.height) * (this.ys[1] - this.ys[0]);
    this.xs = this.xs.map((value) => cx + (value - cx) * factor);
    this.ys = this.ys.map((value) => cy + (value - cy) * factor);
    this.draw();
  }

  toX(value) { return this.box.left + ((value - this.xs[0]) / (this.xs[1] - this.xs[0])) * this.box.width; }

  toY(value) { return this.box.top + this.box.height - ((value - this.ys[0]) / (this.ys[1] - this.ys[0])) * this.box.height; }

  nearest(x, y) {
    let best = -1;
    let least = 100;  // 10 pixels, squared
    for (let k = 0; k < this.order.length; ++k) {
      const i = this.order[k];
      const distance = (this.toX(this.x[i]) - x) ** 2 + (this.toY(this.y[i]) - y) ** 2;
      if (distance <= least) { least = distance; best = i; }
    }
    return best;
  }

  choose(i) {
    this.chosen = i;
    this.side.replaceChildren();
    if (i < 0) return;
    const caption = [this.section.captions[i] ?? "", `${this.section.score_name} ${brief(this.score[i])}`, this.flag && this.flag[i] ? this.section.flag_name : ""];
    this.side.append(make("h3", { text: this.section.row_name }), make("p", { class: "caption", text: caption.filter(Boolean).join("\n") }));
    if (this.rows) this.side.append(this.rows.drawing(i, 330, 236, true), make("div", { class: "legend" }, ...this.rows.keys()));
    if (this.linked) this.side.append(make("div", { class: "legend" }, make("button", { type: "button", text: "Show it in the series", onclick: () => page.series?.goTo(this.at[i]) })));
    this.side.dataset.chosen = i;
    this.draw();
  }

  draw() {
    const { ctx, width, height } = context(this.canvas, 440);
    const ys = ticks(this.ys[0], this.ys[1], 6), yWords = tickWords(ys);
    const room = Math.max(58, 27 + Math.max(...yWords.map((text) => ctx.measureText(text).width)));
    this.box = { left: room, top: 8, width: Math.max(60, width - room - 10), height: height - 50 };
    const { left, top, width: wide, height: high } = this.box;
    ctx.strokeStyle = color("grid");
    ctx.fillStyle = color("soft");
    ctx.lineWidth = 1;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ys.forEach((value, i) => {
      const y = Math.round(this.toY(value)) + 0.5;
      ctx.strokeRect(left, y, wide, 0);
      ctx.fillText(yWords[i].replace("-", "−"), left - 7, y);
    });
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    const xs = ticks(this.xs[0], this.xs[1], wide / 85), xWords = tickWords(xs);
    xs.forEach((value) => ctx.strokeRect(Math.round(this.toX(value)) + 0.5, top, 0, high));
    apart(ctx, xs.map((value, i) => [this.toX(value), xWords[i].replace("-", "−")]), top + high + 7);
    ctx.fillText(this.section.x, left + wide / 2, top + high + 25);
    ctx.save();
    ctx.translate(6, top + high / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(this.section.y, 0, 0);
    ctx.restore();

    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, wide, high);
    ctx.clip();
    const size = this.order.length > 20000 ? 1.7 : this.order.length > 3000 ? 2.2 : 3;
    const share = (score) => {
      const [low, high] = this.scale;
      return this.decades ? Math.log(Math.max(score, low) / low) / Math.log(high / low) : (score - low) / (high - low || 1);
    };
    ctx.globalAlpha = this.order.length > 3000 ? 0.75 : 0.9;
    for (const i of this.order) {
      const x = this.toX(this.x[i]);
      const y = this.toY(this.y[i]);
      ctx.fillStyle = rampColor(share(this.score[i]));
      ctx.beginPath();
      ctx.arc(x, y, size, 0, 7);
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    if (this.flag) {
      ctx.strokeStyle = color("ink");
      ctx.lineWidth = 0.8;
      ctx.globalAlpha = 0.55;
      for (const i of this.order) {
        if (!this.flag[i]) continue;
        ctx.beginPath();
        ctx.arc(this.toX(this.x[i]), this.toY(this.y[i]), size + 2, 0, 7);
        ctx.stroke();
      }
      ctx.globalAlpha = 1;
    }
    if (this.area) {
      const [[x0, x1], [y1, y0]] = [this.area[0].map((x) => this.toX(x)), this.area[1].map((y) => this.toY(y))];
      ctx.fillStyle = color("signal-soft");
      ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
      ctx.strokeStyle = color("ink");
      ctx.lineWidth = 1;
      ctx.strokeRect(x0, y0, x1 - x0, y1 - y0);
    }
    if (this.chosen >= 0) {
      const x = this.toX(this.x[this.chosen]);
      const y = this.toY(this.y[this.chosen]);
      ctx.strokeStyle = color("card");
      ctx.lineWidth = 5;
      ctx.beginPath();
      ctx.arc(x, y, 8, 0, 7);
      ctx.stroke();
      ctx.strokeStyle = color("ink");
      ctx.lineWidth = 2;
      ctx.stroke();
    }
    ctx.restore();
  }
}

// ---- the page -------------------------------------------------------------------------------------
const DRAW = {
  series: (root, section, codes) => new SeriesView(root, section, codes),
  histogram: drawHistogram,
  lines: drawLines,
  rows: drawRows,
  scatter: (root, section, codes) => new ScatterView(root, section, codes),
};

async function drawPage() {
  page.sections = JSON.parse(document.getElementById("sections").textContent);
  for (const section of page.sections) {
    const root = document.querySelector(`#${section.id} .figure`);
    const waiting = make("p", { class: "waiting", text: "Unpacking …" });
    root.append(waiting);
    try {
      await new Promise((go) => setTimeout(go));
      const codes = section.series ? await codesOf(section.series) : null;
      waiting.remove();
      section.view = DRAW[section.kind](root, section, codes);
    } catch (error) {
      waiting.textContent = `This picture could not be drawn: ${error}`;
      root.dataset.failed = String(error);
    }
  }
  document.documentElement.dataset.drawn = "yes";
}

document.getElementById("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("headrace-theme", theme); } catch { /* storage is off */ }
  for (const draw of page.painters) draw();
});
drawPage();
