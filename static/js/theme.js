// Runs before the first paint: the theme the reader chose, kept on this device. Then the few
// conveniences that need a script; every page works without them.
"use strict";

(() => {
  const root = document.documentElement;
  const KEY = "runrate-theme";

  const kept = () => {
    try {
      return localStorage.getItem(KEY) || "system";
    } catch {
      return "system"; // storage refused: follow the system
    }
  };

  const wear = (theme) => {
    if (theme === "system") {
      root.removeAttribute("data-theme");
    } else {
      root.dataset.theme = theme;
    }
    for (const button of document.querySelectorAll("[data-set-theme]")) {
      button.setAttribute("aria-pressed", String(button.dataset.setTheme === theme));
    }
  };

  root.classList.add("js");
  wear(kept());

  const choose = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // storage refused: the choice lasts as long as the page
    }
    wear(theme);
    document.dispatchEvent(new CustomEvent("theme:changed"));
  };

  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copy);
    const said = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source); // no clipboard here: leave it selected
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = said; }, 1500);
  };

  const isTyping = (element) => element.matches("input, select, textarea, [contenteditable]");

  // What the search suggests stays closed until something else is typed.
  const closeSuggested = (event) => {
    const list = document.getElementById("suggested");
    if (!list?.checkVisibility()) return;
    event.preventDefault(); // the browser would empty the field
    list.dataset.closed = "";
    list.parentElement.querySelector("[data-search]").focus();
  };

  // Arrows walk from the field through what was found, and back to it.
  const walkFound = (event) => {
    const field = document.querySelector("[data-search]");
    const found = ["suggested", "found"].map((id) => document.getElementById(id));
    const list = found.find((each) => each?.checkVisibility());
    if (!list || (event.target !== field && !list.contains(event.target))) return;
    const stops = [field, ...list.querySelectorAll("li a, .whole a")];
    const step = event.key === "ArrowDown" ? 1 : stops.length - 1;
    stops[(stops.indexOf(event.target) + step) % stops.length].focus();
    event.preventDefault();
  };

  document.addEventListener("input", (event) => {
    const list = document.getElementById("suggested");
    if (list && event.target.matches("[data-search]")) delete list.dataset.closed;
  });

  document.addEventListener("click", (event) => {
    const target = event.target;
    if (!(target instanceof Element)) return;
    const theme = target.closest("[data-set-theme]");
    if (theme) choose(theme.dataset.setTheme);
    const copied = target.closest("[data-copy]");
    if (copied) copy(copied);
    if (target.closest("[data-show-shortcuts]")) document.getElementById("shortcuts").showModal();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(target) || target.closest("[data-show-shortcuts]")) menu.open = false;
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      closeSuggested(event);
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") walkFound(event);
    if (isTyping(event.target)) return;
    const search = document.querySelector("[data-search]");
    const page = document.querySelector(".to-search");
    const shortcuts = document.getElementById("shortcuts");
    if (event.key === "/" && search) {
      event.preventDefault();
      if (search.checkVisibility()) search.focus();
      else page?.click(); // a narrow screen has a page in the field's place
    } else if (event.key === "?" && shortcuts && !shortcuts.open) {
      shortcuts.showModal();
    } else if (event.key === "f") {
      const fold = document.querySelector("details.fold");
      if (!fold) return;
      fold.open = true;
      fold.querySelector("select")?.focus();
    }
  });

  // A part that could not be had leaves the page as it was; the whole page then says why.
  const askWhole = ({ detail }) => {
    if (detail.ctx?.sourceElement?.matches("[data-search]")) return; // only a suggestion is missing
    if (detail.ctx) location.assign(detail.ctx.request.action);
  };
  document.addEventListener("htmx:response:error", askWhole);
  document.addEventListener("htmx:error", askWhole);

  // On a narrow screen the navigation is one line, of which the page that is open is shown.
  const showCurrent = () => {
    const line = document.getElementById("nav-inner");
    const current = line?.querySelector("[aria-current]");
    if (!current || line.scrollWidth <= line.clientWidth) return;
    const rest = line.clientWidth - current.offsetWidth;
    line.scrollLeft += current.getBoundingClientRect().left - line.getBoundingClientRect().left - rest / 2;
  };
  document.addEventListener("htmx:after:swap", showCurrent);

  document.addEventListener("DOMContentLoaded", () => {
    wear(kept());
    showCurrent();
    if (CSS.supports("selector(::details-content)")) return;
    // An older browser cannot show a closed fold's content from CSS: open it where there is room.
    for (const fold of document.querySelectorAll("details.fold")) {
      fold.open = matchMedia("(min-width: 900.02px)").matches;
    }
  });
})();
