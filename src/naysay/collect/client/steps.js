// One step of the survey: a question, or a group of questions that belong together, with the notes before it.

import { problem } from "./checks.js";
import { make } from "./elements.js";
import { ask } from "./questions.js";

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

function complaint({ item, element, complain }, { answers, texts }) {
  const message = problem(item, answers, texts);
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
