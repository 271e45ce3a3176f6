// SPDX-License-Identifier: Apache-2.0
// Draws the charts of a dashboard on canvases.

const inks = {};

const rgbOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Colours of the theme, asked once for each. */
function readInks() {
  for (const name of ["page", "card", "ink", "soft", "faint", "line", "grid", "signal", "bad"]) inks[name] = color(name);
  inks.rgb = (name) => rgbOf(inks[name]);
  inks.font = `12px ${getComputedStyle(document.body).fontFamily}`;
}

const MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const SPANS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY];

/** Times as short as the distance between them allows, in UTC. */
function timeText(value, step) {
  const text = new Date(value).toISOString();
  if (step < 1000) return text.slice(11, 23);
  if (step < MINUTE) return text.slice(11, 19);
  if (step < DAY) return text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16);
  if (step < 28 * DAY) return text.slice(0, 10).slice(5);
  return step < 360 * DAY ? text.slice(0, 7) : text.slice(0, 4);
}

function dateTicks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const step = SPANS.find((each) => each >= rough);
  const found = [];
  if (step) {
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push([at, timeText(at, step)]);
    return found;
  }
  const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find((each) => each * 30 * DAY >= rough) ?? 2400;
  const first = new Date(low);
  for (let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months; ; month += months) {
    const at = Date.UTC(Math.floor(month / 12), month % 12, 1);
    if (at > high) return found;
    if (at >= low) found.push([at, timeText(at, months * 30 * DAY)]);
  }
}

/** The value of a step of an axis, as text. */
function stepText(axis, step) {
  if (axis.kind === "key") return axis.labels[Math.min(step, axis.labels.length - 1)] ?? "";
  const value = axis.origin + step * axis.width;
  if (axis.kind === "time") return axis.width < DAY ? new Date(value).toISOString().slice(0, 16).replace("T", " ") : new Date(value).toISOString().slice(0, 10);
  return brief(Number(value.toPrecision(6)));
}

/** What the cells of a chart show: counts, sums or means. */
function valuesOf(chart, cells) {
  if (!cells.sums) return cells.counts;
  if (chart.agg === "sum") return cells.sums;
  return Float64Array.from(cells.sums, (sum, i) => sum / cells.counts[i]);
}

function shortened(ctx, words, width) {
  if (ctx.measureText(words).width <= width) return words;
  let most = words.length;
  while (most > 1 && ctx.measureText(words.slice(0, most) + "…").width > width) --most;
  return words.slice(0, most) + "…";
}

/** Ticks of an axis as [place from 0 to 1, words]. */
function axisTicks(axis, pixels, apart = 70) {
  if (axis.kind === "key") return axis.labels.map((label, i) => [(i + 0.5) / axis.labels.length, label]);
  const high = axis.origin + axis.fine * axis.width;
  const place = (value) => (value - axis.origin) / (high - axis.origin || 1);
  if (axis.kind === "time") return dateTicks(axis.origin, high, pixels / (apart + 10)).map(([at, words]) => [place(at), words]);
  if (!axis.whole) return worded(ticks(axis.origin, high, pixels / apart), place);
  const single = axis.per * axis.width === 1;  // a cell for each number, which stands in its middle
  const found = ticks(axis.origin, single ? high - 1 : high, pixels / apart, 1);
  return worded(found, (value) => place(single ? value + 0.5 : value));
}

function worded(values, place) {
  const words = tickWords(values);
  return values.map((value, i) => [place(value), words[i]]);
}

function drawAcross(ctx, box, axis, words = axis.label) {
  ctx.fillStyle = inks.soft;
  ctx.strokeStyle = inks.line;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const base = box.top + box.height;
  const marks = axisTicks(axis, box.width);
  if (axis.kind === "key") {
    const wide = box.width / Math.max(axis.labels.length, 1);
    if (wide > 14) for (const [at, each] of marks) ctx.fillText(shortened(ctx, each, wide), box.left + at * box.width, base + 5);
  } else drawApart(ctx, box, marks);
  ctx.strokeRect(box.left, Math.round(base) + 0.5, box.width, 0);
  if (words) ctx.fillText(words, box.left + box.width / 2, base + 21);
}

/** Words below a box, kept on its canvas; those that would overlap are left out. */
function drawApart(ctx, box, marks) {
  apart(ctx, marks.map(([at, words]) => [Math.min(box.left + at * box.width, box.left + box.width + 9 - ctx.measureText(words).width / 2), words]), box.top + box.height + 5);
}

/** Ascending ticks on the left; long ones take room from the box, and words that would overlap are left out. */
function drawUp(ctx, box, marks, lines) {
  const more = Math.max(...marks.map(([, words]) => ctx.measureText(words).width)) + 14 - box.left;
  if (more > 0) {
    const taken = Math.min(more, Math.max(0, Math.min(150, 0.4 * (box.left + box.width)) - box.left));
    box.left += taken;
    box.width -= taken;
  }
  ctx.fillStyle = inks.soft;
  ctx.strokeStyle = inks.grid;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  let free = Infinity;
  for (const [at, words] of marks) {
    const y = Math.round(box.top + (1 - at) * box.height) + 0.5;
    if (lines) ctx.strokeRect(box.left, y, box.width, 0);
    if (y > free) continue;
    free = y - 11;
    ctx.fillText(shortened(ctx, words, box.left - 8), box.left - 6, y);
  }
}

/** The range of finite values and its ticks; infinite ones stand at its ends, and bars begin at zero. */
function valueScale(values, zero) {
  let low = zero ? 0 : Infinity, high = zero ? 0 : -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low < high)) [low, high] = zero || !Number.isFinite(low) ? [0, 1] : [low - 0.5, low + 0.5];
  const air = (high - low) * 0.05;
  high += high > 0 || !zero ? air : 0;
  low -= low < 0 || !zero ? air : 0;
  const place = (value) => Math.min(Math.max((value - low) / (high - low), 0), 1);
  return { place, marks: worded(ticks(low, high, 4), place) };
}

function boxOf(width, height, left = 58) {
  return { left, top: 6, width: Math.max(30, width - left - 10), height: height - 46 };
}

const DRAW = {
  histogram(ctx, box, chart, cells) {
    const values = valuesOf(chart, cells);
    const scale = valueScale(values, true);
    drawUp(ctx, box, scale.marks, true);
    const wide = box.width / values.length, zero = box.top + (1 - scale.place(0)) * box.height;
    ctx.fillStyle = inks.signal;
    for (let i = 0; i < values.length; ++i) {
      const y = box.top + (1 - scale.place(values[i])) * box.height;
      if (values[i] > 0) ctx.fillRect(box.left + i * wide + 0.5, Math.min(y, zero - 1), Math.max(wide - 1, 0.7), Math.max(zero - y, 1));
    }
    drawAcross(ctx, box, chart.axes[0]);
  },

  trend(ctx, box, chart, cells) {
    const values = valuesOf(chart, cells);
    const scale = valueScale(values, chart.agg !== "mean");
    drawUp(ctx, box, scale.marks, true);
    const wide = box.width / values.length;
    ctx.strokeStyle = ctx.fillStyle = inks.signal;
    ctx.lineWidth = 1.8;
    ctx.lineJoin = "round";
    ctx.beginPath();
    let pen = false;
    values.forEach((value, i) => {
      const known = value === value && (chart.agg !== "mean" || cells.counts[i] > 0);
      const x = box.left + (i + 0.5) * wide, y = box.top + (1 - scale.place(value)) * box.height;
      if (known && pen) ctx.lineTo(x, y);
      else if (known) ctx.moveTo(x, y);
      pen = known;
    });
    ctx.stroke();
    drawAcross(ctx, box, chart.axes[0], chart.value ? `${chart.axes[0].label}: ${chart.agg} of ${chart.value}` : undefined);
  },

  bar(ctx, box, chart, cells, selection) {
    const values = valuesOf(chart, cells), labels = chart.axes[0].labels;
    const scale = valueScale(values, true);
    const high = box.height / Math.max(labels.length, 1);
    const zero = box.left + scale.place(0) * box.width;
    const chosen = selection && new Set(selection), every = Math.ceil(11 / high);
    ctx.textBaseline = "middle";
    labels.forEach((label, i) => {
      const y = box.top + i * high, x = box.left + scale.place(values[i]) * box.width;
      ctx.globalAlpha = chosen && !chosen.has(i) ? 0.28 : 1;
      ctx.fillStyle = inks.signal;
      if (values[i] === values[i]) ctx.fillRect(Math.min(zero, x), y + high * 0.12, Math.max(Math.abs(x - zero), 0.5), high * 0.76);
      if (i % every) return;
      ctx.globalAlpha = 1;
      ctx.fillStyle = inks.soft;
      ctx.textAlign = "right";
      ctx.fillText(shortened(ctx, label, box.left - 8), box.left - 6, y + high / 2);
    });
    ctx.globalAlpha = 1;
    ctx.fillStyle = inks.soft;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    drawApart(ctx, box, scale.marks);
    const more = chart.axes[0].total - labels.length;
    const about = chart.value ? `${chart.agg} of ${chart.value}` : "rows";
    ctx.fillText(more > 0 ? `${about}; ${labels.length} of ${chart.axes[0].total} keys` : about, box.left + box.width / 2, box.top + box.height + 21);
  },

  heatmap(ctx, box, chart, cells) {
    const [up, across] = chart.axes, values = valuesOf(chart, cells);
    const scale = valueScale(values, chart.agg !== "mean");
    const shades = shadesOf(inks.rgb("signal"), 0.08);
    drawUp(ctx, box, axisTicks(up, box.height, 40), false);
    drawPixels(ctx, box, binsOf(across), binsOf(up), (i) => {
      if (!(cells.counts[i] > 0) || values[i] !== values[i]) return 0;
      return shades[Math.round(255 * Math.sqrt(scale.place(values[i])))];
    });
    drawAcross(ctx, box, across);
  },

  points(ctx, box, chart, cells) {
    const [up, across, layer] = chart.axes;
    const size = [binsOf(across), binsOf(up)], counts = cells.counts;
    drawUp(ctx, box, axisTicks(up, box.height, 40), false);
    if (!layer) {
      const shares = equalized(counts), shades = shadesOf(inks.rgb("signal"), 0.15);
      drawPixels(ctx, box, ...size, (i) => (counts[i] ? shades[shares.get(counts[i])] : 0));
    } else {
      const layers = layer.cells, totals = new Float64Array(size[0] * size[1]);
      for (let i = 0; i < totals.length; ++i) for (let k = 0; k < layers; ++k) totals[i] += counts[i * layers + k];
      const shares = equalized(totals), ground = inks.rgb("card");
      const layerInks = Array.from({ length: layers }, (_, k) => rgbOf(page.spec.colors[k < layer.labels.length ? k : 7]));
      drawPixels(ctx, box, ...size, (i) => {
        if (!totals[i]) return 0;
        const mixed = [0, 0, 0];
        for (let k = 0; k < layers; ++k) for (let c = 0; c < 3; ++c) mixed[c] += (layerInks[k][c] * counts[i * layers + k]) / totals[i];
        return pixel(ground, mixed, 0.15 + (0.85 * shares.get(totals[i])) / 255);
      });
    }
    drawAcross(ctx, box, across);
  },

  series(ctx, box, chart, cells) {
    const { low, high } = chart, count = low.length;
    const scale = valueScale([...low, ...high].filter((value) => value !== null), false);
    drawUp(ctx, box, scale.marks, true);
    const wide = box.width / Math.max(count, 1);
    let most = 0;
    for (const each of cells.counts) most = Math.max(most, each);
    for (let i = 0; i < count; ++i) {
      if (low[i] === null) continue;
      const top = box.top + (1 - scale.place(high[i])) * box.height, bottom = box.top + (1 - scale.place(low[i])) * box.height;
      ctx.fillStyle = cells.counts[i] > 0 ? inks.signal : inks.line;
      ctx.globalAlpha = cells.counts[i] > 0 ? 0.25 + 0.75 * (cells.counts[i] / most) : 1;
      ctx.fillRect(box.left + i * wide, top - 0.5, Math.max(wide, 0.7), Math.max(bottom - top, 1));
    }
    ctx.globalAlpha = 1;
    drawAcross(ctx, box, chart.axes[0], "");
  },

  choropleth(ctx, box, chart, cells) {
    const values = valuesOf(chart, cells), labels = chart.axes[0].labels;
    const scale = valueScale(values, chart.agg !== "mean");
    const map = mapOf(chart, box);
    const places = new Map(labels.map((label, i) => [label, i]));
    const [ground, ink] = [inks.rgb("grid"), inks.rgb("signal")];
    for (const [name, path] of map) {
      const i = places.get(name), value = i === undefined ? NaN : values[i];
      const share = value === value && cells.counts[i] > 0 ? 0.1 + 0.9 * Math.sqrt(scale.place(value)) : 0;
      ctx.fillStyle = `rgb(${ground.map((from, k) => Math.round(from + (ink[k] - from) * share)).join(",")})`;
      ctx.fill(path, "evenodd");
      const chosen = chart.selection?.includes(i);
      ctx.strokeStyle = chosen ? inks.ink : inks.card;
      ctx.lineWidth = chosen ? 2 : 0.8;
      ctx.stroke(path);
    }
  },
};

/** Ranks of 0 to 255 among the cells that have something, so that few dense cells do not hide the rest. */
function equalized(counts) {
  const some = counts.filter((count) => count > 0).sort(), ranks = new Map();
  for (let i = 0; i < some.length; ++i) if (some[i] !== some[i + 1]) ranks.set(some[i], Math.round((255 * (i + 1)) / some.length));
  return ranks;
}

/** A share of a colour over the ground, as a canvas holds it: alpha, blue, green, red. */
function pixel(ground, ink, share) {
  let made = 0xff;
  for (let c = 2; c >= 0; --c) made = (made << 8) | Math.round(ground[c] + (ink[c] - ground[c]) * share);
  return made;
}

/** A colour over the card in 256 shades from `least` to full. */
function shadesOf(ink, least) {
  const ground = inks.rgb("card");
  return Uint32Array.from({ length: 256 }, (_, k) => pixel(ground, ink, least + ((1 - least) * k) / 255));
}

/** Cells, whose row 0 is below, as one picture; 0 is empty. */
function drawPixels(ctx, box, wide, high, inkOf) {
  const small = document.createElement("canvas");
  small.width = wide;
  small.height = high;
  const inner = small.getContext("2d"), image = inner.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < high; ++row) for (let column = 0; column < wide; ++column) pixels[(high - 1 - row) * wide + column] = inkOf(row * wide + column);
  inner.putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(small, box.left, box.top, box.width, box.height);
  ctx.strokeStyle = inks.line;
  ctx.strokeRect(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1);
}

/** The paths of a map's regions, in plate carree about its middle, as large as the box allows. */
function mapOf(chart, box) {
  const key = `${box.width} ${box.height}`;
  if (chart.mapKey === key) return chart.map;
  const rings = Object.values(chart.shapes).flat();
  const [west, east] = extent(rings.map((ring) => ring.map((point) => point[0])));
  const [south, north] = extent(rings.map((ring) => ring.map((point) => point[1])));
  const squeeze = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const scale = Math.min(box.width / ((east - west) * squeeze || 1), box.height / (north - south || 1));
  chart.map = Object.entries(chart.shapes).map(([name, shape]) => {
    const path = new Path2D();
    for (const ring of shape) {
      ring.forEach(([x, y], i) => {
        const px = box.left + box.width / 2 + (x - (west + east) / 2) * squeeze * scale;
        const py = box.top + box.height / 2 - (y - (south + north) / 2) * scale;
        if (i) path.lineTo(px, py);
        else path.moveTo(px, py);
      });
      path.closePath();
    }
    return [name, path];
  });
  chart.mapKey = key;
  return chart.map;
}
