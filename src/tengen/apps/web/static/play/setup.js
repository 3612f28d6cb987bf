// The dialog that begins a game: which, against whom, who begins, how long it may think, and by which clock.
import { button, choice, el, keep, kept } from "../dom.js";
import { CLOCKS } from "./clock.js";
import { agentField, gameFields, PERSON } from "./fields.js";
import { openDialog } from "./records.js";
import { agentsOf, gameOf } from "./session.js";

export const TIMES = ["", "0.5", "1", "2", "5", "10", "30"]; // seconds; the first is the level's own
const USUAL = { game: "gomoku", players: [PERSON, "medium"], begins: "one", time: "", clock: "" };

/** What was chosen last time; at the first, a game that the operator has brought along, if there is one. */
export function lastSettings(games) {
  const usual = { ...USUAL, game: games.find((game) => game.is_own)?.name ?? USUAL.game };
  const settings = { ...usual, ...kept("play", {}) };
  const isSound = typeof settings.game === "string" && Array.isArray(settings.players) && settings.players.length === 2;
  return isSound ? settings : usual;
}

/** Who has which colour: the first of the two moves first. */
export function sidesOf({ players, begins }) {
  const isSwapped = begins === "two" || (begins === "random" && Math.random() < 0.5);
  return isSwapped ? [players[1], players[0]] : [...players];
}

/** Asks for the settings of a new game; `onStart(settings)` is told them. */
export function setupDialog({ api, games, settings, t, onStart }) {
  const { levels } = gameOf(games, settings.game);
  const agents = ["player one", "player two"].map((name, index) =>
    agentField(t(name), levels, settings.players[index], t, { id: `player-${index + 1}` }),
  );
  let shown = null; // the game whose agents are offered
  const offer = async (spec) => {
    const isOther = shown !== null;
    shown = spec;
    const offered = await agentsOf(api, games, spec);
    if (shown === spec) for (const agent of agents) agent.offer(offered, isOther);
  };
  const game = gameFields(games, settings.game, t, offer);
  offer(settings.game);
  const beginners = ["one", "two", "random"].map((value) => ({ value, label: t(`begins ${value}`) }));
  const begins = choice(t("begins"), beginners, settings.begins, null, { id: "begins" });
  const time = timeField(t, settings.time);
  const clock = clockField(t, settings.clock);
  const submit = (event) => {
    event.preventDefault();
    const chosen = {
      game: game.spec(),
      players: agents.map((agent) => agent.value()),
      begins: begins.querySelector("select").value,
      time: time.querySelector("select").value,
      clock: clock.querySelector("select").value,
    };
    keep("play", chosen);
    dialog.close();
    onStart(chosen);
  };
  const dialog = el(
    "dialog",
    { "aria-label": t("new game"), class: "setup" },
    el(
      "form",
      { onsubmit: submit },
      el("h2", {}, t("new game")),
      game.root,
      el(
        "div",
        { class: "grid2" },
        agents.map((agent) => agent.root),
      ),
      el("div", { class: "grid2" }, begins, time, clock),
      el(
        "div",
        { class: "row" },
        el("button", { class: "button primary", type: "submit" }, t("start")),
        button(t("cancel"), () => dialog.close()),
      ),
    ),
  );
  return openDialog(dialog);
}

/** How long anybody may take for a move; another number than the usual ones comes from a link. */
function clockField(t, value) {
  const choices = CLOCKS.includes(value) ? CLOCKS : [...CLOCKS, value];
  const options = choices.map((seconds) => ({ value: seconds, label: seconds ? t("or lost", { n: seconds }) : t("no clock") }));
  return choice(t("clock"), options, value, null, { id: "clock" });
}

export function timeField(t, value, onChange = null) {
  const options = TIMES.map((seconds) => ({
    value: seconds,
    label: seconds ? t("seconds", { n: seconds }) : t("time own"),
  }));
  return choice(t("time"), options, TIMES.includes(value) ? value : "", onChange, { id: "time" });
}
