// Whether a file is what a schema asks for: node schema.js SCHEMA FILE, where SCHEMA is a file or one of a package. Run where
// the packages are.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const Ajv = require("ajv").default;
const [schemaName, file] = process.argv.slice(2);
const schema = JSON.parse(readFileSync(require.resolve(schemaName), "utf8"));
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
const fits = validate(JSON.parse(readFileSync(file, "utf8")));
if (!fits) {
  console.error(JSON.stringify(validate.errors.slice(0, 5), null, 1));
  process.exit(1);
}
