// Choosing a game with its parameters, and who plays.
import { choice, el, refill } from "../dom.js";
import { gameOf, gameTitle, parametersOf, specOf } from "./session.js";

export const PERSON = "person";
const OTHER = "other…"; // the option that opens the field for a spec

/** Fields for a game and its parameters. `onChange(spec)` is told each choice. Returns {root, spec()}. */
export function gameFields(games, spec, t, onChange = () => {}) {
  const root = el("div", { class: "grid2" });
  let chosen = gameOf(games, spec);
  let values = { ...parametersOf(spec) };
  const current = () => specOf(chosen, values);
  const draw = () => {
    const options = games.map((game) => ({ value: game.name, label: gameTitle(game.name, t, game.title) }));
    const pick = (name) => {
      chosen = gameOf(games, name);
      values = {};
      draw();
      root.querySelector("select")?.focus();
      onChange(current());
    };
    const take = (name) => (value) => {
      values[name] = value;
      onChange(current());
    };
    refill(
      root,
      choice(t("game"), options, chosen.name, pick, { id: "game" }),
      chosen.parameters.map((parameter) =>
        parameterField(chosen, parameter, values[parameter.name], t, take(parameter.name)),
      ),
    );
  };
  draw();
  return { root, spec: current };
}

const USUAL_SIZES = { go: [9, 13, 19], gomoku: [9, 11, 13, 15, 19], renju: [15], reversi: [4, 6, 8] };

function parameterField(game, parameter, value, t, onChange) {
  const { name, kind, low, high, choices, default: usual } = parameter;
  const known = t(`parameter ${name}`);
  const label = known === `parameter ${name}` ? name : known;
  const now = String(value ?? usual);
  if (kind === "choice")
    return choice(
      label,
      choices.map((text) => ({ value: text, label: t(text) })),
      now,
      onChange,
      { id: `parameter-${name}` },
    );
  if (kind === "int" && low === 0 && high === 1) {
    return choice(
      label,
      [
        { value: "0", label: t("no") },
        { value: "1", label: t("yes") },
      ],
      now,
      onChange,
      { id: `parameter-${name}` },
    );
  }
  const list = name === "size" && USUAL_SIZES[game.name] ? `sizes-${game.name}` : null;
  return el(
    "label",
    { class: "field" },
    el("span", {}, label),
    el("input", {
      id: `parameter-${name}`,
      type: "number",
      min: low,
      max: high,
      step: kind === "int" ? 1 : name === "komi" ? 0.5 : "any",
      value: now,
      required: true,
      list,
      onchange: (event) => event.target.reportValidity() && onChange(event.target.value),
    }),
    list &&
      el(
        "datalist",
        { id: list },
        USUAL_SIZES[game.name].map((size) => el("option", { value: size })),
      ),
  );
}

/** What an agent is called: a level's name in the reader's language, a spec as it stands. */
export function agentName(agent, t) {
  if (agent === PERSON) return t("person");
  const key = `level ${agent}`;
  const text = t(key);
  return text === key ? agent : text;
}

/** A choice of who plays: a person if `hasPerson`, a level, or a spec typed in. Returns {root, value()}. */
export function agentField(label, levels, value, t, { hasPerson = true, onChange = () => {}, id = null } = {}) {
  const names = [...(hasPerson ? [PERSON] : []), ...levels.map((level) => level.name)];
  const options = names.map((name) => ({ value: name, label: agentName(name, t), title: aboutLevel(levels, name, t) }));
  options.push({ value: OTHER, label: t("other agent") });
  const isKnown = names.includes(value);
  const typed = el("input", {
    type: "text",
    value: isKnown ? "" : value,
    placeholder: "uct:playouts=1000",
    hidden: isKnown,
    spellcheck: "false",
    autocapitalize: "off",
    maxlength: 200,
    "aria-label": t("agent spec"),
    onchange: () => onChange(read()),
    class: "mono",
  });
  const pick = (name) => {
    typed.hidden = name !== OTHER;
    if (name === OTHER) typed.focus();
    else onChange(read());
  };
  const field = choice(label, options, isKnown ? value : OTHER, pick, id ? { id } : {});
  const select = field.querySelector("select");
  const read = () => (select.value === OTHER ? typed.value.trim() || levels.at(-1).name : select.value);
  return { root: el("div", { class: "stack tight" }, field, typed), value: read };
}

function aboutLevel(levels, name, t) {
  const key = `about ${name}`;
  const text = t(key);
  return text === key ? levels.find((level) => level.name === name)?.about : text;
}
