// Before the first picture: scripts run here, and the theme that was chosen last. It stands in the head of each page.
{
  const root = document.documentElement;
  root.classList.add("scripted");
  try {
    root.dataset.theme = localStorage.getItem("tx-theme") ?? "";
  } catch {
    // A browser may forbid to store anything for a page that was opened as a file.
  }
}
