// The device draws: it is given the true answer, and sends what chance has prepared for it.

import { modes } from "./by_hand.js";
import { KINDS } from "./inputs.js";
import { offered } from "./measures.js";
import { doing } from "./privacy.js";

export const device = {
  name: "device",
  byHand: false,
  offers: (question) => modes(question).includes("device") && offered(question).some((entry) => !entry.by_hand),
  first: () => false,
  sentence: (question, { texts, answers }) => doing(question, answers.level(question), texts),
  asks: (question, page, frame) => KINDS[question.kind].asks(question, page, frame),
};
