(() => {
  let theme = null;
  try { theme = localStorage.getItem("headrace-theme"); } catch { /* storage is off */ }
  if (theme !== "light" && theme !== "dark") theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
})();
