// The workbench page: files in tabs, and buttons that run the homework's commands in the browser's Python.

import { editor } from "./editor.js";
import { Python } from "./python.js";
import { drawTraining } from "./training.js";
import { unzip, zip } from "./zip.js";

const find = (id) => document.getElementById(id);
const HINTS = 2; // steps of hints, as with `pytest --hint --hint`

const homework = await (await fetch("homework.json")).json();
const given = Object.fromEntries(homework.files.map(({ name, text }) => [name, text]));
const key = `workbench ${homework.name}`;

// The student's files: kept in this browser.

function restored() {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

const files = { ...given, ...restored() };
let current = Object.keys(files)[0];

function keep() {
  try {
    localStorage.setItem(key, JSON.stringify(files));
    find("kept").textContent = "Your text is kept in this browser.";
  } catch {
    find("kept").textContent = "This browser does not keep your text: download it before you leave.";
  }
}

const status = (sentence) => {
  find("status").textContent = sentence;
};

// Tabs and the editor.

const box = await editor(find("editor"), "Python code", homework.editor, () => {
  files[current] = box.text;
  hints = 0;
  keep();
});

function show(name, line) {
  current = name;
  box.show(name, files[name]);
  for (const tab of find("tabs").children) {
    const chosen = tab.textContent === name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) find("panel").setAttribute("aria-labelledby", tab.id);
  }
  offer();
  if (line) box.goTo(line);
}

function drawTabs() {
  const tabs = Object.keys(files).map((name, number) => {
    const tab = document.createElement("button");
    Object.assign(tab, { id: `tab-${number}`, type: "button", textContent: name });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "panel");
    tab.addEventListener("click", () => show(name));
    return tab;
  });
  find("tabs").replaceChildren(...tabs);
}

find("tabs").addEventListener("keydown", (event) => {
  const tabs = [...find("tabs").children];
  const at = tabs.findIndex((tab) => tab.textContent === current);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = tabs.at(to % tabs.length);
  show(next.textContent);
  next.focus();
});

/** Offer the checks of the shown file, and keep the choice if it is still there. */
function offer() {
  const checks = homework.files.find(({ name }) => name === current)?.checks ?? [{ label: "everything", arguments: [] }];
  const options = checks.map((one) => new Option(one.label, JSON.stringify(one.arguments)));
  const before = find("scope").value;
  find("scope").replaceChildren(...options);
  if (options.some((option) => option.value === before)) find("scope").value = before;
  hints = 0;
}

// Commands.

const python = new Python(homework.python, status);
let hints = 0;

function waiting() {
  python.ready.then(
    () => python.running || status("Python is ready."),
    (error) => status(`Python cannot be loaded: ${error.message}. Your text is safe; reload the page to try again.`),
  );
}

function busy(running) {
  for (const id of ["check", "hint", "train"]) find(id).disabled = running;
  find("stop").disabled = !running;
  find("output").setAttribute("aria-busy", running);
}

/** Add a line to the output; the places of code in it become buttons that show them. */
function print(line) {
  const parts = line.split(/(\b\w+\.py, line \d+)/).map((part) => {
    const [, name, number] = part.match(/^(\w+\.py), line (\d+)$/) ?? [];
    if (!(name in files)) return part;
    const link = document.createElement("button");
    Object.assign(link, { type: "button", className: "place", textContent: part });
    link.addEventListener("click", () => show(name, Number(number)));
    return link;
  });
  find("output").append(...parts, "\n");
}

async function run(task, about, progress) {
  busy(true);
  find("output").replaceChildren();
  status(`${about} …`);
  const began = performance.now();
  try {
    const ended = await python.run({ ...task, files }, print, progress);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    if (ended === null) print("Stopped.");
    status(ended === null ? "Stopped." : `Finished after ${seconds} s: see Results.`);
  } catch (error) {
    status(`Python failed: ${error.message}`);
  }
  busy(false);
  python.ready.catch(waiting);
}

function check(steps) {
  hints = steps;
  const chosen = find("scope").selectedOptions[0];
  const more = Array(steps).fill("--hint");
  const about = steps ? `Looking for hint ${steps} of ${HINTS} on ${chosen.label}` : `Checking ${chosen.label}`;
  return run({ command: "check", arguments: [...JSON.parse(chosen.value), ...more] }, about);
}

function train() {
  const steps = find("steps").value;
  find("training").hidden = false;
  drawTraining(null);
  return run({ command: "train", arguments: ["--steps", steps] }, `Training for ${steps} steps`, drawTraining);
}

find("check").addEventListener("click", () => check(0));
find("hint").addEventListener("click", () => check(Math.min(hints + 1, HINTS)));
find("stop").addEventListener("click", () => python.stop());
find("train").addEventListener("click", train);
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!find("check").disabled) check(0);
  },
  true,
);

// Start over, download and upload.

find("restore").addEventListener("click", () => {
  if (!(current in given)) return status(`${current} is your own file: there is no original.`);
  if (!confirm(`Replace your text of ${current} with the original?`)) return status("Nothing is replaced.");
  files[current] = given[current];
  keep();
  show(current);
  return status(`${current} has its original text.`);
});

find("download").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(zip(files));
  link.download = `${homework.name}.zip`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  status(`Downloaded ${link.download}: upload it to Gradescope.`);
});

/** Return the student's files in an upload: in its top folder, and not those that the homework brings. */
async function texts(upload) {
  if (!upload.name.endsWith(".zip")) return { [upload.name]: await upload.text() };
  const found = Object.entries(await unzip(await upload.arrayBuffer())).map(([path, text]) => [path.split("/"), text]);
  const top = Math.min(...found.map(([path]) => path.length));
  return Object.fromEntries(found.filter(([path]) => path.length === top).map(([path, text]) => [path.at(-1), text]));
}

find("upload").addEventListener("click", () => find("chooser").click());
find("chooser").addEventListener("change", async () => {
  const uploaded = {};
  try {
    for (const upload of find("chooser").files) Object.assign(uploaded, await texts(upload));
  } catch (error) {
    return status(`The upload cannot be read: ${error.message}.`);
  } finally {
    find("chooser").value = "";
  }
  const names = Object.keys(uploaded).filter((name) => name.endsWith(".py") && !homework.given.includes(name));
  if (!names.length) return status("The upload has no .py file.");
  const replaced = names.filter((name) => name in files && files[name] !== given[name] && files[name] !== uploaded[name]);
  if (replaced.length && !confirm(`Replace your text of ${replaced.join(", ")}?`)) return status("Nothing is replaced.");
  for (const name of names) files[name] = uploaded[name];
  keep();
  drawTabs();
  show(names.includes(current) ? current : names[0]);
  return status(`Uploaded ${names.join(", ")}.`);
});

drawTabs();
show(current);
keep();
busy(false);
waiting();
