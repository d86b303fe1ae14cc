// Draws every <div data-figure="id"> from the JSON script element of that id, in the colours of the
// theme, and again when the theme or the room for it changes. The table beside a chart says the same.
"use strict";

(() => {
  // Below this width series are named in the key above the chart (charts.css), not at its end.
  const NARROW_PX = 560;
  const CHARACTER_PX = 7;
  const TICK_GAP_PX = 8;
  // As wide as the text of an A4 sheet with its margins, less what a card has around a chart.
  const PAPER_PX = 680;
  const CONFIG = { displayModeBar: false, doubleClick: false, showTips: false, responsive: false };
  const TOKEN = /^var\((--[\w-]+)\)$/;

  const drawn = new WeakMap();

  const probe = (scheme) => {
    const element = document.createElement("span");
    element.hidden = true;
    element.style.colorScheme = scheme;
    document.body.append(element);
    return element;
  };

  // A token's computed colour: light-dark() is resolved only on a property that is a colour.
  const themed = (value, element) => {
    if (typeof value === "string") {
      const token = TOKEN.exec(value);
      if (!token) return value;
      element.style.color = value;
      return getComputedStyle(element).color;
    }
    if (Array.isArray(value)) return value.map((part) => themed(part, element));
    if (value && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, part]) => [key, themed(part, element)]),
      );
    }
    return value;
  };

  const room = (place) => ({ width: place.clientWidth, height: place.clientHeight });

  // The part of the axis that its ticks stand on: few bars leave the rest of it free.
  const spread = ({ range, tickvals, type }) => {
    const steps = tickvals.length - 1;
    if (!range || type || steps < 1) return 1;
    return ((tickvals[steps] - tickvals[0]) / steps / (range[1] - range[0])) * tickvals.length;
  };

  // Ticks whose names would touch are left out: of days the last stays, of amounts the first.
  const thinned = (axis, width) => {
    const names = axis?.ticktext;
    if (!Array.isArray(names)) return axis;
    const lines = names.flatMap((name) => name.split("<br>"));
    const widest = CHARACTER_PX * Math.max(...lines.map((line) => line.length)) + TICK_GAP_PX;
    const every = Math.ceil((widest * names.length) / (width * spread(axis)));
    const from = axis.type === "date" ? names.length - 1 : 0;
    const stays = (_, index) => Math.abs(index - from) % every === 0;
    return { ...axis, tickvals: axis.tickvals.filter(stays), ticktext: names.filter(stays) };
  };

  const fitted = (layout, size) => {
    const isNarrow = size.width < NARROW_PX && layout.annotations;
    const margin = isNarrow ? { ...layout.margin, r: 8 } : layout.margin;
    const across = size.width - (margin?.l ?? 0) - (margin?.r ?? 0);
    const drawn = { ...layout, ...size, margin, xaxis: thinned(layout.xaxis, across) };
    return isNarrow ? { ...drawn, annotations: [], shapes: [] } : drawn;
  };

  // On paper a chart has its part of the sheet, as it has of the page: as wide as that it would be cut.
  const paperRoom = (place) => {
    const { width, height } = room(place);
    const page = document.getElementById("main")?.clientWidth || width;
    return { width: Math.min(width, Math.round((PAPER_PX * width) / page)), height };
  };

  const draw = (place, scheme = "", roomOf = room) => {
    const source = document.getElementById(place.dataset.figure);
    const size = roomOf(place);
    if (!source || !size.width) return;
    const element = probe(scheme);
    const figure = themed(JSON.parse(source.textContent), element);
    element.remove();
    drawn.set(place, size);
    Plotly.react(place, figure.data, fitted(figure.layout, size), CONFIG);
  };

  const drawAll = (scheme = "", roomOf = room) => {
    document.querySelectorAll("[data-figure]").forEach((place) => draw(place, scheme, roomOf));
  };

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const before = drawn.get(target);
      const now = room(target);
      if (before?.width !== now.width || before?.height !== now.height) draw(target);
    }
  });

  const watch = () => {
    resized.disconnect();
    document.querySelectorAll("[data-figure]").forEach((place) => resized.observe(place));
  };

  const start = () => {
    drawAll();
    watch();
  };

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
  document.addEventListener("theme:changed", () => drawAll());
  document.addEventListener("htmx:after:swap", start);
  addEventListener("beforeprint", () => drawAll("light", paperRoom)); // paper is white in either theme
  addEventListener("afterprint", () => drawAll());
  // Figures are measured with the font they are drawn in.
  document.fonts.ready.then(start);
})();
