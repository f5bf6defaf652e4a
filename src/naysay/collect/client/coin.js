// The coin: a level that people draw themselves. Two coins of a yes or no; of more options, two that are drawn for them.

import { make, option } from "./elements.js";
import { described } from "./inputs.js";
import { naming } from "./privacy.js";
import { categories } from "./randomize.js";

export const coin = {
  name: "coin",
  byHand: true,
  offers: (question) => question.private.by_hand.length > 0,
  first: () => false,
  sentence: (_, { texts }) => texts.say("ways.coinDoes"),
  asks,
  leaving: (_, { texts }) => texts.say("ways.left"),
};

function asks(question, page, frame) {
  const { texts, answers } = page;
  const shown = answers.shown(question);
  const names = shown ?? categories(answers.design(question)).map(String);
  const named = naming(question, texts);
  const [first, second] = names.map((name) => texts.quoted(named(name)));
  const gaps = shown ? { first, second } : { yes: first, no: second };
  const several = question.kind === "select_multiple";
  const lines = several
    ? question.choices.map(({ name, label }, row) => line(question, page, `${frame.input}-${row}`, names, name, label))
    : [line(question, page, frame.input, names, null, null)];
  return make(
    "div",
    { class: "hand", role: "group", ...described(frame) },
    make("p", {}, texts.say(shown ? "hand.options" : "hand.coins", gaps), several ? ` ${texts.say("hand.line")}` : ""),
    make("p", { class: "warning" }, texts.say(shown ? "hand.never" : "hand.warning")),
    ...lines,
  );
}

function line(question, { texts, answers, changed }, group, names, choice, label) {
  const named = naming(question, texts);
  const { level } = answers.level(question);
  const said = () => (choice === null ? answers.value(question) : answers.value(question)?.[choice])?.response;
  const options = names.map((name) => {
    const onchange = () => {
      const one = { level, response: name };
      answers.enter(question, choice === null ? one : { ...answers.value(question), [choice]: one });
      changed();
    };
    return option({ group, checked: said() === name, onchange }, named(name));
  });
  const legend = label ? texts.label(label) : texts.say("hand.say");
  return make("fieldset", { class: label ? "line" : null }, make("legend", {}, legend), make("div", { class: label ? "sides" : null }, ...options));
}
