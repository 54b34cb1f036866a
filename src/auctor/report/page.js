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

// Say above a table that it can be scrolled, where it is wider than the window.
function startHints() {
  for (const region of document.querySelectorAll(".scroll")) {
    const hint = html("p", { class: "swipe", "aria-hidden": "true" }, "Scroll sideways to see all columns →");
    region.before(hint);
    const check = () => hint.classList.toggle("needed", region.scrollWidth > region.clientWidth + 1);
    new ResizeObserver(check).observe(region);
  }
}

startTheme();
startOperating();
startCosts();
startQuality();
startFeatures();
startRow();
startModel();
startHints();
