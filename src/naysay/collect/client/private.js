// The screen of one private question, around what is asked there. What is asked is one function for each way of asking
// (by the device, by hand): ways.js lists them and says what a way must have. This file is the same for all of them.

import { button, make } from "./elements.js";
import { threats } from "./frame.js";
import { how } from "./how.js";
import { levels } from "./levels.js";
import { picture } from "./picture.js";
import { wayOf, waysOf } from "./ways.js";

/**
 * What stands on the screen around the inputs: `above` them, `below` them, and `aside`, after Next. `again()` asks anew,
 * for another way of asking; `refresh()` follows the answer.
 */
export function around(question, page, again) {
  const { texts, answers, truths } = page;
  const way = () => wayOf(question, answers);
  const [sentence, left, ends, turns] = [make("p", { class: "sentence" }), make("p", { class: "notice", role: "status", hidden: true }), make("div", {}), make("div", { class: "turns" })];
  const seen = picture(question, page, way);
  const told = how(question, page, threats(texts), way);
  const turn = (to) => {
    const said = way().leaving?.(question, page);
    truths.turn(question, to);
    left.hidden = !said;
    left.textContent = said ?? "";
    draw();
    again();
  };
  const draw = () => {
    const control = way().byHand ? null : levels(question, page, page.changed);
    ends.replaceChildren(...(control ? [control] : []));
    const others = waysOf(question, answers).filter((each) => each !== way());
    turns.replaceChildren(...others.map((each) => button(texts.say(`ways.${each.name}`), () => turn(each), { class: "quiet way" })));
  };
  const refresh = () => {
    sentence.textContent = way().sentence(question, page);
    seen.refresh();
    told.refresh();
  };
  draw();
  return { above: [sentence, left], below: [ends, seen.element], aside: [turns, told.element], asks: (inner, frame) => way().asks(question, inner, frame), refresh };
}
