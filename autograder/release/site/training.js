// The curve of a training run, as SVG with a sentence for screen readers, and the names that the model writes.

const WIDTH = 560;
const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 30;

const find = (id) => document.getElementById(id);

function element(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.textContent = text;
  return made;
}

function duration(seconds) {
  return seconds < 100 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(1)} min`;
}

/** Draw the progress that `train` in in_browser.py reports; null empties the drawing. */
export function drawTraining(run) {
  find("curve").replaceChildren();
  find("names").textContent = run ? `It writes: ${run.names.map((name) => name || "(nothing)").join(", ")}` : "";
  find("progress").textContent = "";
  if (!run) return;
  const [step, training, heldOut] = run.history.at(-1);
  const left = run.left && run.step < run.steps ? `, about ${duration(run.left)} left` : "";
  const losses = `training ${training.toFixed(2)}, held out ${heldOut.toFixed(2)} nats per character`;
  find("progress").textContent = `Step ${run.step} of ${run.steps}: ${losses}${left}.`;

  const values = run.history.flatMap(([, one, two]) => [one, two]).filter(Number.isFinite);
  const [low, high] = [Math.floor(Math.min(...values) * 2) / 2, Math.ceil(Math.max(...values) * 2) / 2 || 1];
  const x = (at) => LEFT + ((WIDTH - LEFT - 10) * at) / run.steps;
  const y = (loss) => 10 + ((HEIGHT - BOTTOM - 10) * (high - loss)) / (high - low || 1);
  const drawing = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  drawing.setAttribute("aria-label", `Losses up to step ${step} of ${run.steps}: ${losses}`);
  for (let loss = low; loss <= high; loss += 0.5) {
    drawing.append(element("line", { class: "grid", x1: LEFT, x2: WIDTH - 10, y1: y(loss), y2: y(loss) }));
    drawing.append(element("text", { x: LEFT - 6, y: y(loss) + 4, "text-anchor": "end" }, loss.toFixed(1)));
  }
  for (const part of [0, 0.5, 1]) {
    const at = Math.round(run.steps * part);
    drawing.append(element("text", { x: x(at), y: HEIGHT - 10, "text-anchor": part === 1 ? "end" : "middle" }, at));
  }
  const lines = [["training", 1], ["held out", 2]];
  for (const [name, column] of lines) {
    const points = run.history.map((row) => `${x(row[0])},${y(row[column])}`).join(" ");
    drawing.append(element("polyline", { class: name.replace(" ", "-"), points }));
    for (const row of run.history) {
      drawing.append(element("circle", { class: name.replace(" ", "-"), cx: x(row[0]), cy: y(row[column]), r: 2 }));
    }
    const height = 22 + 16 * column;
    drawing.append(element("line", { class: name.replace(" ", "-"), x1: 430, x2: 460, y1: height, y2: height }));
    drawing.append(element("text", { x: 468, y: height + 4 }, name));
  }
  find("curve").append(drawing);
}
