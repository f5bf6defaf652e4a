// One of several choices, and any of several; a private "any of several" is a yes or no for each.

import { make, option } from "./elements.js";

export function chooseOne(question, { texts, answers, changed }, frame) {
  const chosen = answers.value(question);
  const options = question.choices.map(({ name, label }) =>
    option(
      { group: frame.input, checked: name === chosen, onchange: () => (answers.enter(question, name), changed()) },
      texts.label(label),
    ),
  );
  return make("fieldset", described(frame), ...options);
}

export function chooseMany(question, page, frame) {
  return question.private ? chooseEach(question, page, frame) : chooseAny(question, page, frame);
}

function chooseAny(question, { texts, answers, changed }, frame) {
  const chosen = new Set(answers.value(question) ?? []);
  const toggle = (name, on) => {
    chosen[on ? "add" : "delete"](name);
    const names = question.choices.map((choice) => choice.name).filter((each) => chosen.has(each));
    answers.enter(question, names.length ? names : null);
    changed();
  };
  const options = question.choices.map(({ name, label }) =>
    option(
      { type: "checkbox", checked: chosen.has(name), onchange: (event) => toggle(name, event.target.checked) },
      texts.label(label),
    ),
  );
  return make("fieldset", described(frame), make("p", { class: "hint" }, texts.say("asked.several")), ...options);
}

/** Yes or no for each choice: nothing ticked and nothing answered are not the same. */
function chooseEach(question, { texts, answers, changed }, frame) {
  const given = { ...answers.value(question) };
  const rows = question.choices.map(({ name, label }, row) => {
    const sides = ["yes", "no"].map((side) => {
      const onchange = () => {
        given[name] = side;
        answers.enter(question, { ...given });
        changed();
      };
      return option({ group: `${frame.input}-${row}`, checked: given[name] === side, onchange }, texts.say(`asked.${side}`));
    });
    return make("fieldset", { class: "line" }, make("legend", {}, texts.label(label)), make("div", { class: "sides" }, ...sides));
  });
  return make("div", { role: "group", ...described(frame) }, ...rows);
}

/** What a group of inputs is called, and what explains it. */
export const described = (frame) => ({
  "aria-labelledby": frame.title,
  "aria-describedby": `${frame.hint} ${frame.error}`,
});
