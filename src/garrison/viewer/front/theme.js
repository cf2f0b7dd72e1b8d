// Light, dark, or what the system prefers; remembered where the browser lets a page remember.

import { html, setAttributes, setText } from "./dom.js";

const KEY = "garrison-theme";
const THEMES = ["auto", "light", "dark"];

export function createThemeButton() {
  const button = html("button", { type: "button", class: "theme" });
  let theme = remembered();

  function apply() {
    if (theme === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    setText(button, { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[theme]);
    setAttributes(button, { "aria-label": `Colours: ${theme}`, title: "Colours: as the system, light or dark" });
  }

  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    apply();
    remember(theme);
  });
  apply();
  return button;
}

// A page opened from a file or in a frame may have no storage at all.
function remembered() {
  try {
    const found = localStorage.getItem(KEY);
    return THEMES.includes(found) ? found : "auto";
  } catch {
    return "auto";
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    return;
  }
}
