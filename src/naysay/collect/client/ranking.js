// All choices, put in order with buttons: first one after the other, then up and down. No order is suggested.

import { described } from "./choices.js";
import { button, make } from "./elements.js";

export function rank(question, { texts, answers, changed }, frame) {
  const labels = new Map(question.choices.map(({ name, label }) => [name, label]));
  const spoken = make("p", { class: "spoken", role: "status" });
  const placed = make("ol", { class: "ranked" });
  const waiting = make("div", { class: "unranked" });
  const element = make("div", { role: "group", ...described(frame) }, placed, waiting, spoken);

  const order = () => answers.value(question) ?? [];
  const update = (names, said, focus) => {
    answers.enter(question, names.length ? names : null);
    draw();
    spoken.textContent = said;
    (focus() ?? element.querySelector("button"))?.focus();
    changed();
  };
  const named = (name) => texts.plain(labels.get(name));
  const move = (name, to) => {
    const names = order().filter((each) => each !== name);
    names.splice(to, 0, name);
    const said = texts.say("asked.moved", { choice: named(name), place: to + 1, places: labels.size });
    update(names, said, () => usable(placed.children[to]));
  };
  const remove = (name) => {
    const said = texts.say("asked.removed", { choice: named(name) });
    update(order().filter((each) => each !== name), said, () => waiting.querySelector("button"));
  };
  const append = (name) => {
    const place = order().length + 1;
    const said = texts.say("asked.moved", { choice: named(name), place, places: labels.size });
    update([...order(), name], said, () => waiting.querySelector("button"));
  };

  const line = (name, place, names) => {
    const step = (to, key, sign) =>
      button(make("span", { "aria-hidden": "true" }, sign), () => move(name, to), {
        "aria-label": texts.say(`asked.${key}`, { choice: named(name) }),
        disabled: to < 0 || to >= names.length,
        class: "icon",
      });
    const out = button(make("span", { "aria-hidden": "true" }, "×"), () => remove(name), {
      "aria-label": texts.say("asked.remove", { choice: named(name) }),
      class: "icon",
    });
    const tools = make("span", { class: "tools" }, step(place - 1, "up", "↑"), step(place + 1, "down", "↓"), out);
    return make("li", {}, make("div", {}, texts.label(labels.get(name)), tools));
  };
  const draw = () => {
    const names = order();
    const rest = [...labels.keys()].filter((name) => !names.includes(name));
    placed.replaceChildren(...names.map(line));
    placed.hidden = !names.length;
    waiting.replaceChildren(
      ...(rest.length ? [make("p", { class: "hint" }, texts.say("asked.unranked"))] : []),
      ...rest.map((name) => button(texts.label(labels.get(name)), () => append(name), {
        class: "choice",
        "aria-label": texts.say("asked.put", { choice: named(name), place: names.length + 1 }),
      })),
    );
  };
  draw();
  return element;
}

/** The first button of a line that can be pressed. */
const usable = (line) => line.querySelector("button:enabled");
