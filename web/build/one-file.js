// Puts the script and the styles into the page, and a policy that lets nothing else run: the page
// holds text that an app and its clients wrote, and must not fetch anything.
import { createHash } from "node:crypto";

const POLICY_PLACE = "HAKARU_POLICY";

/** @returns {import("vite").Plugin} */
export function oneFile() {
  return {
    name: "hakaru-one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") {
        return;
      }
      const script = take(bundle, ".js");
      const style = take(bundle, ".css");
      page.source = assemble(String(page.source), script, style);
    },
  };
}

/** The only file of this kind, taken out of the bundle. */
function take(bundle, ending) {
  const names = Object.keys(bundle).filter((name) => name.endsWith(ending));
  if (names.length !== 1) {
    throw new Error(`one ${ending} file expected, not ${names.length}`);
  }
  const file = bundle[names[0]];
  delete bundle[names[0]];
  return String(file.type === "chunk" ? file.code : file.source).trim();
}

function assemble(page, script, style) {
  if (/<\/(script|style)/i.test(script + style)) {
    throw new Error("script or styles would end their element early");
  }
  const policy = [
    "default-src 'none'",
    `script-src '${hash(script)}'`,
    `style-src '${hash(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  // Functions as replacements: `$&` in a minified script must stay as it is.
  return page
    .replace(/\s*<script type="module"[^>]*><\/script>/, "")
    .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
    .replace(POLICY_PLACE, () => policy)
    .replace("</head>", () => `<style>${style}</style>\n</head>`)
    .replace("</body>", () => `<script type="module">${script}</script>\n</body>`);
}

function hash(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
