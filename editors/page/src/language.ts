// Colouring of the assembly languages by the words that the assemblers read, and of job files.
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

export type Words = Record<string, [string, string][]>;

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
  { tag: [tags.string, tags.number, tags.atom, tags.bool], color: "var(--number)" },
  { tag: kinds.arithmetic, color: "var(--op)" },
  { tag: kinds.memory, color: "var(--memory)" },
  { tag: kinds.flow, color: "var(--flow)", fontWeight: "600" },
  { tag: kinds.export, color: "var(--flow)" },
  { tag: [kinds.modifier], color: "var(--directive)" },
  { tag: kinds.directive, color: "var(--directive)", fontWeight: "600" },
  { tag: kinds.special, color: "var(--register)" },
  { tag: [kinds.register, tags.propertyName], color: "var(--register)" },
  { tag: kinds.label, color: "var(--text)", fontWeight: "600" },
]);

const registers: Record<string, RegExp> = {
  "ctm-x1k": /^[rcsoibt][0-9]+$/,
  "ctm-pvs": /^(ox?|at|[rvc])[0-9]+$/,
  "ctm-r700": /^(R|C|G|KC|CB|T|PIX|POS|PARAM|t|s|b|i)[0-9]+$/,
};

export function language(id: string | null, words: Words): Extension {
  if (id === "toml") return [StreamLanguage.define(toml), syntaxHighlighting(style)];
  if (!id || !words[id]) return [syntaxHighlighting(style)];
  const of = new Map<string, string>();
  for (const [kind, word] of words[id]) if (!of.has(word)) of.set(word, kind);
  const directives = new Set(words[id].filter(([kind]) => kind === "directive").map(([, word]) => word));
  return [
    StreamLanguage.define({
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
    }),
    syntaxHighlighting(style),
  ];
}
