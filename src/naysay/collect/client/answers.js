// What the respondent has answered so far, and what of it will be sent. Private answers live here, in this page's
// memory, and nowhere else; what is given out is a response that chance prepared.

import { holds } from "./expressions.js";
import { channel, sets } from "./randomize.js";

/** All questions in order, out of their groups. */
export function questions(items) {
  return items.flatMap((item) => (item.kind === "group" ? questions(item.items) : item.kind === "note" ? [] : [item]));
}

/** A private number's range: the first bin that it is below. */
export const bin = (question, number) => question.bins.find(({ below }) => below === null || number < below) ?? null;

export class Answers {
  #values = new Map();
  #levels = new Map();
  #memory;
  #conditions;

  constructor(survey, memory) {
    this.survey = survey;
    this.questions = questions(survey.questionnaire.items);
    this.#memory = memory;
    this.#conditions = new Map(conditions(survey.questionnaire.items, []));
    for (const [name, value] of Object.entries(memory.tab.answers ?? {})) this.#values.set(name, value);
  }

  /** What was entered: the plain answer, the true category, or what a respondent says who draws by hand. */
  value(question) {
    return this.#values.get(question.name) ?? null;
  }

  enter(question, value) {
    this.#values.set(question.name, value);
    if (!question.private) this.#memory.tab = { ...this.#memory.tab, answers: this.#plain() };
  }

  /** The level of privacy: the most private that the device draws, until the respondent chooses another. */
  level(question) {
    const offered = this.survey.privacy[question.name];
    const before = this.before(question);
    const [one] = question.kind === "select_multiple" ? Object.values(before ?? {}) : [before];
    if (one) return offered.find((entry) => entry.level === one.level);
    return this.#levels.get(question.name) ?? offered.find((entry) => !entry.by_hand) ?? offered[0];
  }

  choose(question, entry) {
    // What is said by hand is not the true answer, and the true answer is nothing to say by hand.
    if (entry.by_hand || this.level(question).by_hand) this.#values.delete(question.name);
    this.#levels.set(question.name, entry);
  }

  /** The design that draws the answer to a private question. */
  design(question) {
    return channel(question.private.design.design, this.level(question).level);
  }

  /** The two options that a respondent who draws by hand is shown; null where she needs none. */
  shown(question) {
    return this.#memory.prepared(question, this.level(question).level)?.shown ?? null;
  }

  /** What has left this device for a private question already, and stays so. */
  before(question) {
    return question.private ? this.#memory.before(question) : null;
  }

  /** What will be sent for a question; null where it is left blank or not asked. */
  sent(question) {
    const before = this.before(question);
    if (before) return this.relevant(question) ? before : null;
    const value = this.value(question);
    if (value === null || !this.relevant(question)) return null;
    if (!question.private) return value;
    if (question.kind !== "select_multiple") return this.#response(question, this.#category(question, value));
    if (!question.choices.every(({ name }) => value[name])) return null;
    return Object.fromEntries(question.choices.map(({ name }) => [name, this.#response(question, value[name], name)]));
  }

  /** Everything that will be sent, in the order of the questionnaire. */
  content() {
    return Object.fromEntries(this.questions.map((question) => [question.name, this.sent(question)]));
  }

  /** Whether an item is asked: its own condition holds, and those of all groups around it. */
  relevant(item) {
    return this.#conditions.get(item.name).every((condition) => holds(condition, this.context()));
  }

  /** Whether a step with this item has something to show: of a group, one of its items. */
  asks(item) {
    return this.relevant(item) && (item.items?.some((each) => this.asks(each)) ?? true);
  }

  /** What conditions may refer to. */
  context(own = null) {
    const named = (name) => this.questions.find((question) => question.name === name);
    return {
      own,
      today: today(),
      answer: (name) => (named(name).private ? null : this.sent(named(name))),
      sent: (name) => this.#said(named(name)),
    };
  }

  /** Forgets the true answers, once they are no longer needed. */
  forget() {
    this.#values.clear();
  }

  #category(question, value) {
    return question.bins ? (bin(question, value)?.name ?? null) : value;
  }

  #response(question, category, choice = null) {
    const { level, by_hand: byHand } = this.level(question);
    if (category === null) return null;
    if (byHand) return { level, response: category };
    const table = this.#memory.prepared(question, level, choice);
    return table && { level, response: table[category] }; // no table is left once another tab has sent
  }

  #said(question) {
    const entry = question.private && question.kind !== "select_multiple" ? this.sent(question) : null;
    if (entry === null) return null;
    return sets(question.private.design.design) ? entry.response.split(";") : entry.response;
  }

  #plain() {
    const kept = this.questions.filter((question) => !question.private && this.#values.has(question.name));
    return Object.fromEntries(kept.map((question) => [question.name, this.value(question)]));
  }
}

function conditions(items, around) {
  return items.flatMap((item) => {
    const own = item.relevant ? [...around, item.relevant] : around;
    return [[item.name, own], ...(item.kind === "group" ? conditions(item.items, own) : [])];
  });
}

/** The day on this device. */
function today() {
  const now = new Date();
  const parts = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
