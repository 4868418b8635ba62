// Whether a file is what speedscope's published schema asks for: node speedscope.js FILE. Run where its packages are.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const Ajv = require("ajv").default;
const schema = JSON.parse(readFileSync(require.resolve("speedscope/dist/release/file-format-schema.json"), "utf8"));
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
const fits = validate(JSON.parse(readFileSync(process.argv[2], "utf8")));
if (!fits) {
  console.error(JSON.stringify(validate.errors.slice(0, 5), null, 1));
  process.exit(1);
}
