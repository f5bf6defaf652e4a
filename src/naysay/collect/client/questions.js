// A question on the page: its words, its inputs by type, what is wrong with it, and for private ones the level of
// privacy before the inputs and what will be sent after them.

import { chooseMany, chooseOne } from "./choices.js";
import { make, button } from "./elements.js";
import { calendar, number, words } from "./fields.js";
import { byHand } from "./hand.js";
import { explanation, levels, preview } from "./privacy.js";
import { rank } from "./ranking.js";
import { grid, scale } from "./scales.js";

const INPUTS = {
  select_one: chooseOne,
  select_multiple: chooseMany,
  integer: number,
  decimal: number,
  text: words,
  date: calendar,
  rating: scale,
  grid,
  ranking: rank,
};

/**
 * A question with everything around it. `page` has `texts`, `answers` and `changed()`, to be called whenever what will
 * be sent may be another. Gives the element, `refresh()` and `complain(message)`.
 */
export function ask(question, page, heading) {
  const { texts, answers } = page;
  const id = `q-${question.name}`;
  const frame = { title: `${id}-title`, hint: `${id}-hint`, error: `${id}-error`, input: `${id}-input` };
  const error = make("p", { id: frame.error, class: "error", hidden: true });
  const inputs = make("div", { class: "inputs" });
  const seen = question.private ? preview(question, page) : null;
  const fill = () => {
    const type = question.private && answers.level(question).by_hand ? byHand : INPUTS[question.kind];
    inputs.replaceChildren(type(question, page, frame), clear(question, page, fill, inputs));
  };
  const before = answers.before(question);
  if (before) inputs.append(make("p", { class: "notice" }, texts.say("asked.before")));
  else fill();
  let label = texts.label(question.label);
  const retitle = () => {
    const [old, renewed] = [label, texts.label(question.label)];
    if (renewed.textContent === old.textContent) return;
    label = renewed;
    old.replaceWith(renewed);
  };
  const element = make(
    "section",
    { id, class: question.private ? "question private" : "question", tabindex: "-1", "aria-labelledby": frame.title },
    mark(question, texts),
    make(heading, { id: frame.title, class: "asked", tabindex: "-1" }, label, need(question, texts)),
    texts.plain(question.hint) && make("p", { id: frame.hint, class: "hint" }, texts.label(question.hint)),
    question.private && explanation(question, page),
    question.private && !before && levels(question, page, () => (fill(), page.changed())),
    error,
    question.private && !before && make("p", { class: "yours" }, texts.say("asked.yours")),
    inputs,
    seen?.element,
  );
  const complain = (message) => {
    error.hidden = !message;
    error.textContent = message ?? "";
    element.classList.toggle("wrong", Boolean(message));
    for (const input of inputs.querySelectorAll("input, textarea, fieldset"))
      if (message) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
  };
  return { item: question, element, complain, refresh: () => (retitle(), seen?.refresh()) };
}

/** Plain or private, in words and not by color alone. */
function mark(question, texts) {
  const kind = question.private ? "private" : "plain";
  return make("p", { class: `mark ${kind}` }, make("b", {}, texts.say(`asked.${kind}`)), ` · ${texts.say(`asked.${kind}Why`)}`);
}

const need = (question, texts) =>
  make("small", { class: "need" }, ` ${texts.say(question.required ? "asked.required" : "asked.optional")}`);

/** A way back to no answer, for inputs that have none of their own. */
function clear(question, { texts, answers, changed }, fill, inputs) {
  if (question.required || ["text", "integer", "decimal", "date", "ranking"].includes(question.kind)) return "";
  const empty = () => {
    answers.enter(question, null);
    fill();
    changed();
    inputs.querySelector("input")?.focus();
  };
  return button(texts.say("asked.clear"), empty, { class: "quiet" });
}
