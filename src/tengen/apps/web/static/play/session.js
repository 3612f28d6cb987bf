// The game that the pages have in common, and how it goes into a link and comes out of one.
import { nameOf } from "../skins.js";
import { GameTree } from "./tree.js";

const MOST_VIEWS = 2000; // that are remembered

/** The game at hand: it outlives the page that shows it, so that what was played can be analysed. */
export const session = { tree: null, sides: null, clock: null }; // clock: seconds a move

const views = new Map(); // by game and moves

/** What the server says of a position. Positions never change, so an answer is kept. */
export async function viewOf(socket, game, moves) {
  return knownView(game, moves) ?? keepView(game, moves, await socket.ask({ type: "position", game, moves }));
}

/** The same if it was said before. */
export function knownView(game, moves) {
  return views.get(`${game} ${moves.join(" ")}`);
}

export function keepView(game, moves, view) {
  if (views.size >= MOST_VIEWS) views.delete(views.keys().next().value);
  views.set(`${game} ${moves.join(" ")}`, view);
  return view;
}

let games = null;

/** The games that the server offers, asked for once. */
export async function allGames(api) {
  games ??= (await api.get("api/games")).games;
  return games;
}

/** What the server says about the game of a spec: its parameters and levels. */
export function gameOf(list, spec) {
  return list.find((game) => game.name === nameOf(spec)) ?? list[0];
}

/** Who can be chosen in a game: its levels, and the nets of runs that learned it. */
export async function agentsOf(api, list, spec) {
  const asked = api.get(`api/nets?${new URLSearchParams({ game: spec })}`);
  const { nets } = await asked.catch(() => ({ nets: [] })); // of a game that cannot be
  return [...gameOf(list, spec).levels, ...nets.map((name) => ({ name }))];
}

/** The parameters of a spec, by name. */
export function parametersOf(spec) {
  const text = spec.split(":")[1] ?? "";
  return Object.fromEntries(
    text
      .split(",")
      .filter(Boolean)
      .map((part) => part.split("=")),
  );
}

/** A spec as people say it: gomoku:size=8 is Gomoku 8×8, an m,n,k-game its numbers. `title` serves if no word does. */
export function gameTitle(spec, t, title = titleOf(nameOf(spec))) {
  const key = `game ${nameOf(spec)}`;
  const values = parametersOf(spec);
  if (values.m && values.n && values.k) return [values.m, values.n, values.k].join(",");
  const parts = Object.entries(values).map(([name, value]) => (name === "size" ? `${value}×${value}` : `${name} ${value}`));
  return [t(key) === key ? title : t(key), ...parts].join(" ");
}

/** What the server calls a game of somebody's own, else its name as a title; that of a file stays as it is. */
function titleOf(name) {
  const known = games?.find((game) => game.name === name);
  if (known) return known.title;
  const words = name.replaceAll("-", " ");
  return name.endsWith(".py") ? name : words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** A spec of a game and its parameters; those at their defaults are left out. */
export function specOf(game, values) {
  const changed = game.parameters
    .filter(({ name, default: usual }) => values[name] !== undefined && String(values[name]) !== String(usual))
    .map(({ name }) => `${name}=${values[name]}`);
  return game.name + (changed.length ? `:${changed.join(",")}` : "");
}

/** What the hash of a link holds: {game, moves, first, second, clock, at}, as far as it is there. */
export function readLink(hash = location.hash) {
  const query = new URLSearchParams(hash.split("?")[1] ?? "");
  const facts = Object.fromEntries(query);
  if (facts.moves !== undefined) facts.moves = facts.moves.split(facts.moves.includes(" ") ? " " : "-").filter(Boolean);
  return facts;
}

/** A hash that holds a position, who plays, and how many seconds a move may take. */
export function linkTo(page, tree, sides = null, clock = null) {
  const query = new URLSearchParams({ game: tree.game });
  const moves = tree.current.path;
  const isPlain = moves.every((move) => !move.includes("-"));
  if (moves.length) query.set("moves", isPlain ? moves.join("-") : ` ${moves.join(" ")}`); // the space says by what to part
  if (sides) ["first", "second"].forEach((name, player) => query.set(name, sides[player]));
  if (clock) query.set("clock", clock);
  return `#/${page}?${query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%3D", "=")}`;
}

/** The game of a link, if it has one that differs from the game at hand. */
export function treeOfLink(facts) {
  if (!facts.game) return null;
  const { tree } = session;
  const moves = facts.moves ?? [];
  const isSame = tree && tree.game === facts.game && String(tree.current.path) === String(moves);
  return isSame ? null : new GameTree(facts.game, moves);
}

/** What a player is called; discs behind a front have colours of their own, unless the game names its players. */
export function colourName(view, player, t) {
  if (view.drawing === "holes" && view.colours[0] === "X") return t(["Red", "Yellow"][player]);
  return t(view.colours[player]);
}
