// The first page: what this is, what is promised, and by which fingerprint the survey is known.

import { button, make } from "./elements.js";
import { together } from "./privacy.js";

const FIRST = 3; // promises that are read without opening anything

export function welcome({ texts, survey, hash, memory, resumed, start }) {
  const { title, about, contact } = survey.questionnaire;
  const promises = Object.keys(texts.words.promises).map((key) => make("li", {}, texts.say(`promises.${key}`)));
  const some = Object.keys(survey.privacy).length > 0;
  return make(
    "div",
    { class: "welcome" },
    make("h1", { tabindex: "-1" }, texts.label(title)),
    make("p", { class: "about" }, texts.label(about)),
    !memory.lasting && make("p", { class: "warning" }, texts.say("welcome.forgetful")),
    resumed && make("p", { class: "notice" }, texts.say("welcome.resumed")),
    make("div", { class: "actions" }, button(texts.say("welcome.start"), start, { class: "main" })),
    make("h2", {}, texts.say("welcome.promised")),
    make("ul", { class: "promises" }, ...promises.slice(0, FIRST)),
    make("details", {}, make("summary", {}, texts.say("welcome.more")), make("ul", { class: "promises" }, ...promises.slice(FIRST))),
    some && make("h2", {}, texts.say("welcome.together")),
    some && make("p", {}, together(survey, texts)),
    make("h2", {}, texts.say("welcome.hash")),
    make("p", {}, make("code", { id: "hash", class: "bytes", dir: "ltr" }, hash)),
    make("p", { class: "hint" }, texts.say("welcome.hashWhy")),
    ...(survey.renewed ?? []).map((old) => make("p", { class: "hint" }, texts.say("welcome.renewed"), ": ", make("code", { class: "bytes", dir: "ltr" }, old))),
    texts.plain(contact) && make("h2", {}, texts.say("welcome.contact")),
    make("p", {}, texts.label(contact)),
  );
}
