// Bundles and compresses the page's script, with a digest of its sources at the head: a test of the server compares it with the sources that are there.
import { build } from "esbuild";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

let digest = 0xcbf29ce484222325n;
for (const file of [...readdirSync("src").sort().map((name) => `src/${name}`), "package-lock.json"])
  for (const byte of readFileSync(file)) digest = ((digest ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;

const { outputFiles: [script] } = await build({
  entryPoints: ["src/main.tsx"], write: false, bundle: true, minify: true, format: "iife", target: "es2020",
  jsx: "automatic", jsxImportSource: "preact", legalComments: "eof", banner: { js: `// sources ${digest.toString(16).padStart(16, "0")}` }, logLevel: "error",
});
writeFileSync("../../crates/ctm-ide/assets/page.js.gz", gzipSync(script.contents, { level: 9 }));
