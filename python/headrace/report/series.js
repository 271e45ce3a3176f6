// SPDX-License-Identifier: Apache-2.0
// The long series: a min/max pyramid over the embedded codes, drawn exactly for each pixel at any zoom.

/** Levels of a quarter of the size each; a high of 0 says that a bucket holds nothing. */
class MinMaxPyramid {
  constructor(codes, count, paired) {
    const low = codes.subarray(0, count);
    const high = paired ? codes.subarray(count) : low;
    this.levels = [{ low, high, count }];
    for (let below = this.levels[0]; below.count > 64; below = this.levels.at(-1)) {
      const size = Math.ceil(below.count / 4);
      const level = { low: new Uint16Array(size), high: new Uint16Array(size), count: size };
      for (let k = 0; k < size; ++k) {
        let least = 65535;
        let most = 0;
        for (let i = 4 * k; i < Math.min(4 * k + 4, below.count); ++i) {
          if (below.high[i] === 0) continue;
          if (below.low[i] < least) least = below.low[i];
          if (below.high[i] > most) most = below.high[i];
        }
        level.low[k] = most === 0 ? 0 : least;
        level.high[k] = most;
      }
      this.levels.push(level);
    }
    this.low = 0;
    this.high = 0;
  }

  /** Sets `low` and `high` over the buckets [begin, end); `high` 0: no values. Exact, O(log). */
  query(begin, end) {
    let least = 65535;
    let most = 0;
    const take = (level, i) => {
      if (level.high[i] === 0) return;
      if (level.low[i] < least) least = level.low[i];
      if (level.high[i] > most) most = level.high[i];
    };
    for (let k = 0; begin < end; ++k) {
      const level = this.levels[k];
      if (k + 1 === this.levels.length || end - begin < 8) {
        while (begin < end) take(level, begin++);
        break;
      }
      while (begin & 3) take(level, begin++);
      while (end & 3) take(level, --end);
      begin >>= 2;
      end >>= 2;
    }
    this.low = least;
    this.high = most;
  }
}

const markColor = (k) => KINDS[k % KINDS.length];

class SeriesView {
  constructor(root, section, codes) {
    this.root = root;
    this.section = section;
    this.bucket = section.series.bucket;
    this.count = section.series.count;
    this.rows = section.rows;
    this.pyramid = new MinMaxPyramid(codes, this.count, section.series.rows === 2);
    this.marks = section.marks.map((mark) => ({ ...mark, at: numbers(mark.at), kinds: numbers(mark.kinds) }));
    this.sought = Math.min(1, this.marks.length - 1);  // the first name is often every beat
    this.caliper = null;  // two corners, as rows and values
    this.begin = 0;
    this.end = this.rows;
    this.fit = true;
    this.span = null;  // heights that the user chose, else null
    this.pointer = null;
    this.left = 58;
    this.build();
    this.pyramid.query(0, this.count);
    this.whole = this.pyramid.high === 0 ? [0, 1] : [this.value(this.pyramid.low), this.value(this.pyramid.high)];
    paints(this.canvas, () => this.draw());
    page.series ??= this;
  }

  value(code) { return this.section.series.offset + this.section.series.step * code; }

  seconds(row) { return row / this.section.rate; }

  /** Where a row stands, in words. */
  place(row) {
    return this.section.rate ? clock(this.seconds(row), this.end - this.begin < 30 * this.section.rate ? 3 : 0) : `row ${grouped(Math.round(row))}`;
  }

  build() {
    const button = (text, title, action) => make("button", { type: "button", text, title, onclick: action });
    this.readout = make("span", { class: "readout", "aria-live": "off" });
    this.fitButton = button("Fit height", "Let the visible part fill the height; Shift and the wheel zoom the height", () => {
      this.fit = this.span !== null || !this.fit;
      this.span = null;
      this.draw();
    });
    this.caliperButton = button("Calipers", "Drag over the series to measure times and values", () => this.measure(!this.measuring));
    this.canvas = make("canvas", { class: "plain", tabindex: 0, role: "img", "aria-label": `${this.section.title}: wheel or + and − zoom, drag or arrows pan, 0 resets, n and p go to the next and the previous mark, c measures` });
    this.strip = make("canvas", { class: "strip", role: "img", "aria-label": "The whole series; click or drag to move the view" });
    this.root.append(
      make("div", { class: "tools" },
        button("Whole", "Show the whole series (0 or double click)", () => { this.span = null; this.show(0, this.rows); }),
        button("+", "Zoom in", () => this.zoomAt(0.4, 0.5)),
        button("−", "Zoom out", () => this.zoomAt(2.5, 0.5)),
        ...this.spans().map(([text, rows]) => button(text, `Show ${text}`, () => this.around((this.begin + this.end) / 2, rows))),
        this.fitButton, this.caliperButton, this.seekPlace = make("span", { class: "inline" }, ...this.seekers()), this.readout),
      this.canvas, this.strip,
      make("div", { class: "legend" },
        key({ kind: "band", color: "signal" }, this.section.label + (this.section.unit ? ` [${this.section.unit}]` : "")),
        this.keyPlace = make("span", { class: "inline" }, ...this.markKeys()),
        make("span", { text: this.section.legend })));
    pansAndZooms(this.canvas, {
      move: (dx) => this.measuring || this.show(this.begin - (dx * (this.end - this.begin)) / this.plot, null),
      zoom: (factor, x, y, upright) => (upright ? this.zoomHeight(factor, y) : this.zoomAt(factor, (x - this.left) / this.plot)),
      reset: () => { this.span = null; this.show(0, this.rows); },
      hover: (x, y) => { this.pointer = x; this.stretch(x, y); this.draw(); },
      leave: () => { this.pointer = null; this.draw(); },
    });
    this.canvas.addEventListener("pointerdown", (event) => {
      if (!this.measuring || event.button !== 0) return;
      const corner = this.cornerAt(event.offsetX, event.offsetY);
      this.caliper = { from: corner, to: corner, held: true };
    });
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => { if (this.caliper) this.caliper.held = false; });
    const jump = (event) => {
      if (event.buttons !== 1) return;
      const share = (event.clientX - this.strip.getBoundingClientRect().left - this.left) / this.plot;
      this.around(share * this.rows, Math.min(this.end - this.begin, this.rows / 4));
    };
    this.strip.addEventListener("pointerdown", (event) => { this.strip.setPointerCapture(event.pointerId); jump(event); });
    this.strip.addEventListener("pointermove", jump);
    this.canvas.addEventListener("keydown", (event) => {
      const span = this.end - this.begin;
      const actions = {
        ArrowLeft: () => this.show(this.begin - span / 8, null), ArrowRight: () => this.show(this.begin + span / 8, null),
        n: () => this.seek(1), p: () => this.seek(-1), c: () => this.measure(!this.measuring), Escape: () => this.measure(false),
        "+": () => this.zoomAt(0.5, 0.5), "=": () => this.zoomAt(0.5, 0.5), "-": () => this.zoomAt(2, 0.5), 0: () => this.show(0, this.rows),
      };
      if (!actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  /** Buttons for lengths that make sense here. */
  spans() {
    const rate = this.section.rate;
    if (!rate) return [];
    return [["1 h", 3600], ["1 min", 60], ["10 s", 10], ["2 s", 2]].filter(([, s]) => s * rate < this.rows * 0.7).map(([text, s]) => [text, s * rate]);
  }

  markKeys() {
    return this.marks.map((mark, i) => key({ kind: "triangle", color: markColor(i) }, `${mark.name} (${grouped(mark.at.length)})`));
  }

  /** Marks ascending rows that were brushed elsewhere, in place of those before; none takes them away. */
  mark(name, rows) {
    this.marks = this.marks.filter((mark) => !mark.brushed);
    if (rows.length) this.marks.push({ name, at: rows, kinds: null, brushed: true });
    this.sought = rows.length ? this.marks.length - 1 : Math.min(1, this.marks.length - 1);
    this.seekPlace.replaceChildren(...this.seekers());
    this.keyPlace.replaceChildren(...this.markKeys());
    this.draw();
  }

  /** Which marks to go through, and the buttons that do. */
  seekers() {
    if (!this.marks.some((mark) => mark.at.length)) return [];
    const choice = make("select", { "aria-label": "Marks to go through", onchange: (event) => { this.sought = Number(event.target.value); this.name(); } },
      ...this.marks.map((mark, k) => make("option", { value: k, text: mark.name })));
    choice.value = this.sought;
    this.seekButtons = [["‹ previous", -1], ["next ›", 1]].map(([text, by]) => make("button", { type: "button", text, onclick: () => this.seek(by) }));
    this.name();
    return [choice, ...this.seekButtons];
  }

  name() {
    ["previous", "next"].forEach((word, k) => this.seekButtons[k].setAttribute("title", `${word} of: ${this.marks[this.sought].name} (${"pn"[k]})`));
  }

  /** Goes to the next or the previous mark of the chosen name, around the ends. */
  seek(by) {
    const mark = this.marks[this.sought];
    if (!mark?.at.length) return;
    const middle = (this.begin + this.end) / 2;
    let place = by > 0 ? this.firstFrom(mark.at, Math.floor(middle) + 1) : this.firstFrom(mark.at, Math.ceil(middle)) - 1;
    // At the ends of the series the view cannot have its mark in the middle.
    if (this.seen?.name === mark.name && this.seen.begin === this.begin) place = this.seen.place + by;
    place = (place + mark.at.length) % mark.at.length;
    const near = this.section.rate ? Math.min(6 * this.section.rate, this.rows) : Math.min(2000, this.rows);
    this.around(mark.at[place], Math.min(this.end - this.begin, near));
    this.seen = { name: mark.name, place, begin: this.begin };
    this.canvas.dataset.sought = mark.at[place];
  }

  measure(on) {
    this.measuring = on;
    this.caliper = null;
    this.canvas.classList.toggle("measuring", on);
    this.caliperButton.setAttribute("aria-pressed", on);
    this.draw();
  }

  cornerAt(x, y) {
    const [low, high] = this.heights;
    const share = Math.min(Math.max((x - this.left) / this.plot, 0), 1);
    return [this.begin + share * (this.end - this.begin), low + ((this.bottom - y) / (this.bottom - this.top)) * (high - low)];
  }

  stretch(x, y) {
    if (this.caliper?.held) this.caliper.to = this.cornerAt(x, y);
  }

  /** Shows rows [begin, end); `end` null keeps the length. */
  show(begin, end) {
    const least = Math.min(Math.max(12, 6 * this.bucket), this.rows);
    const span = Math.min(Math.max(end === null ? this.end - this.begin : end - begin, least), this.rows);
    this.begin = Math.min(Math.max(begin, 0), this.rows - span);
    this.end = this.begin + span;
    this.schedule();
  }

  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  around(row, span) { this.show(row - span / 2, row + span / 2); }

  zoomAt(factor, share) {
    const place = Math.min(Math.max(share, 0), 1);
    const span = Math.min(Math.max((this.end - this.begin) * factor, Math.min(Math.max(12, 6 * this.bucket), this.rows)), this.rows);
    const fixed = this.begin + place * (this.end - this.begin);
    this.show(fixed - place * span, fixed + (1 - place) * span);
  }

  zoomHeight(factor, y) {
    const [low, high] = this.heights;
    const fixed = low + ((this.bottom - y) / (this.bottom - this.top)) * (high - low);
    this.span = [fixed + (low - fixed) * factor, fixed + (high - fixed) * factor];
    this.schedule();
  }

  /** Scrolls here and shows the surroundings of a row. */
  goTo(row) {
    this.around(row, this.section.rate ? Math.min(6 * this.section.rate, this.rows) : Math.min(2000, this.rows));
    this.root.scrollIntoView({ behavior: "smooth", block: "start" });
  }

  /** Low and high code of each of `columns` columns of rows [begin, end). */
  columns(begin, end, columns) {
    const low = new Uint16Array(columns);
    const high = new Uint16Array(columns);
    const each = (end - begin) / columns / this.bucket;
    const first = begin / this.bucket;
    for (let x = 0; x < columns; ++x) {
      const from = Math.max(0, Math.floor(first + x * each));
      const to = Math.min(this.count, Math.max(from + 1, Math.floor(first + (x + 1) * each)));
      this.pyramid.query(from, to);
      low[x] = this.pyramid.low;
      high[x] = this.pyramid.high;
    }
    return { low, high };
  }

  /** Vertical spans, joined half way to their neighbours where they do not touch. */
  drawSpans(ctx, spans, toY, left, scale) {
    const { low, high } = spans;
    for (let x = 0; x < low.length; ++x) {
      if (high[x] === 0) continue;
      let top = toY(this.value(high[x]));
      let bottom = toY(this.value(low[x]));
      const upper = top;
      const lower = bottom;
      for (const other of [x - 1, x + 1]) {
        if (other < 0 || other >= low.length || high[other] === 0) continue;
        const otherTop = toY(this.value(high[other]));
        const otherBottom = toY(this.value(low[other]));
        if (otherBottom < upper) top = Math.min(top, (otherBottom + upper) / 2);
        if (otherTop > lower) bottom = Math.max(bottom, (otherTop + lower) / 2);
      }
      const thin = Math.max(0, 1.2 - (bottom - top)) / 2;
      ctx.fillRect(left + x / scale, top - thin, 1 / scale, bottom - top + 2 * thin);
    }
  }

  /** A line through the rows themselves, with dots once they stand apart. */
  drawRows(ctx, toX, toY) {
    const { low } = this.pyramid.levels[0];
    const first = Math.max(0, Math.floor(this.begin) - 1);
    const last = Math.min(this.count - 1, Math.ceil(this.end) + 1);
    ctx.beginPath();
    let pen = false;
    for (let i = first; i <= last; ++i) {
      if (low[i] === 0) { pen = false; continue; }
      const y = toY(this.value(low[i]));
      if (pen) ctx.lineTo(toX(i), y);
      else ctx.moveTo(toX(i), y);
      pen = true;
    }
    ctx.lineWidth = 1.6;
    ctx.lineJoin = "round";
    ctx.stroke();
    if ((this.plot / (this.end - this.begin)) < 6) return;
    for (let i = first; i <= last; ++i) {
      if (low[i] === 0) continue;
      ctx.beginPath();
      ctx.arc(toX(i), toY(this.value(low[i])), 2.4, 0, 7);
      ctx.fill();
    }
  }

  /** The first of ascending rows that is not before `row`. */
  firstFrom(at, row) {
    let low = 0;
    let high = at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[middle] < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Triangles where marks stand apart, else how many there are in each pixel. */
  drawMarks(ctx, toX, top, bottom) {
    this.marks.forEach((mark, k) => {
      const from = this.firstFrom(mark.at, this.begin);
      const to = this.firstFrom(mark.at, this.end);
      ctx.fillStyle = color(markColor(k));
      const y = top + 1 + 9 * k;
      const few = to - from <= this.plot / 14;
      if (!few) {
        const counts = new Uint32Array(Math.ceil(this.plot / 2) + 1);
        for (let i = from; i < to; ++i) ++counts[Math.floor((toX(mark.at[i]) - this.left) / 2)];
        const most = Math.max(...counts);
        counts.forEach((count, place) => {
          if (!count) return;
          ctx.globalAlpha = 0.15 + 0.85 * (count / most);
          ctx.fillRect(this.left + 2 * place, y, 2, 7);
        });
        ctx.globalAlpha = 1;
        return;
      }
      for (let i = from; i < to; ++i) {
        const x = toX(mark.at[i]);
        if (mark.kinds && to - from <= this.plot / 90) {
          ctx.font = ctx.font.replace(/[\d.]+px/, "10.5px");
          ctx.textAlign = "left";
          ctx.textBaseline = "middle";
          const word = mark.words[mark.kinds[i]];
          const next = i + 1 < to ? toX(mark.at[i + 1]) - 5 : this.left + this.plot;
          if (x + 7 + ctx.measureText(word).width < next) ctx.fillText(word, x + 7, y + 4);
        }
        ctx.beginPath();
        ctx.moveTo(x - 4, y);
        ctx.lineTo(x + 4, y);
        ctx.lineTo(x, y + 7);
        ctx.fill();
        ctx.globalAlpha = 0.22;
        ctx.fillRect(x - 0.5, y + 7, 1, bottom - y - 7);
        ctx.globalAlpha = 1;
      }
    });
  }

  /** The marks within a few pixels of a place, in words. */
  marksNear(x) {
    const each = (this.end - this.begin) / this.plot;
    const row = this.begin + (x - this.left) * each;
    return this.marks.map((mark, k) => {
      const from = this.firstFrom(mark.at, row - 6 * each), to = this.firstFrom(mark.at, row + 6 * each);
      if (to === from) return null;
      if (to - from > 1) return { k, text: `${grouped(to - from)} ${mark.name}` };
      const kind = mark.kinds ? `${mark.words[mark.kinds[from]]}: ` : "";
      return { k, text: `${kind}${mark.name}, ${this.place(mark.at[from])}` };
    }).filter(Boolean);
  }

  drawTip(ctx, lines, x, top) {
    if (!lines.length) return;
    const wide = Math.max(...lines.map((line) => ctx.measureText(line.text).width)) + 22;
    const left = x + 12 + wide > this.left + this.plot ? x - 12 - wide : x + 12;
    ctx.fillStyle = color("card");
    ctx.strokeStyle = color("line");
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.roundRect(left, top + 4, wide, 18 * lines.length + 8, 6);
    ctx.fill();
    ctx.stroke();
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    lines.forEach((line, i) => {
      ctx.fillStyle = color(KINDS[line.k]);
      ctx.fillRect(left + 7, top + 13 + 18 * i, 6, 6);
      ctx.fillStyle = color("ink");
      ctx.fillText(line.text, left + 17, top + 17 + 18 * i);
    });
  }

  /** Boxes of ECG paper, the small ones where they have four pixels. */
  drawPaper(ctx, toX, toY, low, high, top, bottom) {
    const rate = this.section.rate;
    for (const [name, wide, tall] of [["box", 0.04, 0.1], ["boxes", 0.2, 0.5]]) {
      const across = (wide * rate * this.plot) / (this.end - this.begin), up = (tall * (bottom - top)) / (high - low);
      if (across < 4 || up < 2.5) continue;
      ctx.strokeStyle = color(name);
      ctx.lineWidth = 1;
      ctx.beginPath();
      for (let k = Math.ceil(this.seconds(this.begin) / wide); k * wide <= this.seconds(this.end); ++k) {
        const x = Math.round(toX(k * wide * rate)) + 0.5;
        ctx.moveTo(x, top);
        ctx.lineTo(x, bottom);
      }
      for (let k = Math.ceil(low / tall); k * tall <= high; ++k) {
        const y = Math.round(toY(k * tall)) + 0.5;
        ctx.moveTo(this.left, y);
        ctx.lineTo(this.left + this.plot, y);
      }
      ctx.stroke();
    }
  }

  /** What lies between two corners: time, beats a minute, and values. */
  drawCaliper(ctx, toX, toY, top, bottom) {
    if (!this.caliper) return;
    const { from, to } = this.caliper;
    const rate = this.section.rate, rows = Math.abs(to[0] - from[0]);
    const [left, right] = [toX(Math.min(from[0], to[0])), toX(Math.max(from[0], to[0]))];
    ctx.save();
    ctx.beginPath();
    ctx.rect(this.left, top, this.plot, bottom - top);
    ctx.clip();
    ctx.fillStyle = color("signal-soft");
    ctx.fillRect(left, top, right - left, bottom - top);
    ctx.strokeStyle = color("ink");
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const x of [left, right]) { ctx.moveTo(Math.round(x) + 0.5, top); ctx.lineTo(Math.round(x) + 0.5, bottom); }
    for (const [, value] of [from, to]) { ctx.moveTo(left, Math.round(toY(value)) + 0.5); ctx.lineTo(right, Math.round(toY(value)) + 0.5); }
    ctx.stroke();
    ctx.restore();
    const time = rate ? `${this.describe(rows / rate)}${rows > 0.2 * rate && rows < 3 * rate ? `, ${((60 * rate) / rows).toFixed(0)} a minute` : ""}` : `${grouped(Math.round(rows))} rows`;
    const values = `${brief(Number(Math.abs(to[1] - from[1]).toPrecision(3)))}${this.section.unit ? " " + this.section.unit : ""}`;
    this.canvas.dataset.caliper = `${time}; ${values}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    const text = `${time}  ·  ${values}`, wide = ctx.measureText(text).width + 16;
    const middle = Math.min(Math.max((left + right) / 2, this.left + wide / 2), this.left + this.plot - wide / 2);
    ctx.fillStyle = color("ink");
    ctx.beginPath();
    ctx.roundRect(middle - wide / 2, bottom - 30, wide, 22, 6);
    ctx.fill();
    ctx.fillStyle = color("card");
    ctx.fillText(text, middle, bottom - 19);
  }

  draw() {
    const { ctx, width, height, scale } = context(this.canvas, Math.round(Math.min(Math.max(330, innerHeight * 0.42), 560)));
    this.plot = Math.max(50, width - this.left - 10);
    const top = 8 + 9 * this.marks.length;
    const bottom = height - 40;
    const toX = (row) => this.left + ((row - this.begin) / (this.end - this.begin)) * this.plot;
    const each = (this.end - this.begin) / this.plot;
    const asRows = this.bucket === 1 && each < 1.5;
    const spans = this.columns(this.begin, this.end, Math.round(this.plot * scale));

    let [low, high] = this.whole;
    if (this.fit) {
      this.pyramid.query(Math.floor(this.begin / this.bucket), Math.min(this.count, Math.ceil(this.end / this.bucket)));
      if (this.pyramid.high !== 0) [low, high] = [this.value(this.pyramid.low), this.value(this.pyramid.high)];
    }
    const air = (high - low || 1) * 0.06;
    [low, high] = this.span ?? [low - air, high + air];
    Object.assign(this, { heights: [low, high], top, bottom });
    const toY = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
    const heights = ticks(low, high, 6), words = tickWords(heights);
    const room = 27 + Math.max(...words.map((text) => ctx.measureText(text).width));
    if (room > this.left) {  // it only grows, so that the series does not shake
      this.left = room;
      this.draw();
      return;
    }

    if (this.section.grid) this.drawPaper(ctx, toX, toY, low, high, top, bottom);
    ctx.fillStyle = color("soft");
    ctx.strokeStyle = color("grid");
    ctx.lineWidth = 1;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    heights.forEach((value, i) => {
      const y = Math.round(toY(value)) + 0.5;
      if (y < top || y > bottom) return;
      ctx.beginPath();
      ctx.moveTo(this.left, y);
      ctx.lineTo(this.left + this.plot, y);
      ctx.stroke();
      ctx.fillText(words[i].replace("-", "−"), this.left - 7, y);
    });
    const rate = this.section.rate;
    const marks = rate ? timeTicks(this.seconds(this.begin), this.seconds(this.end), this.plot / 105).map(([s, text]) => [s * rate, text])
      : ticks(this.begin, this.end, this.plot / 105).map((row) => [row, grouped(row)]);
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    for (const [row, text] of marks) {
      const x = Math.round(toX(row)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, bottom + 4);
      ctx.stroke();
      if (x > this.left + 18 && x < this.left + this.plot - 24) ctx.fillText(text, x, bottom + 7);
    }
    ctx.fillText(rate ? "time [h:mm:ss]" : "row", this.left + this.plot / 2, bottom + 23);
    ctx.save();
    ctx.translate(12, (top + bottom) / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(this.section.label + (this.section.unit ? ` [${this.section.unit}]` : ""), 0, -6);
    ctx.restore();

    ctx.save();
    ctx.beginPath();
    ctx.rect(this.left, top - 2, this.plot, bottom - top + 2);
    ctx.clip();
    ctx.fillStyle = ctx.strokeStyle = color("signal");
    if (asRows) this.drawRows(ctx, toX, toY);
    else this.drawSpans(ctx, spans, toY, this.left, scale);
    ctx.restore();
    this.drawMarks(ctx, toX, 2, bottom);
    this.drawCaliper(ctx, toX, toY, top, bottom);

    this.drawReadout(ctx, top, bottom);
    this.drawStrip();
    this.fitButton.setAttribute("aria-pressed", this.fit && this.span === null);
    Object.assign(this.canvas.dataset, { begin: this.begin, end: this.end, mode: asRows ? "rows" : "spans", low, high });
  }

  drawReadout(ctx, top, bottom) {
    const span = this.end - this.begin;
    const length = this.section.rate ? this.describe(span / this.section.rate) : `${grouped(Math.round(span))} rows`;
    if (this.pointer === null || this.pointer < this.left || this.pointer > this.left + this.plot) {
      this.readout.textContent = `${length} shown, from ${this.place(this.begin)}`;
      return;
    }
    const each = span / this.plot;
    const row = this.begin + (this.pointer - this.left) * each;
    const from = Math.min(Math.floor((row - each / 2) / this.bucket + 0.5), this.count - 1);
    this.pyramid.query(Math.max(0, from), Math.min(this.count, Math.max(from + 1, Math.floor((row + each / 2) / this.bucket + 0.5))));
    const low = this.value(this.pyramid.low);
    const high = this.value(this.pyramid.high);
    const unit = this.section.unit ? " " + this.section.unit : "";
    const text = this.pyramid.high === 0 ? "missing" : low === high ? brief(low) + unit : `${brief(low)} to ${brief(high)}${unit}`;
    this.readout.textContent = `${this.place(row)}  ·  ${text}`;
    ctx.fillStyle = color("faint");
    ctx.fillRect(Math.round(this.pointer), top, 1, bottom - top);
    if (this.caliper?.held) return;
    const near = this.marksNear(this.pointer);
    this.canvas.dataset.tip = near.map((each) => each.text).join("; ");
    this.drawTip(ctx, near, this.pointer, top);
  }

  /** Seconds in the unit that a reader would choose. */
  describe(seconds) {
    if (seconds >= 5400) return `${brief(Number((seconds / 3600).toPrecision(3)))} h`;
    if (seconds >= 90) return `${brief(Number((seconds / 60).toPrecision(3)))} min`;
    if (seconds >= 1) return `${brief(Number(seconds.toPrecision(3)))} s`;
    return `${brief(Number((seconds * 1000).toPrecision(3)))} ms`;
  }

  drawStrip() {
    const { ctx, height, scale } = context(this.strip, 46);
    const columns = Math.round(this.plot * scale);
    if (!this.stripSpans || this.stripSpans.low.length !== columns) {
      this.stripSpans = this.columns(0, this.rows, columns);
      // For orientation only: a few spikes may be clipped here.
      const present = (list) => list.filter((_, x) => this.stripSpans.high[x] !== 0).sort();
      const lows = present(this.stripSpans.low);
      const highs = present(this.stripSpans.high);
      this.stripRange = lows.length ? [lows[Math.floor(lows.length * 0.02)], highs[Math.floor((highs.length - 1) * 0.98)]].map((code) => this.value(code)) : [0, 1];
    }
    const [low, high] = this.stripRange;
    const toY = (value) => Math.min(height, Math.max(0, height - 4 - ((value - low) / (high - low || 1)) * (height - 8)));
    ctx.fillStyle = color("grid");
    ctx.fillRect(this.left, 0, this.plot, height);
    ctx.globalAlpha = 0.75;
    ctx.fillStyle = color("signal");
    this.drawSpans(ctx, this.stripSpans, toY, this.left, scale);
    ctx.globalAlpha = 1;
    const from = this.left + (this.begin / this.rows) * this.plot;
    const wide = Math.max(3, ((this.end - this.begin) / this.rows) * this.plot);
    ctx.fillStyle = color("card");
    ctx.globalAlpha = 0.6;
    ctx.fillRect(this.left, 0, from - this.left, height);
    ctx.fillRect(from + wide, 0, Math.max(0, this.left + this.plot - from - wide), height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = color("signal");
    ctx.lineWidth = 1.5;
    ctx.strokeRect(from, 0.75, Math.min(wide, this.left + this.plot - from), height - 1.5);
    ctx.fillStyle = color("soft");
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillText("all", this.left - 7, height / 2);
  }
}
