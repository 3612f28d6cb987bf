// Saving and loading: SGF, strings of moves, links.
import { button, el, refill, toast } from "../dom.js";
import { linkTo } from "./session.js";
import { GameTree } from "./tree.js";

const RESULT = /^(\?|0|[BW]\+([RTF]|\d{1,6}(\.\d{1,3})?)?)$/; // as records have it
const LARGEST = 300_000; // bytes of a file that a page sends

/** The result of the line that is shown, where the rules do not say: who resigned or was late, or what its record had. */
function resultOf(tree) {
  const end = tree.line.at(-1);
  if (end.resigned !== null) return `${"BW"[1 - end.resigned]}+${end.isLate ? "T" : "R"}`;
  return end === tree.end && end.outcome === undefined && RESULT.test(tree.result) ? tree.result : "";
}

/** A game with its variations as SGF; the line that is shown is the main one. */
export async function writeSgf(api, tree, players) {
  const result = resultOf(tree);
  const [main, ...variations] = linesOf(tree);
  const { moves, comments } = main;
  return (await api.post("api/records/write", { game: tree.game, moves, players, result, comments, variations })).sgf;
}

/** The lines of a tree, the main one first: {of, ply, moves, comments}, each leaves line `of` after `ply` moves. */
function linesOf(tree) {
  const lines = [];
  const waiting = [{ of: 0, ply: 0, nodes: tree.line.slice(1), before: tree.root }];
  for (const { of, ply, nodes, before } of waiting) {
    const comments = {};
    [before, ...nodes].forEach((node, step) => {
      const isOwn = step > 0 || lines.length === 0;
      if (isOwn && node.comment) comments[ply + step] = node.comment;
      if (!isOwn) return;
      const others = node.resigned === null ? node.children.slice(1) : node.children; // a line ends where one resigns
      for (const child of others) {
        waiting.push({ of: lines.length, ply: ply + step, nodes: tree.lineFrom(child), before: node });
      }
    });
    lines.push({ of, ply, moves: nodes.map((node) => node.move), comments });
  }
  return lines;
}

/** Puts the variations that were read into a tree that has the main line. */
function addVariations(tree, variations) {
  const lines = [tree.line];
  for (const { of, ply, moves, comments } of variations) {
    const line = lines[of].slice(0, ply + 1);
    line.push(...tree.graft(line.at(-1), moves));
    addComments(line, comments);
    lines.push(line);
  }
}

/** Puts comments, by ply, to the nodes of a line. */
function addComments(line, comments) {
  for (const [ply, comment] of Object.entries(comments)) {
    const node = line[ply];
    node.comment = [node.comment, comment].filter(Boolean).join("\n");
  }
}

/** The game of a file's bytes or of a text that was pasted. */
export async function readGame(api, { text = "", data = "" }, game) {
  const read = await api.post("api/records/read", { text, data, game });
  const tree = new GameTree(read.game, read.moves);
  Object.assign(tree, { players: read.players, result: read.result, end: tree.current });
  const [, winner, how] = /^([BW])\+([RT])/.exec(read.result) ?? [];
  if (winner) Object.assign(tree.end, { resigned: winner === "B" ? 1 : 0, isLate: how === "T" });
  addComments(tree.line, read.comments);
  addVariations(tree, read.variations);
  return { tree, problems: read.problems };
}

/** Hands a text to the person as a file. */
export function download(name, text, type = "application/x-go-sgf") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copies a text; where the browser refuses, it is shown to be copied by hand. */
export async function copy(text, said, t) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    showText(text, t);
  }
}

function showText(text, t) {
  const area = el("textarea", { readonly: true, "aria-label": t("copy by hand") });
  area.value = text;
  const dialog = el(
    "dialog",
    { "aria-label": t("copy by hand") },
    el(
      "form",
      { method: "dialog" },
      el("h2", {}, t("copy by hand")),
      area,
      el("div", { class: "row" }, el("button", { class: "button primary" }, t("close"))),
    ),
  );
  openDialog(dialog);
  area.select();
}

/** Opens a dialog that is thrown away when it closes. */
export function openDialog(dialog) {
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside it
  dialog.showModal();
  return dialog;
}

/** Buttons that save, load and share the game at hand. `onLoad(tree)` is told the game that was read. */
export function recordButtons({ api, t, current, onLoad, page }) {
  const act = (name, action) =>
    button(t(name), () => action().catch((reason) => toast(reason.message, "problem")), { name, kind: "small" });
  return el(
    "div",
    { class: "row", role: "group", "aria-label": t("record") },
    act("save", async () => {
      const { tree, players } = current();
      download(`${tree.game.replaceAll(/[^a-z0-9]+/g, "-")}.sgf`, await writeSgf(api, tree, players));
    }),
    act("load", async () => loadDialog({ api, t, game: current().tree.game, onLoad })),
    act("copy moves", async () => copy(current().tree.current.path.join(" "), t("moves copied"), t)),
    act("copy link", async () => {
      const { tree, sides } = current();
      await copy(new URL(linkTo(page, tree, sides), location.href).href, t("link copied"), t);
    }),
  );
}

function loadDialog({ api, t, game, onLoad }) {
  const problem = el("p", { class: "problem", role: "alert" });
  const text = el("textarea", { id: "record-text", placeholder: "h8 i9 g7  ·  (;GM[1]…)", spellcheck: "false" });
  const file = el("input", {
    type: "file",
    id: "record-file",
    accept: ".sgf,.psq,.rec,.txt,text/plain,application/x-go-sgf",
  });
  const read = async (source) => {
    refill(problem);
    try {
      const { tree, problems } = await readGame(api, source, game);
      dialog.close();
      problems.forEach((sentence) => toast(sentence));
      onLoad(tree);
    } catch (reason) {
      refill(problem, reason.message);
    }
  };
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    if (chosen.size > LARGEST) refill(problem, t("file too large"));
    else await read({ data: await base64(chosen) });
  });
  const submit = (event) => {
    event.preventDefault();
    if (text.value.trim()) read({ text: text.value });
  };
  const dialog = el(
    "dialog",
    { "aria-label": t("load game") },
    el(
      "form",
      { onsubmit: submit },
      el("h2", {}, t("load game")),
      el("label", { class: "field" }, el("span", {}, t("from a file")), file),
      el("label", { class: "field" }, el("span", {}, t("or paste")), text),
      problem,
      el(
        "div",
        { class: "row" },
        el("button", { class: "button primary", type: "submit" }, t("read")),
        button(t("cancel"), () => dialog.close()),
      ),
    ),
  );
  openDialog(dialog);
}

/** A file's bytes as base64: it may be in a charset of its own, which only its content names. */
async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
