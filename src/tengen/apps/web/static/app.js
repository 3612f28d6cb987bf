// The shell: which page is shown, in which language, by which light.
import * as api from "./api.js";
import { el, refill } from "./dom.js";
import { icon } from "./icons.js";
import { words as shared } from "./words.js";

const PAGES = {
  play: "./play/play.js",
  analyse: "./play/analyse.js",
  "explore/mcts": "./explore/mcts.js",
  "explore/alphabeta": "./explore/alphabeta.js",
  "explore/bandits": "./explore/bandits.js",
  "explore/queens": "./explore/queens.js",
  "explore/wumpus": "./explore/wumpus.js",
  learn: "./learn/learn.js",
  arena: "./learn/arena.js",
};
const MENU = ["play", "analyse", "explore/mcts", "learn", "arena"];
const EXPLORERS = ["explore/mcts", "explore/alphabeta", "explore/bandits", "explore/queens", "explore/wumpus"];
const THEMES = ["auto", "light", "dark"];

const main = document.getElementById("main");
let language = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
let theme = document.documentElement.dataset.theme ?? "auto";
let shown = { name: null, end: () => {} };
let turn = 0; // counts changes of page, so that a module that loads slowly does not show itself too late

/** A function that finds texts: in the page's own words first, then in the shell's; `{name}` is filled in. */
export function translator(own = {}) {
  return (key, values = {}) => {
    const text = own[language]?.[key] ?? shared[language][key] ?? own.en?.[key] ?? shared.en[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  };
}

function route() {
  const name = location.hash.replace(/^#\/?/, "").split("?")[0];
  return Object.hasOwn(PAGES, name) ? name : "play";
}

function navigate(hash) {
  if (location.hash === hash) showPage();
  else location.hash = hash;
}

function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Says that the server is gone as long as it is, and nothing while it is there. */
function showServer(isThere) {
  document.getElementById("gone").textContent = isThere ? "" : translator()("server gone");
}

async function showPage() {
  showServer(api.server.isThere); // in the language that was chosen
  const name = route();
  const mine = ++turn;
  drawMenu(name);
  shown.end();
  shown = { name, end: () => {} };
  const root = el("div", { class: "page" });
  refill(main, root);
  main.setAttribute("aria-busy", "true");
  try {
    const page = await import(PAGES[name]);
    if (mine !== turn) return;
    const t = translator(page.words);
    const context = { t, language, api, socket: api.socket, navigate, theme, announce };
    const end = (await page.show(root, context)) ?? (() => {});
    if (mine === turn) shown.end = end;
    else end();
  } catch (reason) {
    if (mine === turn) showProblem(root, name, reason);
  } finally {
    if (mine === turn) main.removeAttribute("aria-busy");
  }
}

function showProblem(root, name, reason) {
  const t = translator();
  const isMissing = reason instanceof TypeError && /import|module/i.test(reason.message);
  refill(
    root,
    el(
      "div",
      { class: "card empty" },
      el("h1", {}, t(`page ${name}`)),
      el("p", {}, t(isMissing ? "page is missing" : "page failed")),
      isMissing ? null : el("p", { class: "problem" }, reason.message),
      el("p", {}, el("a", { class: "button primary", href: "#/play" }, t("page play"))),
    ),
  );
}

function drawMenu(name) {
  const t = translator();
  const isExplorer = name.startsWith("explore/");
  const isHere = (entry) => entry === name || (isExplorer && entry.startsWith("explore/"));
  document.title = `${t(`page ${name}`)} · Tengen`;
  document.getElementById("skip").textContent = t("skip");
  const nav = document.getElementById("nav");
  nav.setAttribute("aria-label", t("pages"));
  const title = (entry) => t(entry.startsWith("explore/") ? "explore" : `page ${entry}`);
  refill(
    nav,
    MENU.map((entry) => link(entry, title(entry), isHere(entry))),
  );
  const subnav = document.getElementById("subnav");
  subnav.hidden = !isExplorer;
  subnav.setAttribute("aria-label", t("explore"));
  refill(
    subnav,
    EXPLORERS.map((entry) => link(entry, t(`page ${entry}`), entry === name)),
  );
  subnav.querySelector("[aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" });
  drawSwitches(t);
}

function link(entry, text, isHere) {
  return el("a", { href: `#/${entry}`, "aria-current": isHere ? "page" : null }, text);
}

function drawSwitches(t) {
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  refill(
    document.getElementById("switches"),
    el(
      "button",
      {
        class: "switch",
        id: "theme",
        type: "button",
        onclick: () => setTheme(next),
        title: t(`theme ${theme}`),
        "aria-label": `${t(`theme ${theme}`)}. ${t("change")}`,
      },
      icon(theme),
    ),
    el(
      "button",
      {
        class: "switch",
        id: "language",
        type: "button",
        onclick: () => setLanguage(language === "en" ? "zh" : "en"),
        lang: language === "en" ? "zh-Hans" : "en",
      },
      language === "en" ? "中文" : "English",
    ),
  );
}

function setTheme(chosen) {
  theme = chosen;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  remember("theme", theme);
  drawSwitches(translator());
}

function setLanguage(chosen) {
  language = chosen;
  document.documentElement.lang = chosen === "zh" ? "zh-Hans" : "en";
  remember("language", chosen);
  showPage();
}

function remember(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    // it holds until the page is closed
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash is ours
  (main.querySelector("[data-start]") ?? main).focus();
});
api.server.watch(showServer);
addEventListener("hashchange", () => showPage());
showPage();
