// Colouring of both assembly languages by the words that the assemblers read.
import { StreamLanguage, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags, Tag } from "@lezer/highlight";

const kinds = {
  arithmetic: tags.operatorKeyword,
  memory: tags.macroName,
  flow: tags.controlKeyword,
  export: tags.moduleKeyword,
  modifier: tags.modifier,
  directive: tags.definitionKeyword,
  special: tags.self,
  register: tags.variableName,
  label: tags.labelName,
  swizzle: tags.propertyName,
};

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--number)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: kinds.arithmetic, color: "var(--op)" },
  { tag: kinds.memory, color: "var(--memory)" },
  { tag: kinds.flow, color: "var(--flow)", fontWeight: "600" },
  { tag: kinds.export, color: "var(--flow)" },
  { tag: kinds.modifier, color: "var(--directive)" },
  { tag: kinds.directive, color: "var(--directive)", fontWeight: "600" },
  { tag: kinds.special, color: "var(--register)" },
  { tag: kinds.register, color: "var(--register)" },
  { tag: kinds.label, color: "var(--text)", fontWeight: "600" },
  { tag: kinds.swizzle, color: "var(--dim)" },
]);

const registers = {
  "ctm-x1k": /^[rcsoibt][0-9]+$/,
  "ctm-r700": /^(R|C|G|KC|CB|T|PIX|POS|PARAM|t|s|b|i)[0-9]+$/,
};

// The language of a file: words are those of the server, [kind, word].
export function language(id, words) {
  if (!words || !words[id]) return [syntaxHighlighting(style)];
  const of = new Map();
  for (const [kind, word] of words[id]) if (!of.has(word)) of.set(word, kind);
  const directives = new Set(words[id].filter(([kind]) => kind === "directive").map(([, word]) => word));
  const parser = {
    token(stream) {
      const start = stream.sol() || /^\s*$/.test(stream.string.slice(0, stream.pos));
      if (stream.eatSpace()) return null;
      if (stream.match(/^(;|\/\/).*/)) return "comment";
      if (stream.match(/^"([^"\\]|\\.)*"?/)) return "string";
      if (start && stream.match(/^\.[A-Za-z_]+/)) return directives.has(stream.current().slice(1)) ? "directive" : null;
      if (stream.match(/^0[xX][0-9a-fA-F]+/) || stream.match(/^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?f?/)) return "number";
      if (stream.match(/^\.[A-Za-z0-9_]+/)) return "swizzle";
      if (stream.match(/^[A-Za-z_][A-Za-z0-9_]*/)) {
        const word = stream.current(), kind = of.get(word);
        if (kind && kind !== "directive") return kind;
        if (registers[id].test(word)) return "register";
        if (start && stream.peek() === ":") return "label";
        return null;
      }
      stream.next();
      return null;
    },
    tokenTable: { ...kinds, comment: tags.comment, string: tags.string, number: tags.number },
    languageData: { commentTokens: { line: ";" } },
  };
  return [StreamLanguage.define(parser), syntaxHighlighting(style)];
}
