import { onMount } from "svelte";

/** Calls `show` where the address names a row of a table, so that one that is not shown yet can be, and then goes there. */
export function onAskedRow(isRow: (id: string) => boolean, show: () => void): void {
  onMount(() => {
    const look = () => {
      const id = location.hash.slice(1);
      if (!isRow(id)) return;
      show();
      requestAnimationFrame(() => {
        const rows = document.querySelectorAll(`[data-row="${id}"]`);
        // Of the two places that a row has on wide and on narrow screens, one is shown.
        [...rows].find((row) => row.getClientRects().length > 0)?.scrollIntoView({ block: "center" });
        for (const row of document.querySelectorAll("[data-row]")) row.classList.toggle("asked", [...rows].includes(row));
      });
    };
    look();
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  });
}
