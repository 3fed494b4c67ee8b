// Starts what `ctm` brings: its language server and its debug adapter.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function program() {
  return vscode.workspace.getConfiguration("ctm").get("path") || "ctm";
}

function activate(context) {
  const run = { command: program(), args: ["lsp"] };
  const languages = ["ctm-x1k", "ctm-r700", "ctm-pvs"];
  client = new LanguageClient(
    "ctm",
    "CTM",
    { run, debug: run },
    { documentSelector: languages.map((language) => ({ language })) },
  );
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("ctm", {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(program(), ["dap"]),
    }),
  );
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
