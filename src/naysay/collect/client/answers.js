// What will be sent: plain answers, and the responses that chance has prepared for private ones. No true private answer
// is here: those are in truths.js, which this module does not know. All is kept by the question itself, not by its name.

import { holds } from "./expressions.js";
import { HAND } from "./memory.js";
import { offered } from "./measures.js";
import { categories, channel, sets, space } from "../../telemetry/javascript/randomize.js";

/** All questions in order, out of their groups. */
export function questions(items) {
  return items.flatMap((item) => (item.kind === "group" ? questions(item.items) : item.kind === "note" ? [] : [item]));
}

/** The items that stand in an arm. */
export const inArm = (items, arm) => items.filter(({ arms }) => !arms || arms.includes(arm)).map((item) => (item.items ? { ...item, items: inArm(item.items, arm) } : item));

/** Whether a questionnaire leaves something to lot: arms, the truth of a control, or an order. */
export const chancy = ({ arms, items }) => Boolean(arms) || questions(items).some(({ control, order }) => control || order);

/** A private number's range: the first bin that it is below. */
export const bin = ({ bins }, number) => bins.find(({ below }) => below === null || number < below) ?? null;

/** Whether each part of a private question is answered: a select multiple says yes or no to each choice. */
export const whole = ({ kind, choices }, value) => kind !== "select_multiple" || choices.every(({ name }) => value[name]);

export class Answers {
  #values = new Map();
  #levels = new Map();
  #ways = new Map();
  #memory;
  #conditions;

  constructor(survey, memory) {
    this.survey = survey;
    this.questions = questions(survey.questionnaire.items);
    this.#memory = memory;
    this.#conditions = new Map(conditions(survey.questionnaire.items, []));
    const before = memory.tab.answers ?? {};
    for (const question of this.questions)
      if (!question.private && question.name in before) this.#values.set(question, before[question.name]);
  }

  /** A plain answer; of a private question the response, as it is drawn here or said by hand. */
  value(question) {
    return this.#values.get(question) ?? null;
  }

  enter(question, value) {
    this.#values.set(question, value);
    if (!question.private) this.#memory.tab = { ...this.#memory.tab, answers: this.#plain() };
  }

  /** The level of privacy: the researcher's or the most private that the device draws, until the respondent chooses. */
  level(question) {
    const levels = offered(question);
    const before = this.before(question);
    const [one] = question.kind === "select_multiple" ? Object.values(before ?? {}) : [before];
    if (one) return levels.find((entry) => entry.level === one.level);
    return this.#levels.get(question) ?? this.#first(question, levels);
  }

  #first({ private: { begins_at: first } }, levels) {
    return levels.find(({ level, by_hand: byHand }) => !byHand && level === (first ?? level)) ?? levels[0];
  }

  /** Takes another level; the response at the one before is dropped. */
  choose(question, entry) {
    this.#values.delete(question);
    this.#levels.set(question, entry);
  }

  /** Asks in another way, at its own level; what was entered before is dropped. */
  turn(question, way, entry) {
    this.choose(question, entry);
    this.#ways.set(question, way);
  }

  /** The name of the way that the respondent has turned to; null until then. */
  way(question) {
    return this.#ways.get(question) ?? null;
  }

  /** The design that draws the answer to a private question. */
  design(question) {
    return channel(question.private.design.design, this.level(question).level);
  }

  /**
   * All that may come to be sent at the level that is taken, each with its category: what is prepared, or can be said by
   * hand, where it has none. Of a select multiple all lines alike: no others are longer.
   */
  may(question, byHand) {
    const { level } = this.level(question);
    const design = this.design(question);
    const many = question.kind === "select_multiple";
    if (!many && !byHand) return Object.entries(this.#memory.prepared(question, level) ?? {}).map(([own, response]) => [{ level, response }, own]);
    const names = this.shown(question) ?? space(design)?.labels ?? categories(design).map(String);
    if (!many) return names.map((response) => [{ level, response }, null]);
    const each = (value) => Object.fromEntries(question.choices.map(({ name }) => [name, value]));
    return names.flatMap((response) => (byHand ? [null] : categories(design)).map((own) => [each({ level, response }), own && each(own)]));
  }

  /** The two options that a respondent who draws by hand is shown; null where none are needed. */
  shown(question) {
    const { level, by_hand: byHand } = this.level(question);
    return this.#memory.prepared(question, byHand ? level : HAND)?.shown ?? null;
  }

  /** What has left this device for a private question already, and stays so. */
  before(question) {
    return question.private ? this.#memory.before(question) : null;
  }

  /** Whether no private answer to a question is taken any more on this device. */
  refused(question) {
    return this.#memory.refused(question);
  }

  /** Whether the innocuous question beside it was asked beside another question on this device. */
  spent(question) {
    return this.#memory.spent(question);
  }

  /** Whether what was drawn for a question before is lost. */
  renewed(question) {
    return this.#memory.renewed(question);
  }

  /** What will be sent for a question; null where it is left blank or not asked. */
  sent(question) {
    const before = this.before(question);
    if (before) return this.relevant(question) ? before : null;
    const value = this.value(question);
    if (value === null || this.refused(question) || !this.relevant(question)) return null;
    return question.private && !whole(question, value) ? null : value;
  }

  /** Everything that will be sent, in the order of the questionnaire. */
  content() {
    const own = new Map(this.questions.map((question) => [question.name, this.sent(question)]));
    const { names = [...own.keys()], value } = this.survey.lots ?? {};
    return Object.fromEntries(names.map((name) => [name, own.has(name) ? own.get(name) : value(name, this)]));
  }

  /** Whether an item is asked: its own condition holds, and those of all groups around it. */
  relevant(item) {
    return this.#conditions.get(item).every((condition) => holds(condition, this.context()));
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

  /** Forgets everything, once it is sent. */
  forget() {
    this.#values.clear();
  }

  #said(question) {
    const entry = question.private && question.kind !== "select_multiple" ? this.sent(question) : null;
    if (entry === null) return null;
    return sets(question.private.design.design) ? entry.response.split(";") : entry.response;
  }

  #plain() {
    const kept = this.questions.filter((question) => !question.private && this.#values.has(question));
    return Object.fromEntries(kept.map((question) => [question.name, this.value(question)]));
  }
}

function conditions(items, around) {
  return items.flatMap((item) => {
    const own = item.relevant ? [...around, item.relevant] : around;
    return [[item, own], ...(item.kind === "group" ? conditions(item.items, own) : [])];
  });
}

/** The day on this device. */
function today() {
  const now = new Date();
  const parts = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
