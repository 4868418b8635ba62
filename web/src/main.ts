import { mount } from "svelte";

import "uplot/dist/uPlot.min.css";
import "./style.css";

import type { Document } from "./format.ts";
import Page from "./views/Page.svelte";
import { type Dictionary, speak } from "./words.ts";

const data = document.getElementById("data");
const target = document.getElementById("page");
if (data?.textContent && target) {
  const document = JSON.parse(data.textContent) as Document & { words?: Dictionary };
  speak(document.words ?? {});
  mount(Page, { target, props: { document } });
}

// An address of a flame graph that is typed or pasted is read as the page begins.
addEventListener("hashchange", () => {
  if (location.hash.includes("?")) location.reload();
});
