// Small signs as paths, so that no font need have them. All on a field of 24 by 24.
import { svg } from "./dom.js";

const PATHS = {
  first: "M6 5v14M19 5l-9 7 9 7z",
  back: "M17 5l-10 7 10 7z",
  forward: "M7 5l10 7-10 7z",
  play: "M3 5l9 7-9 7zM12 5l9 7-9 7z",
  pause: "M8 5v14M16 5v14",
  last: "M18 5v14M5 5l9 7-9 7z",
  auto: "M12 3a9 9 0 0 0 0 18z",
  light:
    "M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8z" +
    "M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
  dark: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z",
};
const OUTLINED = new Set(["light"]);

/** A sign; it says nothing to screen readers, so its button must. */
export function icon(name, size = 18) {
  return svg(
    "svg",
    { viewBox: "0 0 24 24", width: size, height: size, class: "icon-sign", "aria-hidden": "true" },
    svg("path", { d: PATHS[name], class: OUTLINED.has(name) ? "outlined" : "filled" }),
    name === "auto" && svg("path", { d: "M12 3a9 9 0 0 1 0 18", class: "outlined" }),
  );
}
