// The coin: a level that people draw themselves. Two coins of a yes or no; of more options, two that are drawn for them.

import { modes, wayByHand } from "./by_hand.js";
import { make, option } from "./elements.js";
import { described } from "./inputs.js";
import { naming } from "./privacy.js";
import { categories } from "../../telemetry/javascript/randomize.js";

export const coin = {
  name: "coin",
  byHand: true,
  offers: (question) => question.private.by_hand.length > 0 || (modes(question).includes("hand") && wayByHand(question.private.design.design, false) !== null),
  first: (question) => modes(question)[0] === "hand",
  sentence: (question, page) => told(question, page),
  asks,
  leaving: (_, { texts }) => texts.say("ways.left"),
};

const told = (question, { texts, answers }) => {
  if (answers.shown(question)) return texts.say("hand.options");
  const [yes, no] = categories(answers.design(question)).map((name) => texts.quoted(naming(question, texts)(String(name))));
  return texts.say("hand.coins", { yes, no });
};

function asks(question, page, frame) {
  const { texts, answers } = page;
  const names = answers.shown(question) ?? categories(answers.design(question)).map(String);
  const several = question.kind === "select_multiple";
  const lines = several
    ? question.choices.map(({ name, label }, row) => line(question, page, `${frame.input}-${row}`, names, name, label))
    : [line(question, page, frame.input, names, null, null)];
  return make(
    "div",
    { class: "hand", role: "group", ...described(frame) },
    several && make("p", {}, texts.say("hand.line")),
    ...lines,
    make("p", { class: "hint" }, texts.say("hand.never")),
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
