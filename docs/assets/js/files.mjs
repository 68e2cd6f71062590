// Files that an answer holds: one at a time behind tabs, each to be copied or downloaded.

import { tick } from "./dom.mjs";
import { word } from "./words.mjs";

let made = 0;

/** Bring the files that were printed into the page to life; the same for those of a later answer. */
export function enableFiles(section, say) {
  for (const box of section.querySelectorAll(".ga-files")) addControls(box, say);
}

/**
 * Put other files in the place of those in the box.
 * @param {HTMLElement} box
 * @param {{name: string, language: string, text: string}[]} files
 */
export function fillFiles(box, files) {
  box.replaceChildren(...files.map(newFile));
}

export function newFiles() {
  return element("div", { className: "ga-files" });
}

/** "no-copy" keeps the theme from adding a second copy button. */
function newFile({ name, language, text }) {
  const file = element("div", { className: "ga-file no-copy" });
  file.dataset.name = name;
  file.dataset.language = language;
  const code = element("code", {});
  code.append(...text.split("\n").flatMap((line, index) => [...(index ? ["\n"] : []), ...newLine(line)]));
  const block = element("pre", { dir: "ltr", tabIndex: 0 });
  block.append(code);
  file.append(element("p", { className: "ga-file-name", dir: "ltr", textContent: name }), block);
  return file;
}

/** A comment's words keep their own direction, whatever stands around them. */
function newLine(line) {
  const [, mark, words] = /^(\s*# )(.*)$/.exec(line) ?? [];
  if (!mark) return [line];
  const comment = element("span", { className: "ga-comment" });
  comment.append(mark, element("bdi", { textContent: words }));
  return [comment];
}

function addControls(box, say) {
  for (const printed of box.querySelectorAll(".ga-tabs, .ga-file-buttons")) printed.remove();
  const files = [...box.querySelectorAll(".ga-file")];
  const bar = element("div", { className: "ga-tabs" });
  bar.setAttribute("role", "tablist");
  const tabs = files.map((file) => newTab(file, box));
  bar.append(...tabs);
  bar.addEventListener("keydown", (event) => moveAmong(tabs, event));
  for (const file of files) file.prepend(newButtons(file, say));
  box.prepend(bar);
  const before = files.findIndex((file) => file.dataset.name === box.dataset.chosen);
  choose(tabs, tabs[Math.max(before, 0)], box);
}

function newTab(file, box) {
  made += 1;
  const tab = element("button", { type: "button", id: `ga-tab-${made}`, textContent: file.dataset.name, dir: "ltr" });
  file.id = `ga-panel-${made}`;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", file.id);
  file.setAttribute("role", "tabpanel");
  file.setAttribute("aria-labelledby", tab.id);
  tab.addEventListener("click", () => {
    box.dataset.chosen = file.dataset.name;
    choose([...tab.parentElement.children], tab, box);
  });
  return tab;
}

function choose(tabs, chosen, box) {
  for (const tab of tabs) {
    tab.setAttribute("aria-selected", String(tab === chosen));
    tab.tabIndex = tab === chosen ? 0 : -1;
    box.querySelector(`#${tab.getAttribute("aria-controls")}`).hidden = tab !== chosen;
  }
}

/** The arrow that points onwards is the one of the page's direction. */
function moveAmong(tabs, event) {
  const onward = getComputedStyle(event.currentTarget).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  const steps = { ArrowLeft: -1, ArrowRight: -1, [onward]: 1 };
  if (!(event.key in steps)) return;
  const next = tabs.at((tabs.indexOf(document.activeElement) + steps[event.key]) % tabs.length);
  next.focus();
  next.click();
}

function newButtons(file, say) {
  const bar = element("div", { className: "ga-file-buttons" });
  const copy = element("button", { type: "button", textContent: word("copy_file") });
  const download = element("button", { type: "button", textContent: word("download_file") });
  copy.addEventListener("click", () => navigator.clipboard.writeText(textOf(file)).then(() => (tick(copy), say(true)), () => say(false)));
  download.addEventListener("click", () => save(file.dataset.name, textOf(file)));
  bar.append(copy, download);
  return bar;
}

function textOf(file) {
  return file.querySelector("code").textContent;
}

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}
