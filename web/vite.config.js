import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

import { oneFile } from "./build/one-file.js";

export default defineConfig({
  plugins: [svelte(), oneFile()],
  build: {
    outDir: "dist",
    // Chromium and Firefox of 2023, Safari 16.4: what `class` fields and container units need anyway.
    target: ["chrome115", "firefox115", "safari16.4"],
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
  },
});
