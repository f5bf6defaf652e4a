// A scale of whole numbers, and several statements judged on one scale.

import { described } from "./choices.js";
import { make, option } from "./elements.js";

export function scale(question, { texts, answers, changed }, frame) {
  const chosen = answers.value(question);
  const points = Array.from({ length: question.high - question.low + 1 }, (_, step) => question.low + step);
  const ends = [`${frame.input}-low`, `${frame.input}-high`];
  const options = points.map((point, place) => {
    const end = place === 0 ? ends[0] : place === points.length - 1 ? ends[1] : null;
    const onchange = () => (answers.enter(question, point), changed());
    return option({ group: frame.input, checked: point === chosen, onchange, describedby: end }, texts.number(point));
  });
  const labels = make(
    "div",
    { class: "ends" },
    make("span", { id: ends[0] }, texts.label(question.low_label)),
    make("span", { id: ends[1] }, texts.label(question.high_label)),
  );
  return make("fieldset", described(frame), make("div", { class: "scale" }, ...options), labels);
}

export function grid(question, { texts, answers, changed }, frame) {
  const rows = question.rows.map((row, place) => {
    const options = question.choices.map((choice) => {
      const onchange = () => {
        const blank = Object.fromEntries(question.rows.map(({ name }) => [name, null]));
        answers.enter(question, { ...blank, ...answers.value(question), [row.name]: choice.name });
        changed();
      };
      const checked = answers.value(question)?.[row.name] === choice.name;
      return option({ group: `${frame.input}-${place}`, checked, onchange }, texts.label(choice.label));
    });
    return make("fieldset", { class: "line" }, make("legend", {}, texts.label(row.label)), make("div", { class: "sides" }, ...options));
  });
  return make("div", { role: "group", ...described(frame) }, ...rows);
}
