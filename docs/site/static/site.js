// Let the keyboard scroll wide blocks, and name the parts of the theme for screen readers.
addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("pre, .table-wrapper")) block.tabIndex = 0;
  for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.ariaLevel = 2;
  document.querySelector(".sidebar-drawer").ariaLabel = "Pages";
  document.querySelector(".toc-drawer").ariaLabel = "On this page";
});
