// What respondents keep: what was sent, which survey it was, and the day.

import { button, make } from "./elements.js";

/** The receipt as text. */
export function receiptText({ day, content }, { texts, survey }) {
  const say = (key) => texts.say(`receipt.${key}`);
  const { title, name } = survey.questionnaire;
  return [
    say("heading"),
    "",
    `${say("survey")}: ${texts.plain(title)} (${name})`,
    `${say("hash")}: ${JSON.parse(content).survey}`,
    ...(survey.renewed ?? []).map((old) => `${texts.say("welcome.renewed")}: ${old}`),
    `${say("day")}: ${day}`,
    "",
    `${say("content")}:`,
    content,
    "",
  ].join("\n");
}

/** The page after sending. */
export function receipt(page) {
  const { texts, memory, survey } = page;
  const { day, content, stored } = memory.receipt;
  const told = make("p", { role: "status" });
  const text = content && receiptText(memory.receipt, page);
  const copy = async () => {
    const copied = navigator.clipboard?.writeText(text).then(() => true, () => false);
    told.textContent = texts.say((await copied) ? "receipt.copied" : "receipt.uncopied");
  };
  const forget = async () => {
    await memory.forget();
    kept.remove();
    told.textContent = texts.say("receipt.forgotten");
    told.after(make("p", {}, texts.say("receipt.done")));
  };
  const anew = () => memory.restart().then(() => location.reload());
  const actions = [
    button(texts.say("receipt.copy"), copy),
    button(texts.say("receipt.print"), () => print()),
    button(texts.say("receipt.save"), () => save(text, `${survey.questionnaire.name}-${day}.txt`)),
    button(texts.say("receipt.forget"), forget, { class: "quiet" }),
  ];
  const kept = make(
    "div",
    {},
    make("p", {}, texts.say("receipt.keep")),
    make(
      "details",
      {},
      make("summary", {}, texts.say("receipt.show")),
      make("pre", { id: "receipt", class: "bytes", dir: "auto", tabindex: "0", role: "region", "aria-label": texts.say("receipt.heading") }, text),
    ),
    make("div", { class: "actions" }, ...actions),
    make("p", { class: "hint" }, texts.say("receipt.done")),
  );
  return make(
    "div",
    { class: "receipt" },
    make("h1", { tabindex: "-1" }, texts.say("receipt.title")),
    day && (stored
      ? make("p", { class: "stored" }, texts.say("receipt.stored", { day: texts.day(day) }))
      : make("p", { class: "warning" }, texts.say("preview.sent"), " ", survey.preview && button(texts.say("preview.anew"), anew))),
    make("p", {}, texts.label(survey.questionnaire.thanks)),
    content ? kept : make("p", {}, texts.say("receipt.forgotten")),
    told,
  );
}

function save(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  make("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
