/**
 * A YAML editor: CodeMirror with completion from the server's OpenAPI. It lives in a shadow root, where its style sheet is
 * a constructed one: the policy of the page allows no inline style.
 */
import { autocompletion, type CompletionContext, closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { type ChangeSpec, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef, useState } from "react";
import { contextAt } from "./document";
import { fieldsAt } from "./schema";

export interface Problem {
  /** Line from 1; 0: the whole document. */
  line: number;
  message: string;
}

interface Props {
  label: string;
  value: string;
  onChange: (text: string) => void;
  problems: Problem[];
  isReadOnly?: boolean;
}

const THEME = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--ground)", color: "var(--text)", maxHeight: "min(70vh, 720px)" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", lineHeight: "20px", overflow: "auto" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--chosen) !important" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--text)" },
});

/** The colours of the page, which are readable on both grounds. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--better)" },
  { tag: [tags.comment, tags.meta, tags.separator, tags.punctuation], color: "var(--soft)" },
]);

async function complete(context: CompletionContext) {
  const word = context.matchBefore(/[\w.\-/]*/);
  if (!word || (word.from === word.to && !context.explicit)) return null;
  const where = contextAt(context.state.doc.toString(), context.pos);
  if (!where) return null;
  const options = await fieldsAt(where);
  return options.length ? { from: word.from, options: options.map(({ name, type }) => ({ label: name, detail: type, apply: where.isValue ? name : `${name}: ` })), validFor: /^[\w.\-/]*$/ } : null;
}

/** The part in the middle that differs: a cursor outside it stays where it is. */
function difference(before: string, after: string): ChangeSpec {
  const shorter = Math.min(before.length, after.length);
  let [from, kept] = [0, 0];
  while (from < shorter && before[from] === after[from]) from++;
  while (kept < shorter - from && before.at(-1 - kept) === after.at(-1 - kept)) kept++;
  return { from, to: before.length - kept, insert: after.slice(from, after.length - kept) };
}

export function Editor({ label, value, onChange, problems, isReadOnly = false }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const change = useRef(onChange);
  change.current = onChange;
  // What was last given to onChange. React shows it and `value` from the same moment, so a `value` that differs comes from
  // elsewhere. The document alone does not tell: a key may be pressed between a render and its effects.
  const [given, setGiven] = useState(value);
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root as unknown as Element,
      state: EditorState.create({
        doc: given,
        extensions: [
          lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), yaml(), syntaxHighlighting(COLOURS), lintGutter(), THEME, EditorView.lineWrapping,
          autocompletion({ override: [complete] }),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorState.readOnly.of(isReadOnly),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            const text = update.state.doc.toString();
            setGiven(text);
            change.current(text);
          }),
        ],
      }),
    });
    editor.scrollDOM.tabIndex = 0; // scrolled by keyboard where it cannot be edited
    view.current = editor;
    return () => editor.destroy();
  }, [isReadOnly, label]);
  useEffect(() => {
    // Where the document is ahead of what was given, a render with it follows.
    if (value !== given && view.current!.state.doc.toString() === given) view.current!.dispatch({ changes: difference(given, value) });
  }, [value, given]);
  useEffect(() => {
    const { doc } = view.current!.state;
    const shown = problems.map(({ line, message }): Diagnostic => {
      const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
      return { from, to, severity: "error", message };
    });
    view.current!.dispatch(setDiagnostics(view.current!.state, shown));
  }, [problems]);
  return <div className="editor" ref={host} />;
}
