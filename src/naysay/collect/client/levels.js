// How much to tell: one control from more private to more useful, each step drawn as the options that it leaves.

import { fresh, make } from "./elements.js";
import { drawn, told } from "./privacy.js";

/** The control; null where there is nothing to choose. */
export function levels(question, { texts, answers, truths }, changed) {
  const entries = drawn(question);
  if (entries.length < 2) return null;
  const words = make("p", { class: "step-words", "aria-hidden": "true" });
  const say = (entry) => (words.textContent = told(question, entry, texts));
  const steps = entries.map((entry) => {
    const id = fresh("level");
    const onchange = () => (truths.choose(question, entry), say(entry), changed());
    const input = make("input", { type: "radio", id, name: `q-${question.name}-level`, autocomplete: "off", onchange, "aria-label": told(question, entry, texts) });
    input.checked = entry === answers.level(question);
    return make("div", { class: "step-option" }, input, make("label", { for: id, "aria-hidden": "true" }, meter(question, entry, texts)));
  });
  say(answers.level(question));
  return make(
    "fieldset",
    { class: "levels" },
    make("legend", { class: "spoken" }, texts.say("levels.choose")),
    make("div", { class: "ends", "aria-hidden": "true" }, make("span", {}, texts.say("levels.private")), make("span", {}, texts.say("levels.useful"))),
    make("div", { class: "steps" }, ...steps),
    words,
  );
}

/** A bar for each option, those that may go are crossed; for the eye only. */
function meter(question, { categories, still_possible: [least] }, texts) {
  const gone = categories - least;
  if (!gone || categories > 8) return gone ? `−${texts.number(gone)}` : "";
  const bars = Array.from({ length: categories }, (_, place) => make("i", { class: place < least ? "stays" : "gone" }));
  return make("span", { class: "meter" }, ...bars);
}
