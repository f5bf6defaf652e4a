// What stays on the page from step to step: where one is, the language, and what this cannot protect.

import { button, make } from "./elements.js";
import { languages } from "./texts.js";

/** Shows `content` inside the frame, names the page, and leads the eye and the screen reader to its heading. */
export function show(root, content, { texts, survey, speak, moved, progress }) {
  document.documentElement.lang = texts.language;
  document.documentElement.dir = texts.direction;
  const heading = content.querySelector("h1");
  const title = survey ? texts.plain(survey.questionnaire.title) : "";
  // The browser writes it into its files, so it holds no text that may repeat an answer.
  document.title = [progress?.words ?? heading.textContent, title].filter((each, place, all) => each && all.indexOf(each) === place).join(" – ");
  root.replaceChildren(
    make("header", { class: progress ? "at" : null }, progress ? bar(progress, texts) : title && title !== heading.textContent && make("p", { class: "title", dir: "auto" }, title), survey && language(texts, survey, speak)),
    make("main", {}, content),
    ...(content.querySelector(".how") ? [] : [make("footer", {}, threats(texts))]),
  );
  if (!moved) return;
  scrollTo(0, 0);
  heading.focus();
}

const bar = ({ words, value, most, back }, texts) =>
  make(
    "div",
    { class: "progress" },
    button("", back, { class: "back", "aria-label": texts.say("back") }),
    make("progress", { max: String(most), value: String(value), "aria-label": words }),
    make("span", { "aria-hidden": "true", dir: "ltr" }, `${value} / ${most}`),
  );

function language(texts, survey, speak) {
  const offered = languages(survey.questionnaire);
  if (offered.length < 2) return null;
  const choose = make("select", { id: "language", autocomplete: "off", "aria-label": texts.say("language"), onchange: (event) => speak(event.target.value) });
  for (const tag of offered) {
    const entry = make("option", { value: tag, lang: tag }, texts.nameOf(tag));
    entry.selected = tag === texts.language;
    choose.append(entry);
  }
  return choose;
}

/** Opened by the respondent alone, inside this page: another page of the website would be code that no hash covers. */
export function threats(texts) {
  const close = () => dialog.close();
  const text = make("div", {});
  const dialog = make("dialog", { "aria-label": texts.say("welcome.threats") }, text, make("div", { class: "actions" }, button(texts.say("back"), close, { class: "main" })));
  const open = async () => {
    const { protection, threats: told } = await texts.extras();
    text.replaceChildren(...protection({ make, texts, ...told }));
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  return make("div", {}, button(texts.say("welcome.threats"), open, { class: "quiet threats" }), dialog);
}
