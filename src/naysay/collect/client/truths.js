// True private answers: in this page's memory, by the question itself, and nowhere else. What builds the message knows
// only answers.js, and what goes there from here are responses that chance has prepared. Nothing else leaves this store.

import { bin, whole } from "./answers.js";
import { offered } from "./measures.js";
import { wayOf } from "./ways.js";

export class Truths {
  #kept = new Map();
  #answers;
  #memory;

  constructor(answers, memory) {
    this.#answers = answers;
    this.#memory = memory;
  }

  value(question) {
    return this.#kept.get(question) ?? null;
  }

  enter(question, value) {
    this.#kept.set(question, value);
    this.#answers.enter(question, this.#response(question));
  }

  /** The category of an answer (of a select multiple one for each choice); null where there is none. */
  category(question) {
    const value = this.value(question);
    return value === null ? null : category(question, value);
  }

  /** Takes another level of those that the device draws. */
  choose(question, entry) {
    this.#answers.choose(question, entry);
    if (this.#kept.has(question)) this.#answers.enter(question, this.#response(question));
  }

  /** Asks in another way. What is said by hand is not the true answer, and the true answer is nothing to say by hand. */
  turn(question, way) {
    const levels = offered(question);
    this.#kept.delete(question);
    this.#answers.turn(question, way.name, levels.find((entry) => entry.by_hand === way.byHand) ?? levels[0]);
  }

  /** Forgets all, once what is sent is fixed. */
  forget() {
    this.#kept.clear();
  }

  /** Where the inputs of a question read and write: the true answer is kept here, all else there. */
  store(question) {
    return question.private && !wayOf(question, this.#answers)?.byHand ? this : this.#answers;
  }

  #response(question) {
    const value = this.value(question);
    if (value === null || !whole(question, value)) return null;
    if (question.kind !== "select_multiple") return this.#drawn(question, category(question, value), null);
    return Object.fromEntries(question.choices.map(({ name }) => [name, this.#drawn(question, value[name], name)]));
  }

  #drawn(question, category, choice) {
    const { level } = this.#answers.level(question);
    const table = this.#memory.prepared(question, level, choice);
    return category && table && { level, response: table[category] }; // no table is left once another tab has sent
  }
}

/** The category of a private answer; null of a number that cannot be read. */
function category(question, value) {
  if (!question.bins) return value;
  return typeof value === "number" ? bin(question, value).name : null;
}
