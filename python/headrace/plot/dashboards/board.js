// SPDX-License-Identifier: Apache-2.0
// The dashboard: brushes by pointer and keyboard, what they select, and when charts are drawn.

const HEIGHT = 250;

/** One chart with its brush. A selection is pairs of steps, x first, or cells of keys. */
class ChartView {
  constructor(board, chart, index) {
    this.board = board;
    this.chart = chart;
    this.index = index;
    this.keys = isKeys(chart);
    this.axes = brushed(chart);
    this.brushes = this.axes.length > 0;
    this.chosen = make("span", { class: "chosen" });
    this.root = make("section", { "aria-label": chart.name }, make("h2", {}, make("span", { text: chart.name }), this.chosen));
    if (chart.kind === "number") this.root.classList.add("narrow");
    if (chart.kind === "number") this.root.append(this.big = make("p", { class: "big" }));
    else if (chart.kind === "table") this.root.append(this.scroll = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${chart.name}: table` }));
    else this.buildCanvas();
  }

  buildCanvas() {
    this.canvas = make("canvas", { role: "img", class: this.keys ? "pick" : "" });
    this.canvas.style.height = `${HEIGHT}px`;
    this.root.append(this.canvas);
    const layer = this.chart.axes[2];
    if (layer) this.root.append(make("div", { class: "keys" }, ...[...layer.labels, "others"].map((label, k) => {
      const dot = make("i");
      dot.style.background = this.board.spec.colors[k < layer.labels.length ? k : 7];
      return make("span", {}, dot, label);
    })));
    if (this.keys) this.canvas.addEventListener("click", (event) => this.pick(event));
    else this.follow();
    this.canvas.addEventListener("pointerenter", () => this.board.prepare(this.index));
  }

  /** What keyboards and screen readers use; made once the chart is drawn. */
  buildControls() {
    if (!this.canvas) return;
    this.controls = make("fieldset", { class: this.keys ? "controls many" : "controls" }, make("legend", { class: "unseen", text: `Select on ${this.chart.name}` }));
    if (this.keys) this.buildBoxes();
    else this.axes.forEach((axis, k) => this.buildSliders(axis, k));
    this.root.append(this.controls);
    this.controls.addEventListener("focusin", () => this.board.prepare(this.index));
    this.tellControls(this.board.selections[this.index]);
  }

  buildBoxes() {
    this.boxes = this.chart.axes[0].labels.map((label, cell) => {
      const input = make("input", { type: "checkbox" });
      input.addEventListener("change", () => this.toggle(cell, true));
      this.controls.append(make("label", {}, input, ` ${label}`));
      return input;
    });
  }

  buildSliders(axis, k) {
    const most = stepsOf(axis), step = axis.kind === "key" ? 1 : this.chart.snap;
    this.sliders ??= [];
    this.sliders[k] = ["from", "to"].map((end, side) => {
      const input = make("input", { type: "range", min: 0, max: most, step: "any", value: side ? most : 0, "aria-label": `${axis.label} ${end}` });
      const shown = make("output");
      input.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -10 * step, PageUp: 10 * step }[event.key];
        if (event.key === "Escape") this.board.choose(this.index, null, true);
        if (by === undefined) return;
        event.preventDefault();
        input.value = Number(input.value) + by;
        this.slide(k, side);
      });
      input.addEventListener("change", () => this.slide(k, side));
      this.controls.append(make("span", { text: `${axis.label} ${end}`, "aria-hidden": "true" }), input, shown);
      return { input, shown };
    });
  }

  slide(k, side) {
    const pairs = this.pairs().map((pair) => [...pair]);
    pairs[k][side] = this.snapped(k, Number(this.sliders[k][side].input.value));
    const step = this.axes[k].kind === "key" ? 1 : this.chart.snap;
    if (pairs[k][0] >= pairs[k][1]) pairs[k] = side ? [Math.max(0, pairs[k][1] - step), Math.max(step, pairs[k][1])] : [Math.min(pairs[k][0], stepsOf(this.axes[k]) - 1), stepsOf(this.axes[k])];
    this.board.choose(this.index, pairs, true);
  }

  /** The selection, or the whole of each axis. */
  pairs() { return this.board.selections[this.index] ?? this.axes.map((axis) => [0, stepsOf(axis)]); }

  snapped(k, step) {
    const most = stepsOf(this.axes[k]), per = this.axes[k].kind === "key" ? 1 : this.chart.snap;
    const at = Math.round(step / per) * per;
    return Math.min(Math.max(at, 0), most);
  }

  // ---- pointer ----
  /** The steps at a place of the canvas, not rounded. */
  stepsAt(event) {
    const place = this.canvas.getBoundingClientRect();
    const x = (event.clientX - place.left - this.box.left) / this.box.width;
    const y = 1 - (event.clientY - place.top - this.box.top) / this.box.height;
    return this.axes.map((axis, k) => Math.min(Math.max(k ? y : x, 0), 1) * stepsOf(axis));
  }

  follow() {
    let from = null, old = null, kind = "", moved = false;
    const near = (at, pair, k) => Math.abs(at - pair) / stepsOf(this.axes[k]) * (k ? this.box.height : this.box.width) < 7;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = this.stepsAt(event);
      moved = false;
      old = this.board.selections[this.index]?.map((pair) => [...pair]) ?? null;
      kind = "new";
      if (old?.every((pair, k) => from[k] >= pair[0] && from[k] <= pair[1])) kind = "move";
      if (old?.length === 1) {
        if (near(from[0], old[0][0], 0)) { kind = "new"; from = [old[0][1]]; }
        else if (near(from[0], old[0][1], 0)) { kind = "new"; from = [old[0][0]]; }
      }
      this.canvas.setPointerCapture(event.pointerId);
      this.board.prepare(this.index);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const now = this.stepsAt(event);
      moved ||= now.some((each, k) => Math.abs(each - from[k]) / stepsOf(this.axes[k]) * this.box.width > 3);
      if (!moved) return;
      const pairs = now.map((each, k) => {
        const most = stepsOf(this.axes[k]);
        if (kind === "move") {
          const wide = old[k][1] - old[k][0];
          const low = this.snapped(k, Math.min(Math.max(old[k][0] + each - from[k], 0), most - wide));
          return [low, Math.min(low + wide, most)];
        }
        const [low, high] = [Math.min(each, from[k]), Math.max(each, from[k])].map((end) => this.snapped(k, end));
        if (high > low) return [low, high];
        const step = this.axes[k].kind === "key" ? 1 : this.chart.snap;
        return low + step <= most ? [low, low + step] : [Math.max(0, low - step), most];
      });
      this.board.choose(this.index, pairs, false);
    });
    const end = () => {
      if (!from) return;
      from = null;
      this.board.choose(this.index, moved ? this.board.selections[this.index] ?? null : null, true);
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
    this.canvas.addEventListener("dblclick", () => this.board.choose(this.index, null, true));
  }

  pick(event) {
    const cell = this.cellAt(event);
    if (cell >= 0) this.toggle(cell, event.ctrlKey || event.metaKey || event.shiftKey);
    else this.board.choose(this.index, null, true);
  }

  cellAt(event) {
    const place = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - place.left, event.clientY - place.top];
    const labels = this.chart.axes[0].labels;
    if (this.chart.kind === "choropleth") {
      const scale = window.devicePixelRatio || 1, ctx = this.canvas.getContext("2d");
      const hit = mapOf(this.chart, this.box).find(([, path]) => ctx.isPointInPath(path, x * scale, y * scale, "evenodd"));
      return hit ? labels.indexOf(hit[0]) : -1;
    }
    const cell = Math.floor(((y - this.box.top) / this.box.height) * labels.length);
    return cell >= 0 && cell < labels.length ? cell : -1;
  }

  /** A key alone, or more of them. */
  toggle(cell, more) {
    const now = new Set(this.board.selections[this.index] ?? []);
    const had = now.has(cell);
    if (!more) {
      const only = had && now.size === 1;
      now.clear();
      if (!only) now.add(cell);
    } else if (had) now.delete(cell);
    else now.add(cell);
    this.board.choose(this.index, now.size ? [...now].sort((a, b) => a - b) : null, true);
  }

  // ---- drawing ----
  words() {
    const selection = this.board.selections[this.index];
    if (!selection) return "";
    if (this.keys) return selection.map((cell) => this.chart.axes[0].labels[cell]).join(", ");
    return selection.map(([low, high], k) => {
      const axis = this.axes[k];
      return `${stepText(axis, low)} to ${stepText(axis, axis.kind === "key" ? high - 1 : high)}`;
    }).join("; ");
  }

  draw(cells, table, wide) {
    const chart = this.chart, words = this.words();
    if (this.chosen.textContent !== words) this.chosen.textContent = words;
    if (chart.kind === "number") { this.big.textContent = cells.counts[0] || chart.agg !== "mean" ? brief(valuesOf(chart, cells)[0]) : "no rows"; return; }
    if (chart.kind === "table") { this.drawTable(table); return; }
    const { ctx, width, height } = context(this.canvas, HEIGHT, wide);
    ctx.font = inks.font;
    let left = 58;
    if (this.keys || this.axes[1]?.kind === "key") {
      const labels = (this.keys ? chart.axes[0] : this.axes[1]).labels;
      left = Math.min(150, width * 0.4, 14 + Math.max(0, ...labels.map((label) => ctx.measureText(label).width)));
    }
    this.box = chart.kind === "choropleth" ? { left: 4, top: 4, width: width - 8, height: height - 8 } : boxOf(width, height, Math.max(left, 34));
    const selection = this.board.selections[this.index];
    chart.selection = selection;
    DRAW[chart.kind](ctx, this.box, chart, cells, selection);
    if (selection && !this.keys) this.drawBrush(ctx, selection);
    this.canvas.setAttribute("aria-label", `${chart.kind} of ${chart.name}${words ? `, selected ${words}` : ""}`);
    if (this.controls) this.tellControls(selection);
  }

  drawBrush(ctx, selection) {
    const { left, top, width, height } = this.box;
    const [x0, x1] = selection[0].map((step) => left + (step / stepsOf(this.axes[0])) * width);
    const [y1, y0] = selection[1] ? selection[1].map((step) => top + (1 - step / stepsOf(this.axes[1])) * height) : [top + height, top];
    ctx.fillStyle = inks.card;
    ctx.globalAlpha = 0.62;
    if (selection[1]) {
      ctx.fillRect(left, top, width, y0 - top);
      ctx.fillRect(left, y1, width, top + height - y1);
    }
    ctx.fillRect(left, y0, x0 - left, y1 - y0);
    ctx.fillRect(x1, y0, left + width - x1, y1 - y0);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = inks.ink;
    ctx.lineWidth = 1;
    ctx.strokeRect(x0 + 0.5, y0 + 0.5, Math.max(x1 - x0 - 1, 1), y1 - y0 - 1);
  }

  tellControls(selection) {
    if (this.keys) {
      const chosen = new Set(selection ?? []);
      this.boxes.forEach((input, cell) => { input.checked = chosen.has(cell); });
      return;
    }
    this.pairs().forEach((pair, k) => pair.forEach((step, side) => {
      const { input, shown } = this.sliders[k][side];
      const axis = this.axes[k], words = stepText(axis, axis.kind === "key" && side ? step - 1 : step);
      input.value = step;
      input.setAttribute("aria-valuetext", words);
      shown.textContent = words;
    }));
  }

  drawTable([heads, rows]) {
    const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col", text })));
    const body = rows.map((row) => make("tr", {}, ...row.map((text) => make("td", { text }))));
    this.scroll.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
  }
}

function notDrawn(error) {
  document.getElementById("limits").textContent = `This page could not be drawn: ${error}`;
  document.documentElement.dataset.failed = String(error);
}

class Board {
  constructor(spec) {
    this.spec = page.spec = spec;
    this.selections = {};
    this.cells = null;
    this.tables = {};
    this.version = -1;
    this.cube = null;  // of one chart under the selections of the others
    this.moves = this.settled = 0;
    this.frames = [];
    this.views = spec.charts.map((chart, index) => new ChartView(this, chart, index));
    for (const row of spec.layout) {
      const element = make("div", { class: "row" }, ...row.map((index) => this.views[index].root));
      document.getElementById("board").append(element);
    }
    document.getElementById("help").textContent = "Drag selects a range, a click a bar (with Ctrl more of them); a click beside the selection clears it. With Tab each chart has sliders or boxes.";
    document.getElementById("whole").textContent = `of ${grouped(spec.rows)} rows selected`;
    document.getElementById("clear").addEventListener("click", () => { this.selections = {}; this.settle(); });
    document.getElementById("theme").addEventListener("click", () => {
      const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = theme;
      try { localStorage.setItem("headrace-theme", theme); } catch { /* storage is off */ }
      readInks();
      this.draw();
    });
    readInks();
    const main = document.getElementById("board");
    for (const { canvas } of this.views) if (canvas) context(canvas, HEIGHT).ctx.measureText("0");  // fonts are found while Python counts
    new ResizeObserver(() => { if (main.clientWidth !== this.wide) this.ask(); }).observe(main);
  }

  /** Draws what the page holds. */
  async start() {
    try {
      const held = document.getElementById("held"), packed = bytesOf(held.textContent);
      held.remove();
      this.source = this.spec.token ? new Served(this.spec, packed) : await heldSource(this.spec, packed);
      document.getElementById("limits").textContent = this.source.limits;
      this.take(await (this.source.first?.() ?? this.source.counts({})), true);
    } catch (error) {
      notDrawn(error);
      return;
    }
    requestAnimationFrame(() => setTimeout(() => this.views.forEach((view) => view.buildControls())));
    if (this.source.state) setInterval(() => this.poll(), 700);
  }

  /** Selections made in Python show here. */
  async poll() {
    if (document.hidden || this.waiting || this.moves !== this.settled) return;
    const moves = this.moves;
    try {
      const news = await this.source.state(this.version);
      if (news && moves === this.moves) this.take(news, true);
    } catch {
      document.getElementById("limits").textContent = "Python does not answer: the page shows what it last heard.";
    }
  }

  /** Counts of a source; `all` with the selections that they belong to. */
  take(answer, all) {
    this.cells = answer.cells;
    if (answer.tables) this.tables = answer.tables;
    if (answer.version !== undefined && answer.version !== this.version) { this.version = answer.version; }
    if (all && answer.selections) this.selections = { ...answer.selections };
    this.draw();
    this.drawn ??= performance.timeOrigin + performance.now();
    document.documentElement.dataset.drawn = "yes";
  }

  others(index) {
    const others = { ...this.selections };
    delete others[index];
    return others;
  }

  /** Fetches the cube of a chart that may be brushed next. */
  async prepare(index) {
    const key = JSON.stringify([index, this.others(index)]);
    if (!this.cells || this.source.direct || this.cube?.key === key || this.preparing === key || !this.views[index].brushes) return;
    this.preparing = key;
    const started = performance.now();
    try {
      // Selections that Python has not heard of go along; else its own hold.
      const cube = await this.source.cube(index, this.moves === this.settled ? undefined : this.selections);
      this.activation = performance.now() - started;
      if (this.preparing !== key) return;
      this.cube = { ...cube, key, index };
      this.ask();
    } finally {
      if (this.preparing === key) this.preparing = null;
    }
  }

  /** A brush moved; `final` when it was let go. */
  choose(index, selection, final) {
    if (!this.cells) return;
    ++this.moves;
    if (this.source.oneBrush) this.selections = {};
    if (selection) this.selections[index] = selection;
    else delete this.selections[index];
    this.moved = index;
    if (final) { this.settle(); return; }
    this.prepare(index);
    this.ask();
  }

  /** Draws at the next frame. */
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.refresh(); });
  }

  refresh() {
    if (!this.cells) return;
    const started = performance.now();
    const index = this.moved, selection = this.selections[index];
    if (this.source.direct) ({ cells: this.cells, tables: this.tables } = this.source.direct(this.selections));
    else if (selection && this.cube?.key === JSON.stringify([index, this.others(index)])) {
      const own = this.cells[index];
      this.cells = fromCube(this.spec.charts, index, this.cube, selection);
      this.cells[index] = own;
    }
    this.draw();
    this.frames.push(performance.now() - started);
    if (this.frames.length > 1000) this.frames.shift();
  }

  /** Asks for the counts of what is selected now, with tables. */
  async settle() {
    this.ask();
    const moves = this.moves;
    if (this.waiting) { this.again = true; return; }
    this.waiting = true;
    try {
      const answer = await this.source.counts(this.selections);
      if (moves === this.moves) {
        this.settled = moves;
        this.take(answer, false);
        const left = this.cells.at(-1).counts[0];
        document.getElementById("status").textContent = `${grouped(left)} of ${grouped(this.spec.rows)} rows selected`;
      }
    } catch (error) {
      document.getElementById("limits").textContent = `Python does not answer: ${error.message}`;
    } finally {
      this.waiting = false;
      if (this.again) { this.again = false; this.settle(); }
    }
  }

  draw() {
    if (!this.cells) return;
    document.getElementById("left").textContent = grouped(this.cells.at(-1).counts[0]);
    document.getElementById("clear").disabled = Object.keys(this.selections).length === 0;
    this.wide = document.getElementById("board").clientWidth;
    const wide = this.views.map((view) => view.canvas?.clientWidth);  // all before any is drawn: one layout
    this.views.forEach((view, index) => view.draw(this.cells[index], this.tables[index], wide[index]));
  }
}

// Built while what it shows is counted; `headrace.start()` stands after that. The browser paints no empty charts before,
// but where counting takes long.
setTimeout(() => document.querySelector("link[rel=expect]").remove(), 300);
try {
  window.headrace = new Board(JSON.parse(document.getElementById("spec").textContent));
} catch (error) {
  window.headrace = { start: () => notDrawn(error) };
}
