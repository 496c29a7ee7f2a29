// The editor: CodeMirror 6, or a text area that indents where CodeMirror cannot be loaded.
// Both have show(name, text), text, goTo(line) and focus(), and call `changed` after an edit.

const INDENT = "    ";

export async function editor(parent, label, withLibrary, changed) {
  if (withLibrary) {
    try {
      return await codeMirror(parent, label, changed);
    } catch (error) {
      parent.replaceChildren(); // the network or the browser lacks it
    }
  }
  return textArea(parent, label, changed);
}

async function codeMirror(parent, label, changed) {
  const [{ EditorState }, view, commands, language, { python }] = await Promise.all([
    import("@codemirror/state"),
    import("@codemirror/view"),
    import("@codemirror/commands"),
    import("@codemirror/language"),
    import("@codemirror/lang-python"),
  ]);
  const extensions = [
    view.lineNumbers(),
    view.EditorView.lineWrapping,
    view.drawSelection(),
    view.highlightActiveLine(),
    view.highlightSpecialChars(),
    commands.history(),
    language.indentUnit.of(INDENT),
    language.indentOnInput(),
    language.bracketMatching(),
    language.syntaxHighlighting(language.defaultHighlightStyle),
    EditorState.tabSize.of(INDENT.length),
    view.EditorView.contentAttributes.of({ "aria-label": label }),
    view.keymap.of([...commands.defaultKeymap, ...commands.historyKeymap, commands.indentWithTab]),
    python(),
    view.EditorView.updateListener.of((update) => update.docChanged && changed()),
  ];
  const box = new view.EditorView({ parent });
  const states = new Map(); // of the files that are not shown, with their undo history
  let shown = "";
  return {
    show(name, text) {
      if (shown) states.set(shown, box.state);
      const state = states.get(name);
      shown = name;
      box.setState(state && state.doc.toString() === text ? state : EditorState.create({ doc: text, extensions }));
    },
    get text() {
      return box.state.doc.toString();
    },
    goTo(number) {
      const line = box.state.doc.line(Math.min(number, box.state.doc.lines));
      box.dispatch({
        selection: { anchor: line.from },
        effects: view.EditorView.scrollIntoView(line.from, { y: "center" }),
      });
      box.focus();
    },
    focus: () => box.focus(),
  };
}

function textArea(parent, label, changed) {
  const area = document.createElement("textarea");
  Object.assign(area, { spellcheck: false, autocapitalize: "off", autocomplete: "off" });
  area.setAttribute("aria-label", label);
  parent.append(area);
  let leaving = false; // after Escape, Tab moves the focus
  const insert = (text) => document.execCommand("insertText", false, text); // keeps the undo history
  area.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !event.shiftKey && !leaving) {
      event.preventDefault();
      insert(INDENT);
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const line = area.value.slice(0, area.selectionStart).split("\n").pop();
      insert(`\n${line.match(/^ */)[0]}${/:\s*$/.test(line) ? INDENT : ""}`);
    }
    leaving = event.key === "Escape";
  });
  area.addEventListener("input", changed);
  return {
    show(name, text) {
      area.value = text;
      area.setSelectionRange(0, 0);
      area.scrollTop = 0;
    },
    get text() {
      return area.value;
    },
    goTo(number) {
      const lines = area.value.split("\n");
      const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
      area.focus();
      area.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
      area.scrollTop = (number - 5) * parseFloat(getComputedStyle(area).lineHeight);
    },
    focus: () => area.focus(),
  };
}
