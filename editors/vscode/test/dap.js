// The debug adapter against the DAP project's own test client.
// usage: node dap.js CTM ROOT
const path = require("path");
const assert = require("assert");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

async function main(ctm, root) {
  const client = new DebugClient("", "", "ctm");
  // The client starts adapters with node; this one is a program of its own.
  const { spawn } = require("child_process");
  const adapter = spawn(ctm, ["dap"], { stdio: ["pipe", "pipe", "inherit"] });
  client.connect(adapter.stdout, adapter.stdin);
  const program = path.join(root, "examples/mandelbrot/job.toml");
  const source = path.join(root, "examples/mandelbrot/mandelbrot.x1k");

  const { body } = await client.initializeRequest();
  assert.strictEqual(body.supportsStepBack, true);
  await Promise.all([
    client.launch({ program, at: "120,200", stopOnEntry: false }),
    client.waitForEvent("initialized").then(async () => {
      const set = await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [{ line: 24 }] });
      assert.strictEqual(set.body.breakpoints[0].verified, true);
      return client.configurationDoneRequest();
    }),
    client.assertStoppedLocation("breakpoint", { path: source, line: 24 }),
  ]);
  await Promise.all([client.nextRequest({ threadId: 1 }), client.assertStoppedLocation("step", { line: 25 })]);
  await Promise.all([client.stepBackRequest({ threadId: 1 }), client.assertStoppedLocation("step", { line: 24 })]);
  const value = await client.evaluateRequest({ expression: "r3.a", context: "watch" });
  assert.match(value.body.result, /^1 /);
  await client.disconnectRequest();
  await new Promise((resolve) => adapter.on("exit", resolve));
}

const [ctm, root] = process.argv.slice(2);
main(ctm, root).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
