// Choosing a game with its parameters, and who plays.
import { choice, el, optionsOf, rangeName, refill } from "../dom.js";
import { gameOf, gameTitle, parametersOf, specOf } from "./session.js";

export const PERSON = "person";
const OTHER = "other…"; // the option that opens the field for a spec
const STRONGEST = "strongest"; // who plays if nothing is typed in
const USUAL = "medium"; // who plays in place of a net that learned another game
const NET = /^run:([^@,]+)(?:@(\d+))?(?:,simulations=(\d+))?$/;

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
  const list = name === "size" && game.usual_sizes.length ? `sizes-${game.name}` : null;
  return el(
    "label",
    { class: "field" },
    rangeName(label, low, high),
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
        game.usual_sizes.map((size) => el("option", { value: size })),
      ),
  );
}

/** What an agent is called: a level or a run's net in the reader's language, another spec as it stands. */
export function agentName(agent, t) {
  if (agent === PERSON) return t("person");
  const [isNet, run, generation, simulations] = NET.exec(agent) ?? [];
  if (isNet) {
    const which = generation ? t("net generation", { n: generation }) : t("net newest");
    return [run, which, simulations && t("net simulations", { n: simulations })].filter(Boolean).join(" · ");
  }
  const key = `level ${agent}`;
  const text = t(key);
  return text === key ? agent : text;
}

/**
 * A choice of who plays: a person if `hasPerson`, one of the agents (levels, and nets of runs), or a spec typed in.
 * Returns {root, value(), offer(agents, isOther)}: `offer` changes who can be chosen and leaves the choice as it is, but
 * for a net that does not fit if the game `isOther`.
 */
export function agentField(label, agents, value, t, { hasPerson = true, onChange = () => {}, id = null } = {}) {
  const typed = el("input", {
    type: "text",
    placeholder: "uct:playouts=1000",
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
  const field = choice(label, [], "", pick, id ? { id } : {});
  const select = field.querySelector("select");
  const read = () => (select.value === OTHER ? typed.value.trim() || STRONGEST : select.value);
  const put = (offered, chosen) => {
    const names = [...(hasPerson ? [PERSON] : []), ...offered.map((agent) => agent.name)];
    const isKnown = names.includes(chosen);
    refill(select, optionsOf(agentOptions(names, offered, t)));
    select.value = isKnown ? chosen : OTHER;
    typed.hidden = isKnown;
    if (isKnown) typed.value = "";
    else if (typed.value.trim() !== chosen) typed.value = chosen;
  };
  const offer = (offered, isOther = false) => {
    const chosen = select.value === OTHER ? typed.value.trim() : select.value;
    const fits = !isOther || !NET.test(chosen) || offered.some((agent) => agent.name === chosen.split(",")[0]);
    put(offered, fits ? chosen : USUAL);
  };
  put(agents, value);
  return { root: el("div", { class: "stack tight" }, field, typed), value: read, offer };
}

/** Agents as options: nets under a heading, and the way to any other at the end. */
function agentOptions(names, agents, t) {
  const option = (name) => ({ value: name, label: agentName(name, t), title: aboutAgent(agents, name, t) });
  const [nets, others] = [names.filter((name) => NET.test(name)), names.filter((name) => !NET.test(name))];
  const group = nets.length ? [{ label: t("nets of runs"), options: nets.map(option) }] : [];
  return [...others.map(option), ...group, { value: OTHER, label: t("other agent") }];
}

function aboutAgent(agents, name, t) {
  const key = `about ${name}`;
  const text = t(key);
  return text === key ? agents.find((agent) => agent.name === name)?.about : text;
}
