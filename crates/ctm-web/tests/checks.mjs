// Calls a function of the engine of `cargo xtask site-checks` and prints its lines: node checks.mjs FOLDER random FIRST COUNT | vectors
import { readFile } from "node:fs/promises";

const [folder, name, ...numbers] = process.argv.slice(2);
// As a module, whatever the name of its file says.
const script = await readFile(`${folder}/ctm_web.js`, "utf8");
const engine = await import(`data:text/javascript;base64,${Buffer.from(script).toString("base64")}`);
await engine.default({ module_or_path: await readFile(`${folder}/ctm_web_bg.wasm`) });
process.stdout.write(engine[name](...numbers.map(Number)));
