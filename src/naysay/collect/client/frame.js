// What stays on the page from step to step: the title, the language, the fingerprint and what this cannot protect.

import { make } from "./elements.js";
import { languages } from "./texts.js";

/** Shows `content` inside the frame, names the page, and leads the eye and the screen reader to its heading. */
export function show(root, content, { texts, survey, hash, speak, moved, progress }) {
  document.documentElement.lang = texts.language;
  document.documentElement.dir = texts.direction;
  const heading = content.querySelector("h1");
  const title = survey ? texts.plain(survey.questionnaire.title) : "";
  document.title = [heading.textContent, progress?.words, title].filter((each, place, all) => each && all.indexOf(each) === place).join(" – ");
  root.replaceChildren(
    make("header", {}, title ? make("p", { class: "title", dir: "auto" }, title) : null, survey ? language(texts, survey, speak) : null),
    make("main", {}, progress && bar(progress), content),
    make("footer", {}, hash ? make("p", {}, texts.say("welcome.hash"), ": ", make("code", { dir: "ltr" }, hash.slice(0, 16))) : null, threats(texts)),
  );
  if (!moved) return;
  scrollTo(0, 0);
  heading.focus();
}

const bar = ({ words, value, most }) =>
  make("div", { class: "progress" }, make("progress", { max: String(most), value: String(value), "aria-label": words }), make("p", {}, words));

function language(texts, survey, speak) {
  const choose = make("select", { id: "language", autocomplete: "off", onchange: (event) => speak(event.target.value) });
  for (const tag of languages(survey.questionnaire)) {
    const entry = make("option", { value: tag, lang: tag }, texts.nameOf(tag));
    entry.selected = tag === texts.language;
    choose.append(entry);
  }
  return make("div", { class: "language" }, make("label", { for: "language" }, texts.say("language")), choose);
}

/** Opened by the respondent alone, and the same for everyone: it names a language and nothing else. */
export function threats(texts) {
  const address = new URL("../threats", location.href);
  address.searchParams.set("lang", texts.language);
  return make("p", {}, make("a", { href: address.href, target: "_blank", rel: "noopener noreferrer" }, texts.say("welcome.threats")));
}
