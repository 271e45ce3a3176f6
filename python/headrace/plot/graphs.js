// SPDX-License-Identifier: Apache-2.0
// A graph that zooms (wheel, buttons), moves (drag) and names what the pointer is on.
(() => {
  const root = document.currentScript.parentElement;
  const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
  const unpack = (text, Type) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Type(bytes.buffer);
  };
  const x = unpack(data.x, Float32Array), y = unpack(data.y, Float32Array);
  const radius = unpack(data.radius, Float32Array), layer = unpack(data.layer, Uint8Array);
  const source = unpack(data.source, Uint32Array), target = unpack(data.target, Uint32Array);
  const count = x.length, NEAR = 4, FEW = 20000, MOST_LABELS = 60;

  // ---- elements ----
  const make = (tag, style, parent) => {
    const made = document.createElement(tag);
    made.style.cssText = style;
    parent.append(made);
    return made;
  };
  root.style.cssText = "position:relative;font:13px system-ui,sans-serif;user-select:none";
  const canvas = make("canvas", "display:block;width:100%;cursor:grab;touch-action:none", root);
  const tip = make("div", "position:absolute;display:none;pointer-events:none;padding:3px 8px;" +
    "border-radius:6px;background:#17212bee;color:#fff;white-space:nowrap;z-index:2", root);
  const tools = make("div", "position:absolute;right:8px;top:8px;display:flex;gap:4px", root);
  const legend = make("div", "display:flex;flex-wrap:wrap;gap:4px 16px;margin-top:8px;color:#777", root);
  for (const [name, color] of data.layers) {
    if (!name) continue;
    const entry = make("span", "display:inline-flex;align-items:center;gap:6px", legend);
    make("i", `width:11px;height:11px;border-radius:50%;background:${color}`, entry);
    entry.append(name);
  }
  const context = canvas.getContext("2d");

  // ---- neighbours, and a grid of places ----
  const begins = new Uint32Array(count + 1), others = new Uint32Array(2 * source.length);
  for (let e = 0; e < source.length; ++e) { ++begins[source[e]]; ++begins[target[e]]; }
  for (let v = 0, sum = 0; v <= count; ++v) { const own = begins[v]; begins[v] = sum; sum += own; }
  const next = begins.slice();
  for (let e = 0; e < source.length; ++e) {
    others[next[source[e]]++] = target[e];
    others[next[target[e]]++] = source[e];
  }
  const CELLS = Math.max(1, Math.round(Math.sqrt(count / 4)));
  const cellOf = (value, most) => Math.min(CELLS - 1, Math.max(0, Math.floor(value / most * CELLS)));
  const cells = Array.from({length: CELLS * CELLS}, () => []);
  for (let v = 0; v < count; ++v) cells[cellOf(y[v], data.height) * CELLS + cellOf(x[v], data.width)].push(v);
  // The largest are drawn last; names go to the largest first.
  const order = Uint32Array.from({length: count}, (_, v) => v).sort((a, b) => radius[a] - radius[b] || a - b);
  const ranked = [...data.named];
  const known = new Set(ranked);
  for (let i = count - 1; i >= 0; --i) if (!known.has(order[i])) ranked.push(order[i]);

  // ---- drawing ----
  let zoom = 1, left = 0, top = 0, scale = 1, hovered = -1, asked = false;
  const behind = new Image();
  behind.onload = () => ask();
  behind.src = data.behind;
  const isDark = () => {
    const [red, green, blue] = (getComputedStyle(root).color.match(/\d+/g) || [0, 0, 0]).map(Number);
    return red + green + blue > 384;
  };
  const sx = (v) => (x[v] - left) * zoom * scale, sy = (v) => (y[v] - top) * zoom * scale;

  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  function draw() {
    const wide = root.clientWidth, dense = window.devicePixelRatio || 1;
    if (!wide) return;
    scale = wide / data.width;
    const high = data.height * scale;
    const [pw, ph] = [Math.round(wide * dense), Math.round(high * dense)];
    if (canvas.width !== pw || canvas.height !== ph) [canvas.width, canvas.height] = [pw, ph];
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, wide, high);
    const grown = zoom * scale;
    const inView = new Uint8Array(count);
    let seen = 0;
    for (let v = 0; v < count; ++v) {
      const px = sx(v), py = sy(v);
      if (px > -20 && py > -20 && px < wide + 20 && py < high + 20) { inView[v] = 1; ++seen; }
    }
    if (zoom >= NEAR || source.length <= FEW) drawEdges(inView, seen);
    else if (behind.complete) {
      context.imageSmoothingQuality = "high";
      context.drawImage(behind, -left * grown, -top * grown, data.width * grown, data.height * grown);
    }
    if (hovered >= 0) drawNeighbours();
    const bigger = Math.pow(zoom, 0.55) * scale;
    const used = data.layers.length;
    for (let i = 0; i < count; ++i) {
      const v = order[i];
      if (!inView[v]) continue;
      const r = Math.max(radius[v] * bigger, 0.6);
      context.fillStyle = data.layers[Math.min(layer[v], used - 1)][1];
      if (r < 1.6) { context.fillRect(sx(v) - r, sy(v) - r, 2 * r, 2 * r); continue; }
      context.beginPath();
      context.arc(sx(v), sy(v), r, 0, 7);
      context.fill();
    }
    drawNames(inView, bigger, wide, high);
  }

  function drawEdges(inView, seen) {
    const several = data.layers.length > 1;
    context.lineWidth = 0.8;
    context.globalAlpha = Math.min(0.6, Math.max(0.12, 60 / Math.sqrt(1 + seen)));
    const paths = new Map();
    for (let e = 0; e < source.length; ++e) {
      const u = source[e], v = target[e];
      if (!inView[u] && !inView[v]) continue;
      const color = several && layer[u] === layer[v] ? data.layers[layer[u]][1] : "#9aa0a6";
      let path = paths.get(color);
      if (!path) paths.set(color, path = new Path2D());
      path.moveTo(sx(u), sy(u));
      path.lineTo(sx(v), sy(v));
    }
    for (const [color, path] of paths) { context.strokeStyle = color; context.stroke(path); }
    context.globalAlpha = 1;
  }

  function drawNeighbours() {
    context.strokeStyle = isDark() ? "#fff" : "#17212b";
    context.lineWidth = 1.2;
    context.globalAlpha = 0.7;
    context.beginPath();
    for (let i = begins[hovered]; i < begins[hovered + 1]; ++i) {
      context.moveTo(sx(hovered), sy(hovered));
      context.lineTo(sx(others[i]), sy(others[i]));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  function drawNames(inView, bigger, wide, high) {
    context.font = "12px system-ui,sans-serif";
    context.textAlign = "center";
    context.lineJoin = "round";
    const dark = isDark();
    const most = zoom > 1.01 ? MOST_LABELS : data.named.length, taken = [];
    for (const v of ranked) {
      if (taken.length >= most) break;
      if (zoom <= 1.01 && !known.has(v)) break;
      if (!inView[v]) continue;
      const px = sx(v), py = sy(v) - Math.max(radius[v] * bigger, 0.6) - 4;
      const half = context.measureText(data.names[v]).width / 2 + 3;
      if (px < 0 || px > wide || py < 0 || py > high + 12) continue;
      if (taken.some(([a, b, h]) => Math.abs(a - px) < h + half && Math.abs(b - py) < 13)) continue;
      taken.push([px, py, half]);
      context.lineWidth = 3;
      context.strokeStyle = dark ? "#151c24" : "#fff";
      context.strokeText(data.names[v], px, py);
      context.fillStyle = dark ? "#e4ebf2" : "#222";
      context.fillText(data.names[v], px, py);
    }
  }

  // ---- pointer ----
  const clamp = () => {
    const span = [data.width / zoom, data.height / zoom];
    left = Math.min(Math.max(left, -span[0] / 2), data.width - span[0] / 2);
    top = Math.min(Math.max(top, -span[1] / 2), data.height - span[1] / 2);
    if (zoom === 1) left = top = 0;
  };
  function zoomAt(px, py, factor) {
    const before = zoom;
    zoom = Math.min(400, Math.max(1, zoom * factor));
    left += px / scale * (1 / before - 1 / zoom);
    top += py / scale * (1 / before - 1 / zoom);
    clamp();
    ask();
  }
  function nearest(px, py) {
    const gx = left + px / (zoom * scale), gy = top + py / (zoom * scale);
    const reach = 14 / (zoom * scale);
    let best = -1, least = Infinity;
    for (let row = cellOf(gy - reach, data.height); row <= cellOf(gy + reach, data.height); ++row)
      for (let column = cellOf(gx - reach, data.width); column <= cellOf(gx + reach, data.width); ++column)
        for (const v of cells[row * CELLS + column]) {
          const apart = Math.hypot(x[v] - gx, y[v] - gy);
          if (apart < least) { least = apart; best = v; }
        }
    return least <= reach ? best : -1;
  }
  let held = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * 0.0016));
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    held = [event.offsetX, event.offsetY];
    canvas.setPointerCapture(event.pointerId);
    canvas.style.cursor = "grabbing";
  });
  canvas.addEventListener("pointerup", () => { held = null; canvas.style.cursor = "grab"; });
  canvas.addEventListener("pointerleave", () => { hovered = -1; tip.style.display = "none"; ask(); });
  canvas.addEventListener("pointermove", (event) => {
    const [px, py] = [event.offsetX, event.offsetY];
    if (held) {
      left -= (px - held[0]) / (zoom * scale);
      top -= (py - held[1]) / (zoom * scale);
      held = [px, py];
      clamp();
      ask();
      return;
    }
    const found = nearest(px, py);
    tip.style.display = found < 0 ? "none" : "block";
    if (found >= 0) {
      const name = data.layers[layer[found]][0];
      const edges = begins[found + 1] - begins[found];
      tip.textContent = `${data.names[found]}${name ? ` (${name})` : ""}: ${edges} edges`;
      tip.style.left = `${Math.min(px + 12, root.clientWidth - tip.offsetWidth - 4)}px`;
      tip.style.top = `${py + 14}px`;
    }
    if (found !== hovered) { hovered = found; ask(); }
  });
  const reset = () => { zoom = 1; clamp(); ask(); };
  canvas.addEventListener("dblclick", reset);
  const middle = (factor) => () => zoomAt(canvas.clientWidth / 2, canvas.clientHeight / 2, factor);
  for (const [sign, words, action] of [["+", "Nearer", middle(1.6)], ["\u2212", "Farther", middle(1 / 1.6)], ["\u21ba", "All of it", reset]]) {
    const button = make("button", "width:28px;height:28px;padding:0", tools);
    button.type = "button";
    button.textContent = sign;
    button.title = words;
    button.addEventListener("click", action);
  }
  new ResizeObserver(ask).observe(root);
  ask();
})();
