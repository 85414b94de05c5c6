// A screen with its colours. Its text goes into text nodes, its colours into single CSS properties: nothing of it is
// ever read as HTML or as a stylesheet.
"use strict";

// The sixteen colours of the theme, and what is without one, as [red, green, blue]; the screen is dark on every page.
const THEME = ["#3b424c", "#ef6b73", "#6ecf8a", "#e6b450", "#6cb2ff", "#c792ea", "#5ccfd6", "#c9d1d9",
  "#7d8794", "#ff8b92", "#8be5a4", "#ffd173", "#95c8ff", "#dcb0ff", "#7ee6ec", "#f0f3f6"].map(channels);
const FORE = channels("#d5dae0"), BACK = channels("#12161b");
// Of text with what it stands on, at least: WCAG 2.2, 1.4.3. Programs choose their colours for another background.
const READ = 4.5;
const STEPS = [0, 95, 135, 175, 215, 255];
// Styles that are remembered; a program that draws in more is made out anew.
const MAX_STYLES = 4000;
const styles = new Map();

function channels(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

// The colour of a run: a number of the palette, `#rrggbb`, or nothing.
function colour(value, otherwise) {
  if (value === null || value === undefined) return otherwise;
  if (typeof value === "string") return channels(value);
  if (value < 16) return THEME[value];
  if (value < 232) return [Math.floor((value - 16) / 36), Math.floor((value - 16) / 6) % 6, (value - 16) % 6].map((step) => STEPS[step]);
  return Array(3).fill(8 + 10 * (value - 232));
}

const mixed = (one, other, share) => one.map((channel, at) => Math.round(channel * (1 - share) + other[at] * share));
const css = (found) => `rgb(${found.join(" ")})`;

function luminance(found) {
  const [red, green, blue] = found.map((channel) => (channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

// *fore*, as far towards white or black as it takes to be read on *back*.
function legible(fore, back) {
  const end = luminance(back) > 0.179 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.1) {
    const found = mixed(fore, end, share);
    if (contrast(found, back) >= READ) return found;
  }
  return end;
}

// What a run looks like: the colour of its text, and of what it stands on if that is not the screen's.
function look(run) {
  const key = `${run.foreground} ${run.background} ${run.style}`;
  if (!styles.has(key)) {
    if (styles.size >= MAX_STYLES) styles.clear();
    let [fore, back] = [colour(run.foreground, FORE), colour(run.background, BACK)];
    if (run.style.includes("reverse")) [fore, back] = [back, fore];
    if (run.style.includes("dim")) fore = mixed(fore, back, 0.35);
    styles.set(key, { color: css(legible(fore, back)), background: contrast(back, BACK) > 1 ? css(back) : "" });
  }
  return styles.get(key);
}

function drawn(run) {
  const node = document.createElement("span");
  node.textContent = run.text;
  const { color, background } = look(run);
  node.style.color = color;
  if (background) node.style.backgroundColor = background;
  // Words of the server's own, and no other ones.
  for (const word of ["bold", "italic", "underlined", "struck"]) if (run.style.includes(word)) node.classList.add(word);
  return node;
}

// One screen in *node*: of each picture only the rows that have changed are made anew.
class Screen {
  constructor(node) {
    this.node = node;
    this.rows = [];
  }

  show(rows) {
    const { node } = this;
    const is_at_end = node.scrollTop + node.clientHeight >= node.scrollHeight - 4;
    node.hidden = rows.length === 0;
    while (node.childElementCount > rows.length) node.lastElementChild.remove();
    this.rows.length = node.childElementCount;
    rows.forEach((row, index) => {
      const said = JSON.stringify(row);
      if (this.rows[index] === said) return;
      this.rows[index] = said;
      const line = node.children[index] ?? node.appendChild(document.createElement("div"));
      line.replaceChildren(...row.map(drawn));
    });
    if (is_at_end) node.scrollTop = node.scrollHeight;
  }
}
