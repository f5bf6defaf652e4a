// The device draws: it is given the true answer, and sends what chance has prepared for it.

import { modes } from "./by_hand.js";
import { calendar, chooseMany, chooseOne, grid, number, rank, scale, words } from "./inputs.js";
import { offered } from "./measures.js";
import { doing } from "./privacy.js";

/** What is asked, by kind of question; of a plain one it is all that there is. */
export const INPUTS = {
  select_one: chooseOne,
  select_multiple: chooseMany,
  integer: number,
  decimal: number,
  text: words,
  date: calendar,
  rating: scale,
  grid,
  ranking: rank,
};

export const device = {
  name: "device",
  byHand: false,
  offers: (question) => modes(question).includes("device") && offered(question).some((entry) => !entry.by_hand),
  first: () => false,
  sentence: (question, { texts, answers }) => doing(question, answers.level(question), texts),
  asks: (question, page, frame) => INPUTS[question.kind](question, page, frame),
};
