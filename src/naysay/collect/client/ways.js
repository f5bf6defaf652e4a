// The ways in which a private question can be asked, the device's first. Everything else on the screen (the question, the
// levels, the bar that says what leaves the device, "How private is this?", Next) is the same for all and stands in private.js.
//
// A way is an object with
//   name      a key of `ways` in words/*.js, whose {name: …} is the button that leads to it ("Use a coin instead")
//   byHand    whether the device never learns the true answer: what is entered is the response itself
//   offers    (question, answers) → whether this question can be asked in this way
//   first     (question) → whether it is the way in which the question is asked until the respondent turns to another
//   sentence  (question, page) → one sentence of at most 20 words: what the device will do, or what the respondent does
//   asks      (question, page, frame) → element: *what is asked on this screen*. It enters into page.store and then calls
//             page.changed(). With byHand, page.store is page.answers, which takes {level, response} (of a select multiple
//             {choice: {level, response}}); otherwise it is page.truths, which takes the true answer and hands on only
//             what was drawn. frame has the ids `title`, `hint`, `error`, `input`; described(frame) in inputs.js names them.
//   why       optional: (question, texts) → the line below what is sent, where nothing else must be said there
//   leaving   optional: (question, page) → what is said once, plainly, when the respondent turns from this way to another
//   knows     optional: (question, page) → what a reader could know with whom this way does not protect
//
// page has texts, answers, truths, store, changed(). wayOf(question, answers) is the way that is taken now; page.truths.turn
// turns to another: the answer before is dropped, and nothing is drawn a second time.
// A new way is a file of its own that is listed here; it imports nothing of this file. One that few surveys have stands in
// extras/, with its words: what is there is loaded only by a survey that has it, the same for all who take it.

import { modes, wayByHand } from "./by_hand.js";
import { coin } from "./coin.js";
import { device } from "./device.js";
import { make, option } from "./elements.js";
import { described } from "./inputs.js";
import { naming } from "./privacy.js";
import { space } from "../../telemetry/javascript/randomize.js";

const WAYS = [device, coin];

/** What a way in extras/ uses of the page: it imports nothing. */
const TOOLS = { described, make, modes, naming, option, space, wayByHand };

const innocuous = (question) => Object.keys(question.private.innocuous ?? {}).length > 0;

/** Loads the ways that only some questions have; gives whether there are any. */
export async function loaded(questions) {
  if (!questions.some(innocuous)) return false;
  WAYS.push((await import("./extras/beside.js")).beside(TOOLS));
  return true;
}

/** The ways of a question. */
export const waysOf = (question, answers) => WAYS.filter((way) => way.offers(question, answers));

/** The way in which a question is asked now: the one that the respondent turned to, or the first. */
export function wayOf(question, answers) {
  const ways = waysOf(question, answers);
  return ways.find(({ name }) => name === answers.way(question)) ?? ways.find((way) => way.first(question)) ?? ways[0];
}
