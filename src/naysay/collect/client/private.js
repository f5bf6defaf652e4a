// The screen of one private question, around what is asked there. What is asked is one function for each way of asking
// (by the device, by hand): ways.js lists them and says what a way must have. This file is the same for all of them.

import { button, make } from "./elements.js";
import { threats } from "./frame.js";
import { how } from "./how.js";
import { leaving } from "./leaving.js";
import { levels } from "./levels.js";
import { wayOf, waysOf } from "./ways.js";

/**
 * What stands on the screen around the inputs: `first` on it, `above` them, `below` them, and the `bar` at its foot.
 * `again()` asks anew, for another way of asking; `refresh()` follows the answer; `away` takes it back.
 */
export function around(question, page, again, away) {
  const { texts, answers, truths } = page;
  const way = () => wayOf(question, answers);
  const [left, ends, turns] = [make("p", { class: "notice", role: "status", hidden: true }), make("div", {}), make("div", { class: "turns" })];
  const bar = leaving(question, page, way);
  const told = how(question, page, [turns, away], threats(texts), way);
  const turn = (to) => {
    const said = way().leaving?.(question, page);
    truths.turn(question, to);
    left.hidden = !said;
    left.textContent = said ?? "";
    told.element.open = false;
    draw();
    again();
  };
  const draw = () => {
    const control = way().byHand ? null : levels(question, page, page.changed);
    ends.replaceChildren(...(control ? [control] : []));
    const others = waysOf(question, answers).filter((each) => each !== way());
    turns.replaceChildren(...others.map((each) => button(texts.say(`ways.${each.name}`), () => turn(each), { class: "quiet way" })));
  };
  const see = question.practice && make("p", { class: "hint" }, texts.say("practice.see"));
  const refresh = () => {
    see && see.classList.toggle("away", answers.sent(question) === null);
    bar.refresh();
    told.refresh();
  };
  draw();
  return { first: told.element, above: left, below: [ends, see], bar: bar.element, asks: (inner, frame) => way().asks(question, inner, frame), refresh };
}
