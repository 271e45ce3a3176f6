// SPDX-License-Identifier: Apache-2.0
// What the cells of charts hold under a brush: from cubes, from rows in the page, or from Python.

/** A chart's axes that a brush moves along, x first; their number of steps. */
const brushed = (chart) => (chart.axes.length < 2 ? chart.axes : [chart.axes[1], chart.axes[0]]);
const stepsOf = (axis) => (axis.kind === "key" ? Math.max(axis.labels.length, 1) : axis.fine);
const isKeys = (chart) => chart.axes.length === 1 && chart.axes[0].kind === "key";
const binsOf = (axis) => (axis.kind === "key" ? axis.cells : Math.ceil(axis.fine / axis.per));
const cellCount = (chart) => chart.axes.reduce((count, axis) => count * binsOf(axis), 1);

/** Facts and arrays, as `pack` in Python wrote them. */
function unpack(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const types = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };
  let at = 4 + size;
  const arrays = facts.arrays.map(([kind, count]) => {
    const made = new types[kind](buffer, at, count);
    at += Math.ceil(made.byteLength / 8) * 8;
    return made;
  });
  return { facts, arrays };
}

/** Arrays to {counts, sums} by chart, and last the rows that are left; `but` is left out. */
function cellsOf(charts, arrays, but = -1) {
  let next = 0;
  const cells = charts.map((chart, index) => {
    if (index === but) return null;
    return { counts: arrays[next++], sums: chart.value ? arrays[next++] : null };
  });
  cells.push({ counts: arrays[next++], sums: null });
  return { cells, used: next };
}

/** The rows of a cube that a brush takes: its cells along the axes of the active chart. */
function cubeRows(chart, cube, selection) {
  if (isKeys(chart)) return selection;
  const pairs = brushed(chart).map((axis, k) => {
    const per = axis.kind === "key" ? 1 : cube.per;
    return [Math.floor(selection[k][0] / per + 1e-9), Math.ceil(selection[k][1] / per - 1e-9)];
  });
  const rows = [];
  if (pairs.length === 1) for (let i = pairs[0][0]; i < pairs[0][1]; ++i) rows.push(i);
  else for (let i = pairs[0][0]; i < pairs[0][1]; ++i) for (let j = pairs[1][0]; j < pairs[1][1]; ++j) rows.push(i * cube.steps[1] + j);
  return rows;
}

function sumRows(array, rows, count) {
  const out = new Float64Array(count);
  for (const row of rows) {
    const from = row * count;
    for (let i = 0; i < count; ++i) out[i] += array[from + i];
  }
  return out;
}

/** The cells of all charts but the active one under its brush. */
function fromCube(charts, active, cube, selection) {
  const rows = cubeRows(charts[active], cube, selection);
  return cube.cells.map((each, index) => {
    if (!each) return null;
    const count = index < charts.length ? cellCount(charts[index]) : 1;
    return { counts: sumRows(each.counts, rows, count), sums: each.sums && sumRows(each.sums, rows, count) };
  });
}

/** Asks the Python process that serves the page. */
class Served {
  constructor(spec, held) {
    this.spec = spec;
    this.held = held;
    this.oneBrush = false;
    this.limits = "Linked with Python: what is brushed here is selected there.";
  }

  async ask(path, body) {
    const answer = await fetch(path, { method: "POST", headers: { "X-Headrace-Token": this.spec.token }, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`the server answers ${answer.status}: ${await answer.text()}`);
    return unpack(await answer.arrayBuffer());
  }

  shown({ facts, arrays }) {
    if (!arrays.length) return null;
    return { ...cellsOf(this.spec.charts, arrays), ...facts };
  }

  async counts(selections) { return this.shown(await this.ask("/select", { selections })); }

  /** The counts that came with the page; without them Python could not count, and says why. */
  async first() { return this.held.length ? this.shown(unpack(this.held.buffer)) : this.state(-1); }

  async state(version) { return this.shown(await this.ask("/state", { version })); }

  async cube(active, selections) {
    const { facts, arrays } = await this.ask("/cube", { active, selections });
    return { ...facts, cells: cellsOf(this.spec.charts, arrays, active).cells };
  }
}

/** Cubes in the page: one brush at a time. */
class Cubes {
  constructor(spec, { facts, arrays }) {
    this.spec = spec;
    this.oneBrush = true;
    this.tables = facts.tables;
    let { cells, used } = cellsOf(spec.charts, arrays);
    this.base = cells;
    this.cubes = {};
    spec.charts.forEach((_, index) => {
      if (!facts.active[index]) return;
      const made = cellsOf(spec.charts, arrays.slice(used), index);
      used += made.used;
      this.cubes[index] = { ...facts.active[index], cells: made.cells };
    });
    this.limits = "This page works without a server or a network. It holds one brush at a time, exactly; tables show the first of all rows.";
  }

  async counts(selections) {
    const [active] = Object.keys(selections).map(Number);
    if (active === undefined) return { cells: this.base, tables: this.tables, selections };
    const cells = fromCube(this.spec.charts, active, this.cubes[active], selections[active]);
    cells[active] = this.base[active];
    return { cells, tables: this.tables, selections };
  }

  async cube(active) { return this.cubes[active]; }
}

/** Rows in the page: any brushes at once. */
class Rows {
  constructor(spec, { facts, arrays }) {
    this.spec = spec;
    this.oneBrush = false;
    this.heads = facts.tables;
    this.whole = facts.whole ?? {};
    let { used } = cellsOf(spec.charts, arrays);
    this.columns = spec.charts.map((chart) => {
      const axes = chart.axes.map(() => ({ codes: arrays[used++], places: arrays[used++] }));
      return { axes, values: chart.value ? arrays[used++] : null };
    });
    const known = Object.keys(this.whole).length || !Object.keys(this.heads).length;
    this.limits = `This page works without a server or a network. It holds the codes of all ${grouped(spec.rows)} rows, so all brushes at once are exact${known ? "" : "; tables show the first of all rows"}.`;
  }

  /** By row a bit for each chart whose selection leaves it out. */
  failing(selections) {
    const failed = new Uint32Array(this.spec.rows);
    for (const [key, selection] of Object.entries(selections)) {
      const index = Number(key), chart = this.spec.charts[index], bit = 1 << index;
      const own = this.columns[index].axes;
      const axes = own.length < 2 ? own : [own[1], own[0]];
      brushed(chart).forEach((axis, k) => {
        const { codes, places } = axes[k];
        if (axis.kind === "key") {
          const wanted = new Uint8Array(65537);
          const cells = isKeys(chart) ? selection : Array.from({ length: selection[k][1] - selection[k][0] }, (_, i) => selection[k][0] + i);
          for (const cell of cells) wanted[cell] = 1;
          for (let i = 0; i < failed.length; ++i) if (!wanted[places[codes[i]] ?? 65535]) failed[i] |= bit;
        } else {
          const [low, high] = selection[k];
          for (let i = 0; i < failed.length; ++i) if (!(codes[i] >= low && codes[i] < high)) failed[i] |= bit;
        }
      });
    }
    return failed;
  }

  direct(selections) {
    const failed = this.failing(selections);
    const cells = this.spec.charts.map((chart, index) => {
      const { axes, values } = this.columns[index];
      const other = ~(1 << index);
      const count = cellCount(chart);
      const counts = new Float64Array(count), sums = values && new Float64Array(count);
      const bins = chart.axes.map(binsOf);
      rows: for (let i = 0; i < failed.length; ++i) {
        if (failed[i] & other) continue;
        if (values && values[i] !== values[i]) continue;
        let place = 0;
        for (let a = 0; a < axes.length; ++a) {
          const cell = axes[a].places[axes[a].codes[i]];
          if (!(cell < bins[a])) continue rows;
          place = place * bins[a] + cell;
        }
        ++counts[place];
        if (sums) sums[place] += values[i];
      }
      return { counts, sums };
    });
    let left = 0;
    for (let i = 0; i < failed.length; ++i) left += failed[i] === 0;
    cells.push({ counts: [left], sums: null });
    const tables = {};
    for (const [index, [heads, first]] of Object.entries(this.heads)) {
      const all = this.whole[index];
      const found = [];
      if (all) for (let i = 0; i < failed.length && found.length < this.spec.charts[index].rows; ++i) if (!failed[i]) found.push(all[i]);
      tables[index] = [heads, all ? found : first];
    }
    return { cells, tables, selections };
  }

  async counts(selections) { return this.direct(selections); }

  async cube() { return null; }
}

/** What a saved page holds: rows if they are few, else cubes. */
async function heldSource(spec, packed) {
  const whole = unpack((await inflate(packed)).buffer);
  return whole.facts.few ? new Rows(spec, whole) : new Cubes(spec, whole);
}
