// Numbers, texts and dates. What is typed is kept as typed; `checks.js` says what is wrong with it.

import { described } from "./choices.js";
import { make } from "./elements.js";
import { bin } from "./answers.js";

/** A whole number or a decimal; for a private one the range that it falls into. */
export function number(question, { texts, answers, changed }, frame) {
  const whole = question.kind === "integer";
  const hint = `${frame.input}-kind`;
  const range = make("p", { class: "range", role: "status" });
  const shown = () => {
    const value = answers.value(question);
    const found = typeof value === "number" && question.private ? bin(question, value) : null;
    range.replaceChildren(...(found ? [texts.say("privacy.range"), " ", texts.label(found.label, "b")] : []));
  };
  const oninput = (event) => {
    const typed = event.target.value.trim();
    answers.enter(question, typed === "" ? null : (read(typed, whole) ?? typed));
    shown();
    changed();
  };
  const input = make("input", {
    ...field(frame, hint),
    type: "text",
    inputmode: whole ? "numeric" : "decimal",
    class: "short",
    maxlength: "40",
    dir: "ltr",
    oninput,
  });
  input.value = answers.value(question) ?? "";
  shown();
  return make("div", {}, input, make("p", { id: hint, class: "hint" }, texts.say(whole ? "asked.whole" : "asked.decimal")), question.private && range);
}

/** A text of one line or of several. */
export function words(question, { texts, answers, changed }, frame) {
  const hint = `${frame.input}-kind`;
  const oninput = (event) => {
    const typed = event.target.value.replaceAll("\r\n", "\n").replaceAll("\t", " ");
    answers.enter(question, typed === "" ? null : typed);
    changed();
  };
  const several = question.lines > 1;
  const shape = several ? { rows: String(question.lines) } : { type: "text" };
  const input = make(several ? "textarea" : "input", { ...field(frame, hint), ...shape, dir: "auto", oninput });
  input.value = answers.value(question) ?? "";
  const letters = texts.say("asked.letters", { most: texts.number(question.max_length) });
  return make("div", {}, input, make("p", { id: hint, class: "hint" }, letters));
}

/** A day. A date that is not complete yet is kept as "?", which is no date. */
export function calendar(question, { answers, changed }, frame) {
  const oninput = (event) => {
    const { value, validity } = event.target;
    answers.enter(question, value || (validity.badInput ? "?" : null));
    changed();
  };
  const input = make("input", { ...field(frame), type: "date", class: "short", max: "9999-12-31", oninput, onblur: oninput });
  input.value = answers.value(question) ?? "";
  return input;
}

function field(frame, hint = "") {
  const { "aria-labelledby": labelledby, "aria-describedby": describedby } = described(frame);
  return {
    id: frame.input,
    autocomplete: "off",
    spellcheck: "false",
    "aria-labelledby": labelledby,
    "aria-describedby": `${describedby} ${hint}`.trim(),
  };
}

// Numbers as people write them: with a point or a comma, in Latin or Arabic digits.
const ARABIC = "٠١٢٣٤٥٦٧٨٩";
const PERSIAN = "۰۱۲۳۴۵۶۷۸۹";
const WHOLE = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** The number that a text stands for; null where it stands for none, or for one too large to be exact. */
function read(typed, whole) {
  const text = [...typed].map(latin).join("").replace(/[,٫]/, ".");
  if (!(whole ? WHOLE : DECIMAL).test(text)) return null;
  const value = Number(text) + 0 || 0; // no negative zero
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

function latin(letter) {
  const place = Math.max(ARABIC.indexOf(letter), PERSIAN.indexOf(letter));
  return place < 0 ? (letter === "−" ? "-" : letter) : String(place);
}
