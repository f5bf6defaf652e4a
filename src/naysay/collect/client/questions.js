// One step of the survey: a private question, or others that belong together, with the notes before it. Around a question
// stand its words and what is wrong with the answer; what a private one has beside that is in private.js.

import { problem } from "./checks.js";
import { button, make } from "./elements.js";
import { KINDS } from "./inputs.js";
import { around } from "./private.js";

/** A step on the page. Gives its element, what stands after Next, and `check()`: whether all is well; what is not is said. */
export function step({ items, within }, page) {
  const { texts, answers, survey, forward } = page;
  const parts = [];
  const changed = () => {
    for (const { item, element, refresh } of parts) {
      element.hidden = !answers.relevant(item);
      refresh?.();
    }
    const skips = blank(parts, page);
    forward.textContent = texts.say(skips ? "skip" : "next");
    forward.classList.toggle("skip", skips);
    forward.dataset.other = texts.say(skips ? "next" : "skip"); // as wide as either
  };
  const inner = { ...page, changed, within };
  const heading = items.every(({ kind }) => kind === "note") && make("h1", { tabindex: "-1" }, texts.label(survey.questionnaire.title));
  const summary = make("div", { class: "summary", role: "alert", tabindex: "-1", hidden: true });
  const element = make("div", { class: "step" }, summary, heading, ...items.map((item) => place(item, inner, 1, parts)));
  const plain = parts.some(({ item, complain }) => complain && !item.private) && make("p", { class: "small" }, texts.say("asked.plain"));
  element.append(parts.find(({ bar }) => bar)?.bar ?? make("div", { class: "actions" }, make("div", { class: "room" }, plain), forward));
  changed();
  const check = () => {
    const complaints = parts.flatMap((part) => (part.complain ? complaint(part, page) : []));
    summarize(summary, complaints, texts);
    return complaints.length === 0;
  };
  return { element, check };
}

/** Whether nothing that is asked here is answered, and none of it must be. */
function blank(parts, { answers, truths }) {
  const asked = parts.filter(({ item, complain }) => complain && answers.relevant(item)).map(({ item }) => item);
  return asked.some(() => true) && asked.every((item) => !item.required && !answers.before(item) && !answers.refused(item) && truths.store(item).value(item) === null);
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
    const focus = () => (element.querySelector(".inputs input, .inputs textarea, .inputs button") ?? element).focus();
    return make("li", {}, button([texts.label(item.label), `: ${message}`], focus, { class: "quiet" })); // a link could be prefetched
  });
  summary.replaceChildren(make("h2", {}, texts.say("wrong.summary")), make("ul", {}, ...lines));
  if (complaints.length) summary.focus();
}

/**
 * A question with everything around it. `page` has `texts`, `answers` and `changed()`, to be called whenever what will
 * be sent may be another. Gives the element, the `bar` of a private one, `refresh()` and `complain(message)`.
 */
function ask(question, page, heading) {
  const { texts, answers, truths } = page;
  const id = `q-${question.name}`;
  const frame = { title: `${id}-title`, hint: `${id}-hint`, error: `${id}-error`, input: `${id}-input` };
  const error = make("p", { id: frame.error, class: "error", hidden: true });
  const inputs = make("div", { class: "inputs" });
  const fill = () => {
    const inner = { ...page, store: truths.store(question) };
    inputs.replaceChildren((hidden?.asks ?? ((...of) => KINDS[question.kind].asks(question, ...of)))(inner, frame));
    if (question.right) inputs.append(checked(question, page, inputs));
  };
  const again = () => (fill(), page.changed(), inputs.querySelector("input, button")?.focus());
  const fixed = answers.before(question) || answers.refused(question);
  const away = fixed ? { element: null, refresh: () => {} } : clear(question, page, again);
  const hidden = question.private && !fixed ? around(question, page, again, away.element) : null;
  if (fixed) inputs.append(notice(question, texts, answers));
  else fill();
  let label = title(question, texts);
  const retitle = () => {
    const [old, renewed] = [label, title(question, texts)];
    if (renewed.textContent === old.textContent) return;
    label = renewed;
    old.replaceWith(renewed);
  };
  const element = make(
    "section",
    { id, class: question.private ? "question private" : "question", tabindex: "-1", "aria-labelledby": frame.title },
    make("div", { class: "marks" }, hidden?.first, question.practice && make("p", { class: "mark" }, texts.say("practice.mark")), question.private && page.within.map(({ label }) => make("p", { class: "within" }, texts.label(label)))),
    make(heading, { id: frame.title, class: "asked", tabindex: "-1" }, label, question.required && make("small", { class: "need" }, ` ${texts.say("asked.required")}`)),
    texts.plain(question.hint) && make("p", { id: frame.hint, class: "hint" }, texts.label(question.hint)),
    hidden?.above,
    error,
    !fixed && answers.renewed(question) && make("p", { class: "notice" }, texts.say("asked.renewed")),
    inputs,
    hidden?.below,
    !hidden && away.element,
  );
  const complain = (message) => {
    error.hidden = !message;
    error.textContent = message ?? "";
    element.classList.toggle("wrong", Boolean(message));
    for (const input of inputs.querySelectorAll("input, textarea, fieldset"))
      if (message) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
  };
  const refresh = () => (retitle(), hidden?.refresh(), away.refresh());
  return { item: question, element, bar: hidden?.bar, complain, refresh };
}

/** Says once a question of understanding is answered what is right; its answer is counted, and stays. */
function checked(question, { texts, truths }, inputs) {
  const said = make("p", { class: "notice", role: "status", hidden: true });
  const tell = () => {
    const value = truths.store(question).value(question);
    if (value === null) return;
    const { label } = question.choices.find(({ name }) => name === question.right);
    const verdict = value === question.right ? texts.say("check.right") : texts.say("check.wrong", { answer: texts.quoted(texts.plain(label)) });
    said.replaceChildren(`${verdict} `, texts.label(question.explanation));
    said.hidden = false;
    for (const input of inputs.querySelectorAll("input:not(:checked)")) input.disabled = true;
  };
  inputs.onchange = tell;
  tell();
  return said;
}

/** Why a private question is not asked on this device. */
function notice(question, texts, answers) {
  const before = answers.before(question);
  return make("p", { class: before ? "notice" : "warning" }, texts.say(before ? "asked.before" : "asked.refused"));
}

/** What is asked; of a question without words its name, so that nobody answers nothing. */
const title = (question, texts) => (texts.plain(question.label).trim() ? texts.label(question.label) : make("span", {}, question.name));

/** A way back to no answer, for inputs that have none of their own; there only where there is something to take back. */
function clear(question, { texts, truths, changed }, again) {
  if (question.required || question.right || question.practice || ["text", "integer", "decimal", "date", "ranking"].includes(question.kind)) return { element: null, refresh: () => {} };
  const empty = () => {
    truths.store(question).enter(question, null);
    again();
    changed();
  };
  const element = button(texts.say("asked.clear"), empty, { class: "quiet clear", hidden: true });
  return { element, refresh: () => (element.hidden = truths.store(question).value(question) === null) };
}
