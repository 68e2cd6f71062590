// A field that takes a JSON object: pasted, dropped or chosen as a file, or put together from single members typed by hand.
// The text stays in the page; nothing is sent anywhere.

import { setText, whenSet } from "./form.mjs";
import { word } from "./words.mjs";

/** What the package reads at most; a larger file is surely another one. */
const LARGEST = 1_000_000;

export function enableObject(field) {
  const control = field.querySelector("textarea");
  const say = (name) => {
    const place = document.getElementById(`${control.id}-error`);
    place.textContent = word(name);
    place.hidden = false;
    control.setAttribute("aria-invalid", "true");
  };
  enableFiles(field, (file) => take(file, control, say));
  enableMembers(field, control);
}

async function take(file, control, say) {
  if (file.size > LARGEST) {
    say("file_too_large");
    return;
  }
  setText(control, await file.text());
  control.dispatchEvent(new Event("input", { bubbles: true }));
}

function enableFiles(field, takeFile) {
  const chooser = field.querySelector('input[type="file"]');
  field.querySelector('[data-action="file"]').addEventListener("click", () => chooser.click());
  chooser.addEventListener("input", (event) => event.stopPropagation());
  chooser.addEventListener("change", async () => {
    const [file] = chooser.files;
    if (file) await takeFile(file);
    chooser.value = ""; // The same file may be chosen again after it was changed.
  });
  const over = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return; // Dragged text goes where the browser puts it.
    event.preventDefault();
    field.classList.add("ga-over");
  };
  field.addEventListener("dragenter", over);
  field.addEventListener("dragover", over);
  field.addEventListener("dragleave", (event) => {
    if (!field.contains(event.relatedTarget)) field.classList.remove("ga-over");
  });
  field.addEventListener("drop", (event) => {
    field.classList.remove("ga-over");
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    takeFile(file);
  });
}

/** Members and text say the same: what is typed into one shows in the other. */
function enableMembers(field, control) {
  const members = [...field.querySelectorAll("[data-member]")];
  const show = () => {
    const held = parsed(control.value) ?? {};
    for (const member of members) member.value = held[member.dataset.member] === undefined ? "" : String(held[member.dataset.member]);
  };
  for (const member of members) {
    member.addEventListener("input", (event) => {
      event.stopPropagation(); // The text is the input.
      const held = parsed(control.value) ?? {};
      if (member.value.trim()) held[member.dataset.member] = valueOf(member);
      else delete held[member.dataset.member];
      control.value = Object.keys(held).length > 0 ? JSON.stringify(held, null, 2) : "";
      control.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  control.addEventListener("input", (event) => {
    if (event.isTrusted) show();
  });
  whenSet(control, show);
  show();
}

/** Only what is plainly a number or a truth value becomes one; the rest goes on as typed, for Python to read or refuse. */
function valueOf({ value }) {
  const text = value.trim();
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return { true: true, false: false }[text] ?? text;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
