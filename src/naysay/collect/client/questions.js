// One step of the survey: a question, or a group of questions that belong together, with the notes before it. Around a
// question stand its words, what is wrong with the answer, and for private ones the level and what will be sent.

import { problem } from "./checks.js";
import { button, make } from "./elements.js";
import { byHand, calendar, chooseMany, chooseOne, grid, number, rank, scale, words } from "./inputs.js";
import { explanation, levels, preview } from "./privacy.js";

/** The steps of a questionnaire: each a list of items, of which the last is no note (but for a note at the end). */
export function stepsOf(items) {
  const steps = [];
  let notes = [];
  for (const item of items) {
    notes.push(item);
    if (item.kind === "note") continue;
    steps.push(notes);
    notes = [];
  }
  return notes.length ? [...steps, notes] : steps;
}

/** A step on the page. Gives its element, and `check()`: whether all is well; what is not is said and shown. */
export function step(items, page) {
  const { texts, answers, survey } = page;
  const parts = [];
  const changed = () => {
    for (const { item, element, refresh } of parts) {
      element.hidden = !answers.relevant(item);
      refresh?.();
    }
    page.changed();
  };
  const inner = { ...page, changed };
  const heading = items.every(({ kind }) => kind === "note") && make("h1", { tabindex: "-1" }, texts.label(survey.questionnaire.title));
  const summary = make("div", { class: "summary", role: "alert", tabindex: "-1", hidden: true });
  const element = make("div", { class: "step" }, summary, heading, ...items.map((item) => place(item, inner, 1, parts)));
  changed();
  const check = () => {
    const complaints = parts.flatMap((part) => (part.complain ? complaint(part, page) : []));
    summarize(summary, complaints, texts);
    return complaints.length === 0;
  };
  return { element, check };
}

function place(item, page, depth, parts) {
  const { texts } = page;
  if (item.kind === "note") {
    const element = make("div", { class: "note" }, texts.label(item.label, "p"), texts.plain(item.hint) && texts.label(item.hint, "p"));
    parts.push({ item, element });
    return element;
  }
  if (item.kind !== "group") {
    const part = ask(item, page, `h${Math.min(depth, 4)}`);
    parts.push(part);
    return part.element;
  }
  const element = make(
    "div",
    { class: "group" },
    make(`h${Math.min(depth, 4)}`, { tabindex: "-1" }, texts.label(item.label)),
    texts.plain(item.hint) && make("p", { class: "hint" }, texts.label(item.hint)),
    ...item.items.map((each) => place(each, page, depth + 1, parts)),
  );
  parts.push({ item, element });
  return element;
}

function complaint({ item, element, complain }, page) {
  const message = problem(item, page);
  complain(message);
  return message ? [{ message, item, element }] : [];
}

function summarize(summary, complaints, texts) {
  summary.hidden = complaints.length === 0;
  const lines = complaints.map(({ message, item, element }) => {
    const onclick = (event) => {
      event.preventDefault();
      (element.querySelector(".inputs input, .inputs textarea, .inputs button") ?? element).focus();
    };
    return make("li", {}, make("a", { href: `#${element.id}`, onclick }, texts.label(item.label), `: ${message}`));
  });
  summary.replaceChildren(make("h2", {}, texts.say("wrong.summary")), make("ul", {}, ...lines));
  if (complaints.length) summary.focus();
}

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
function ask(question, page, heading) {
  const { texts, answers, truths } = page;
  const id = `q-${question.name}`;
  const frame = { title: `${id}-title`, hint: `${id}-hint`, error: `${id}-error`, input: `${id}-input` };
  const error = make("p", { id: frame.error, class: "error", hidden: true });
  const inputs = make("div", { class: "inputs" });
  const seen = question.private ? preview(question, page) : null;
  const fill = () => {
    const store = truths.store(question);
    const type = question.private && store === answers ? byHand : INPUTS[question.kind];
    const inner = { ...page, store };
    inputs.replaceChildren(type(question, inner, frame), clear(question, inner, fill, inputs));
  };
  const before = answers.before(question);
  const refused = answers.refused(question);
  const fixed = before || refused;
  if (fixed) inputs.append(make("p", { class: refused ? "warning" : "notice" }, texts.say(refused ? "asked.refused" : "asked.before")));
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
    question.private && !fixed && levels(question, page, () => (fill(), page.changed())),
    error,
    !fixed && answers.renewed(question) && make("p", { class: "notice" }, texts.say("asked.renewed")),
    question.private && !fixed && make("p", { class: "yours" }, texts.say("asked.yours")),
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
function clear(question, { texts, store, changed }, fill, inputs) {
  if (question.required || ["text", "integer", "decimal", "date", "ranking"].includes(question.kind)) return "";
  const empty = () => {
    store.enter(question, null);
    fill();
    changed();
    inputs.querySelector("input")?.focus();
  };
  return button(texts.say("asked.clear"), empty, { class: "quiet" });
}
