// Before the first paint: the theme and the language that were chosen last time. Storage may be refused to a page.
"use strict";
(() => {
  const root = document.documentElement;
  let kept = {};
  try {
    kept = { theme: localStorage.getItem("theme"), language: localStorage.getItem("language") };
  } catch {
    // a browser that keeps nothing gets the defaults
  }
  if (kept.theme === "light" || kept.theme === "dark") root.dataset.theme = kept.theme;
  const wanted = kept.language || navigator.language || "en";
  root.lang = wanted.toLowerCase().startsWith("zh") ? "zh-Hans" : "en";
})();
