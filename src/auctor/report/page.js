// Light and dark theme, and the start of all parts.

function isDark() {
  const chosenTheme = document.documentElement.dataset.theme;
  return chosenTheme ? chosenTheme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function startTheme() {
  const button = byId("theme");
  const showState = () => button.setAttribute("aria-pressed", String(isDark()));
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showState();
  });
  showState();
}

// A printed page shows what is folded on the screen.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  drawings.forEach((redraw) => redraw());
});

startTheme();
startOperating();
startQuality();
startFeatures();
startModel();
