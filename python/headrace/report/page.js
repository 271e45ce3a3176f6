// SPDX-License-Identifier: Apache-2.0
// Shared code of the page: embedded data, colours, axes, SVG and canvas helpers.
"use strict";

const page = { sections: [], painters: [], series: null, brushed: null };

// ---- data ---------------------------------------------------------------------------------------
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** A numeric array as the page carries it: {f8: base64} or {u4: base64}. */
function numbers(packed) {
  if (!packed) return null;
  const [kind, text] = Object.entries(packed)[0];
  const buffer = bytesOf(text).buffer;
  return kind === "f8" ? new Float64Array(buffer) : kind === "f4" ? new Float32Array(buffer) : new Uint32Array(buffer);
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Codes of `rows` rows of `count`: differences of one byte, 0 before a code of two bytes. */
function unpackCodes(bytes, rows, count) {
  const codes = new Uint16Array(rows * count);
  let at = 0;
  for (let row = 0; row < rows; ++row) {
    let last = 0;
    for (let i = row * count; i < (row + 1) * count; ++i) {
      const first = bytes[at++];
      if (first !== 0) last += first - 128;
      else { last = bytes[at] | (bytes[at + 1] << 8); at += 2; }
      codes[i] = last;
    }
  }
  return codes;
}

const unpacked = new Map();

/** Codes of a packed series: {blob, rows, count, offset, step}. Its text leaves the page. */
function codesOf(packed) {
  if (!unpacked.has(packed.blob)) {
    const holder = document.getElementById("blob-" + packed.blob);
    const bytes = bytesOf(holder.textContent.trim());
    holder.remove();
    unpacked.set(packed.blob, inflate(bytes).then((codes) => unpackCodes(codes, packed.rows, packed.count)));
  }
  return unpacked.get(packed.blob);
}

// ---- colours ------------------------------------------------------------------------------------
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

const KINDS = ["good", "bad", "third", "fourth", "signal"];
// From common to strange; readable on white and on near black.
const RAMP = [[47, 119, 190], [109, 93, 186], [184, 74, 147], [226, 88, 86], [244, 146, 43]];

function rampColor(share) {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  const part = place - low;
  const mixed = RAMP[low].map((value, i) => Math.round(value + (RAMP[low + 1][i] - value) * part));
  return `rgb(${mixed.join(",")})`;
}

/** Redraws now and whenever colours or sizes change. */
function paints(element, draw) {
  page.painters.push(draw);
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(element);
  draw();
}

// ---- numbers and axes -----------------------------------------------------------------------------
/** A number with its thousands apart: 12,345.6. The first `toLocaleString` of a page takes tens of milliseconds. */
function grouped(value) {
  const [whole, part] = String(value).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
}

function brief(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "missing";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(digits - 2).replace("e+", "e");
  return grouped(Number.isInteger(value) ? value : Number(value.toPrecision(digits)));
}

/** Ticks as words, in as many digits as say them exactly; they have at most twelve. */
function tickWords(values) {
  const exact = (digits) => values.every((value) => Number(brief(value, digits).replaceAll(",", "")) === value);
  let digits = 4;
  while (values.length > 1 && digits < 13 && !exact(digits)) ++digits;
  return values.map((value) => brief(value, digits));
}

function niceStep(span, wanted) {
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 2.5, 5, 10]) if (factor * power >= rough) return factor * power;
  return 10 * power;
}

/** Multiples of a round step, which is a multiple of `unit` if there is one. */
function ticks(low, high, wanted, unit) {
  if (!(high > low)) return [low];
  let step = niceStep(high - low, wanted);
  if (unit && step % unit) step = niceStep(high - low, (high - low) / Math.max(unit, 2 * step));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) found.push(Number((k * step).toPrecision(12)));
  return found;
}

const TIME_STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000];

/** Seconds as h:mm:ss with `digits` decimals. */
function clock(seconds, digits = 0) {
  const scale = 10 ** digits;
  const total = Math.round(Math.abs(seconds) * scale);
  const whole = Math.floor(total / scale);
  const two = (value) => String(value).padStart(2, "0");
  const tail = digits ? "." + String(total % scale).padStart(digits, "0") : "";
  return (seconds < 0 ? "−" : "") + `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${tail}`;
}

/** Ticks of an axis in h:mm:ss: [[seconds, text], ...]. */
function timeTicks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const step = TIME_STEPS.find((each) => each >= rough) ?? niceStep(high - low, wanted);
  const digits = step >= 1 ? 0 : Math.ceil(-Math.log10(step) - 1e-9);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) found.push([k * step, clock(k * step, digits)]);
  return found;
}

// ---- words for SVG, HTML and canvas ---------------------------------------------------------------
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") element.textContent = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** The drawing context of a canvas in CSS pixels, sharp on dense screens, and its size. */
function context(canvas, height, width = canvas.clientWidth) {
  const scale = window.devicePixelRatio || 1;
  const wide = Math.max(1, Math.round(width * scale));
  const high = Math.round(height * scale);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.height = height + "px";
  }
  page.family ??= getComputedStyle(document.body).fontFamily;
  const ctx = canvas.getContext("2d");
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.font = `12px ${page.family}`;
  return { ctx, width, height, scale };
}

/** Words about places of a canvas in ascending order; those that would overlap are left out. */
function apart(ctx, marks, y) {
  let free = -Infinity;
  for (const [x, words] of marks) {
    const half = ctx.measureText(words).width / 2;
    if (x - half < free) continue;
    ctx.fillText(words, x, y);
    free = x + half + 4;
  }
}

/** A key of a legend: a small shape and what it means. */
function key(shape, text) {
  const mark = svg("svg", { width: 14, height: 12, viewBox: "0 0 14 12" });
  const paint = `var(--${shape.color ?? "signal"})`;
  if (shape.kind === "line") mark.append(svg("path", { d: "M0 6h14", stroke: paint, "stroke-width": shape.width ?? 2, "stroke-dasharray": shape.dash ?? "none" }));
  if (shape.kind === "band") mark.append(svg("rect", { y: 1, width: 14, height: 10, rx: 2, fill: paint }));
  if (shape.kind === "triangle") mark.append(svg("path", { d: "M2 1h10l-5 9z", fill: paint }));
  if (shape.kind === "ring") mark.append(svg("circle", { cx: 7, cy: 6, r: 4.2, fill: "none", stroke: paint, "stroke-width": 1.6 }));
  if (shape.kind === "dot") mark.append(svg("circle", { cx: 7, cy: 6, r: 3.2, fill: paint }));
  return make("span", { class: "key" }, mark, make("span", { text }));
}

/** Path of a row of numbers in a box; a missing one breaks it. */
function rowPath(values, left, top, width, height, low, high) {
  let path = "";
  let pen = "M";
  const span = high > low ? high - low : 1;
  values.forEach((value, i) => {
    if (value === null || Number.isNaN(value)) { pen = "M"; return; }
    const x = left + (values.length > 1 ? (i / (values.length - 1)) * width : width / 2);
    path += `${pen}${x.toFixed(2)} ${(top + height - ((value - low) / span) * height).toFixed(2)}`;
    pen = "L";
  });
  return path;
}

/** Lowest and highest of lists of numbers, missing ones apart. */
function extent(lists) {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) for (const value of list) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Drag, wheel and double click on a canvas: what a view that pans and zooms is told; with `brush` a drag with Shift too. */
function pansAndZooms(canvas, { move, zoom, reset, hover, click, leave, brush }) {
  let last = null;
  let corner = null;
  let travelled = 0;
  let calm = 0;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  // A wheel gesture that began by scrolling the page keeps scrolling it.
  window.addEventListener("wheel", (event) => { if (event.target !== canvas) calm = performance.now() + 250; }, { passive: true });
  canvas.addEventListener("wheel", (event) => {
    if (performance.now() < calm) { calm = performance.now() + 250; return; }
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const [x, y] = at(event);
    // Shift turns a wheel sideways in some browsers.
    const turned = event.shiftKey && event.deltaY === 0 ? event.deltaX : event.deltaY;
    if (!event.shiftKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(-event.deltaX * lines, 0);
    else zoom(Math.exp(Math.max(-1, Math.min(1, turned * lines * 0.0018))), x, y, event.shiftKey);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    last = at(event);
    corner = brush && event.shiftKey ? last : null;
    travelled = 0;
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("dragging");
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = at(event);
    if (last) {
      travelled += Math.hypot(here[0] - last[0], here[1] - last[1]);
      if (travelled > 3 && corner) brush(corner, here, false);
      else if (travelled > 3) move(here[0] - last[0], here[1] - last[1]);
      last = here;
    }
    hover?.(here[0], here[1]);
  });
  const end = (event) => {
    if (last && travelled <= 3 && event.type === "pointerup") click?.(...at(event));
    else if (last && corner) brush(corner, last, true);
    last = corner = null;
    canvas.classList.remove("dragging");
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => leave?.());
  canvas.addEventListener("dblclick", () => reset());
}
