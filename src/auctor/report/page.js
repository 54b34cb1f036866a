// Light and dark, and the start of everything.

function isDark() {
  const chosenTheme = document.documentElement.dataset.theme;
  return chosenTheme ? chosenTheme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function startTheme() {
  const button = byId("theme");
  const tell = () => button.setAttribute("aria-pressed", String(isDark()));
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    tell();
  });
  tell();
}

// On paper nothing can be unfolded.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  drawings.forEach((redraw) => redraw());
});

startTheme();
startOperating();
startQuality();
startFeatures();
startModel();
