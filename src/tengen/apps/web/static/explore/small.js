// Small things that explorers share: numbers as people read them, boards as small as a stamp.
import { el, rangeName, svg } from "../dom.js";
import { skinOf } from "../skins.js";

/** A number with at most `digits` behind the point and a real minus. */
export function figure(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = String(Number(value.toFixed(digits)));
  return (text === "-0" ? "0" : text).replace("-", "−");
}

/** A board so many pixels high, as part of a drawing; `last` is a cell to mark, `labels` stand in empty cells. */
export function stamp({ drawing, shape: [rows, columns], tints }, board, height, last = null, labels = null) {
  if (drawing === "hexagons") return combStamp([rows, columns], tints, board, height, last);
  const cell = height / rows;
  const isPaper = skinOf(drawing).name === "sheet";
  const parts = [svg("rect", { class: `stamp ${skinOf(drawing).name}`, width: columns * cell, height, rx: 3 })];
  for (let x = 1; x < columns; x++) parts.push(svg("path", { class: "stamp-line", d: `M${x * cell} 0V${height}` }));
  for (let y = 1; y < rows; y++) parts.push(svg("path", { class: "stamp-line", d: `M0 ${y * cell}H${columns * cell}` }));
  if (last !== null) parts.push(svg("rect", { class: "stamp-last", x: (last % columns) * cell, y: Math.floor(last / columns) * cell, width: cell, height: cell }));
  board.forEach((stone, index) => {
    const [x, y, r] = [(index % columns + 0.5) * cell, (Math.floor(index / columns) + 0.5) * cell, cell * 0.33];
    if (!stone && labels) parts.push(svg("text", { class: "stamp-label", x, y: y + cell * 0.2 }, labels[index]));
    if (!stone) return;
    if (isPaper && stone === 1) parts.push(svg("path", { class: "stamp-x", d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}` }));
    else if (isPaper) parts.push(svg("circle", { class: "stamp-o", cx: x, cy: y, r }));
    else parts.push(svg("circle", { class: `stamp-stone of-${stone} tint-${tints?.[stone - 1]}`, cx: x, cy: y, r: cell * 0.4 }));
  });
  return svg("g", { "aria-hidden": "true" }, parts);
}

/** The same where cells are hexagons: rounds, each row half a cell to the right of the one above. */
function combStamp([rows, columns], tints, board, height, last) {
  const cell = (height / rows) * (columns / (columns + (rows - 1) / 2)); // as wide as a board of squares
  const pitch = cell * 0.87;
  const top = (height - pitch * (rows - 1)) / 2;
  const rounds = board.map((stone, index) => {
    const [x, y] = [index % columns, Math.floor(index / columns)];
    const place = { cx: (x + y / 2 + 0.5) * cell, cy: top + y * pitch };
    return [
      svg("circle", { class: "stamp", ...place, r: cell * 0.47 }),
      index === last && svg("circle", { class: "stamp-last", ...place, r: cell * 0.47 }),
      stone > 0 && svg("circle", { class: `stamp-stone of-${stone} tint-${tints?.[stone - 1]}`, ...place, r: cell * 0.38 }),
    ];
  });
  return svg("g", { "aria-hidden": "true" }, rounds);
}

/** Which cell differs between two boards and is now taken; null if none is. */
export function newStone(before, after) {
  if (!before || !after) return null;
  const cell = after.findIndex((stone, index) => stone && !before[index]);
  return cell < 0 ? null : cell;
}

/** A labelled number field. */
export function numberField(label, value, attributes, onChange) {
  const input = el("input", { type: "number", value, ...attributes, onchange: () => onChange(Number(input.value)) });
  return el("label", { class: "field" }, rangeName(label, attributes.min, attributes.max), input);
}

/** A small button that stays pressed until it is pressed again. */
export function toggle(text, action, onChange) {
  const button = el("button", { type: "button", class: "button small", "aria-pressed": "false", dataset: { action }, onclick: () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isOn));
    onChange(isOn);
  } }, text);
  return button;
}

/** A card with a title. */
export function titled(title, ...parts) {
  return el("section", { class: "card stack tight" }, el("h2", {}, title), ...parts);
}

/** Buttons of which one is pressed. */
export function segments(label, options, value, onChange) {
  const group = el("div", { class: "segments", role: "group", "aria-label": label });
  const draw = (chosen) => group.replaceChildren(...options.map((option) => el("button", {
    type: "button", "aria-pressed": String(option.value === chosen), title: option.title, dataset: { value: option.value },
    onclick: () => { draw(option.value); onChange(option.value); },
  }, option.label)));
  draw(value);
  return group;
}
