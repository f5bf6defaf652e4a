// How much to tell: one line of dots from more private to more useful. What a step does is said once one is touched.

import { make } from "./elements.js";
import { drawn, told } from "./privacy.js";

/** The control; null where there is nothing to choose. */
export function levels(question, { texts, answers, truths }, changed) {
  const entries = drawn(question);
  if (entries.length < 2) return null;
  const words = make("p", { class: "step-words", "aria-hidden": "true", hidden: true });
  const say = (entry) => (words.textContent = told(question, entry, texts));
  const steps = entries.map((entry) => {
    const onchange = () => (truths.choose(question, entry), say(entry), changed());
    const input = make("input", { type: "radio", name: `q-${question.name}-level`, autocomplete: "off", onchange, "aria-label": told(question, entry, texts) });
    input.checked = entry === answers.level(question);
    return make("div", { class: "step-option" }, input);
  });
  say(answers.level(question));
  const end = (key) => make("span", { "aria-hidden": "true" }, texts.say(`levels.${key}`));
  const line = make("div", { class: "ends" }, end("private"), make("div", { class: "steps" }, ...steps), end("useful"));
  const unfold = () => (words.hidden = false);
  return make("fieldset", { class: "levels", onfocusin: unfold, onpointerdown: unfold }, make("legend", { class: "spoken" }, texts.say("levels.choose")), line, words);
}
