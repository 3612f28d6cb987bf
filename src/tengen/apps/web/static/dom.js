// Elements without innerHTML: what comes from a server or a person is only ever text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. Attributes: `on…` are listeners, `style` is an object, `dataset` too, `class` may be a list with
 * holes; true sets an attribute without a value, false and null leave it out. Children: elements, texts, lists, null.
 */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same in SVG's namespace. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  append(element, children);
  return element;
}

/** Sets one attribute as `el` does. */
export function set(element, name, value) {
  if (name.startsWith("on") && typeof value === "function") {
    element.addEventListener(name.slice(2).toLowerCase(), value);
  } else if (name === "style") {
    for (const [property, text] of Object.entries(value ?? {})) element.style.setProperty(property, text);
  } else if (name === "dataset") {
    Object.assign(element.dataset, value);
  } else if (name === "class") {
    element.setAttribute("class", Array.isArray(value) ? value.filter(Boolean).join(" ") : (value ?? ""));
  } else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") {
    if (name in element) element[name] = value ?? false;
    else element.setAttribute(name, value);
  } else if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
  } else {
    element.setAttribute(name, value === true ? "" : value);
  }
}

/** Appends elements and texts, however nested; null, undefined and false are nothing. */
export function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
  return element;
}

/** Replaces all that is in an element. */
export function refill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** Whether things may move: people can ask their system for stillness. */
export function mayMove() {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** What a page keeps between visits: `keep("name", value)`, `kept("name", fallback)`. A browser may refuse both. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // then it is forgotten
  }
}

export function kept(name, fallback) {
  try {
    const text = localStorage.getItem(name);
    return text === null ? fallback : JSON.parse(text);
  } catch {
    return fallback;
  }
}

/** Loads a sheet of a page's own, once; resolves when it is there, so that nothing jumps. */
export function loadSheet(path) {
  const { href } = new URL(path, document.baseURI);
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return Promise.resolve();
  return new Promise((resolve) => {
    document.head.append(el("link", { rel: "stylesheet", href, onload: resolve, onerror: resolve }));
  });
}

/** A button. Of `attributes`, `name` is how tests and the keyboard find it, `kind` adds classes. */
export function button(text, onclick, { name = null, kind = "", isOn = true, ...attributes } = {}) {
  const dataset = name === null ? {} : { action: name };
  return el(
    "button",
    { type: "button", class: ["button", kind], disabled: !isOn, dataset, onclick, ...attributes },
    text,
  );
}

/** A labelled choice of `optionsOf(options)`; `onChange` is told the value. */
export function choice(label, options, value, onChange, attributes = {}) {
  const select = el("select", { ...attributes, onchange: (event) => onChange?.(event.target.value) }, optionsOf(options));
  select.value = value;
  return el("label", { class: "field" }, el("span", {}, label), select);
}

/** What a select offers. `options`: [{value, label, title?}], or {label, options} for some under a heading. */
export function optionsOf(options) {
  return options.map(({ value, label, title, options: under }) =>
    under ? el("optgroup", { label }, optionsOf(under)) : el("option", { value, title }, label),
  );
}

/** What stands over a field for a number: its name, and how far it goes, which screen readers know from the field. */
export function rangeName(label, low, high) {
  const isKnown = Number.isFinite(low) && Number.isFinite(high) && high < 2 ** 31; // a seed may be anything
  return el("span", isKnown ? { dataset: { range: `${low} – ${high}`.replaceAll("-", "−") } } : {}, label);
}

const PATIENCE = 300; // milliseconds that a page waits without a word

/** What was asked for; if it takes a moment, `text` stands at the head of `place` until it is there. */
export function patiently(asked, place, text) {
  const note = el("p", { class: "patience note", role: "status" }, text);
  const timer = setTimeout(() => place.prepend(note), PATIENCE);
  return asked.finally(() => {
    clearTimeout(timer);
    note.remove();
  });
}

/** A short message at the foot of the window that goes by itself. Returns it, for whoever takes it away sooner. */
export function toast(text, kind = "") {
  const place = document.getElementById("toasts");
  const message = el("div", { class: ["toast", kind] }, text);
  place?.append(message);
  while (place && place.children.length > 3) place.firstChild.remove();
  setTimeout(() => message.remove(), kind === "problem" ? 7000 : 3500);
  return message;
}
