// The first page: what this is, what is promised, and by which fingerprint the survey is known. And the last step before
// anything leaves: all that will be sent, in words and byte for byte.

import { device } from "./device.js";
import { button, make } from "./elements.js";
import { growth } from "./how.js";
import { together } from "./measures.js";
import { compares, naming, outcome } from "./privacy.js";
import { wayOf } from "./ways.js";

// Seconds that a question takes, on average; of what has several parts, each part. A private one is read more slowly.
const SECONDS = { note: 8, text: 25, date: 12, select_multiple: 12, grid: 6, ranking: 5, rating: 7 };
const [OTHERWISE, PRIVATE, AROUND] = [8, 8, 60];

/** How many minutes a survey takes. */
export function minutes(items) {
  const one = ({ kind, items: inner, rows, choices, private: hidden }) => {
    if (inner) return sum(inner);
    const parts = { grid: rows, ranking: choices }[kind]?.length ?? 1;
    return parts * (SECONDS[kind] ?? OTHERWISE) + (hidden ? PRIVATE : 0);
  };
  const sum = (all) => all.reduce((seconds, item) => seconds + one(item), 0);
  return Math.ceil((AROUND + sum(items)) / 60);
}

/** The private questions, and who hides their answers: chance on this device, or where it draws none, whoever answers. */
function hiding({ questions }) {
  const some = questions.filter((question) => question.private);
  return [some, some.length && (some.some(device.offers) ? "welcome.safeWhy" : "byHand.safe")];
}

export function welcome({ texts, survey, hash, memory, answers, resumed, start }) {
  const { title, about, contact, items } = survey.questionnaire;
  const [some, safe] = hiding(answers);
  const long = texts.say("welcome.minutes", { time: texts.duration(minutes(items)), questions: texts.number(answers.questions.length) });
  const lines = {
    who: texts.plain(contact) ? texts.label(contact) : make("bdi", {}, location.host),
    what: texts.label(texts.plain(about) ? about : title),
    long,
    safe: texts.say(safe || "welcome.openWhy"),
  };
  return make(
    "div",
    { class: "welcome" },
    make("h1", { tabindex: "-1" }, texts.label(title)),
    make("dl", { class: "lines" }, ...Object.entries(lines).map(([key, line]) => make("div", {}, make("dt", {}, texts.say(`welcome.${key}`)), make("dd", {}, line)))),
    !memory.lasting && make("p", { class: "warning" }, texts.say("welcome.forgetful")),
    survey.preview && make("p", { class: "warning" }, texts.say("preview.mark")),
    resumed && make("p", { class: "notice" }, texts.say("welcome.resumed")),
    make("div", { class: "actions" }, button(texts.say("welcome.start"), start, { class: "main" })),
    make("p", { class: "hint" }, texts.say("welcome.shared")),
    unfolding("welcome.promised", "promises", { make, texts, some, safe, growth, together }),
    unfolding("welcome.check", "fingerprint", { make, texts, survey, hash }),
  );
}

/** What few people read, loaded as it is opened. */
function unfolding(key, name, page) {
  const { texts } = page;
  const body = make("div", {});
  const parts = async () => (await (await texts.whole()).extras())[name](page);
  const fill = async () => body.replaceChildren(...(await parts().catch(() => [texts.say("sending.offline")])));
  return make("details", { ontoggle: fill }, make("summary", {}, texts.say(key)), body);
}

/** The step that shows the message. `edit(question)` goes back to a question, `confirm()` sends. */
export function review(bytes, { texts, answers, edit, confirm, problems }) {
  const send = button(texts.say("review.confirm"), () => ((send.disabled = true), confirm()), { class: "main", id: "confirm" });
  send.disabled = problems.length > 0;
  const rows = answers.questions.map((question) => row(question, texts, answers, edit));
  const lot = answers.survey.lots?.told?.(texts);
  if (lot) rows.unshift(make("div", {}, make("dt", {}, lot[0]), make("dd", {}, lot[1])));
  const [, safe] = hiding(answers);
  const title = texts.say("review.title");
  return make(
    "div",
    { class: "review" },
    make("h1", { tabindex: "-1" }, title),
    answers.survey.preview && make("p", { class: "warning" }, texts.say("preview.mark")),
    make("p", {}, texts.say("review.lead")),
    safe && make("p", {}, "◌ ", texts.say(safe)),
    make("dl", { class: "told" }, ...rows),
    make(
      "details",
      { class: "exact" },
      make("summary", { id: "exact-title" }, texts.say("review.exact")),
      // The blanks at the end are part of it: the text of this element is the message.
      make("pre", { id: "exact", class: "bytes", dir: "ltr", tabindex: "0", role: "region", "aria-labelledby": "exact-title" }, bytes),
      make("p", { class: "hint" }, texts.say("review.bytes", { bytes: texts.number(answers.survey.body_length) })),
    ),
    make("div", { class: "actions" }, send),
  );
}

function row(question, texts, answers, edit) {
  const asked = answers.relevant(question);
  const name = texts.plain(question.label);
  const change = button(texts.say("review.edit"), () => edit(question), {
    class: "quiet",
    "aria-label": texts.say("review.editNamed", { question: name }),
  });
  const lines = asked ? spoken(question, texts, answers) : [texts.say("review.unasked")];
  return make(
    "div",
    { class: question.private ? "private" : null },
    make("dt", {}, texts.label(question.label)),
    make("dd", {}, make("div", {}, ...lines.map((line) => make("p", {}, line))), asked && change),
  );
}

/** What is sent for a question, in words. */
function spoken(question, texts, answers) {
  const sent = answers.sent(question);
  if (sent === null) return [texts.say(answers.refused(question) ? "asked.refused" : "review.blank")];
  if (!question.private) return plain(question, texts, sent);
  const parts = outcome(question, texts, answers, sent);
  const words = parts.join(texts.say("leaving.comma")) || texts.say("leaving.all");
  return [compares(question, answers.level(question)) && wayOf(question, answers) === device ? texts.say("compares.sent", { words }) : words];
}

function plain(question, texts, sent) {
  const named = question.choices ? naming(question, texts) : String;
  if (question.kind === "grid")
    return question.rows.map(({ name, label }) => `${texts.plain(label)} – ${sent[name] === null ? "–" : named(sent[name])}`);
  if (question.kind === "ranking") return sent.map((name, place) => `${place + 1}. ${texts.plain(labelOf(question, name))}`);
  if (question.kind === "select_multiple") return [texts.list(sent.map((name) => texts.plain(labelOf(question, name))))];
  return [question.kind === "date" ? texts.day(sent) : named(sent)];
}

const labelOf = (question, name) => question.choices.find((choice) => choice.name === name).label;
