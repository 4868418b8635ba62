// Whether the page is being printed: paper has no buttons, so everything is shown, light and at the width of a sheet.
import { flushSync } from "svelte";

export const paper = $state({ on: false });

/** The width of what lies on a sheet, in CSS pixels: A4 without margins and without the page's own. */
export const SHEET_WIDTH = 680;

/** Details that were closed before printing. */
let opened: HTMLDetailsElement[] = [];

function set(on: boolean): void {
  document.documentElement.classList.toggle("paper", on);
  flushSync(() => (paper.on = on));
}

addEventListener("beforeprint", () => {
  set(true);
  opened = [...document.querySelectorAll("details")].filter((details) => !details.open);
  for (const details of opened) details.open = true;
});

addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
  set(false);
});
