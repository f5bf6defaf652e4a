// What is wrong with an answer, said on this device; the server holds plain answers to the same rules.

import { bin, whole } from "./answers.js";
import { holds } from "./expressions.js";

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** What to say about the answer to a question; null where nothing is wrong. */
export function problem(question, { answers, truths, texts }) {
  if (!answers.relevant(question) || answers.before(question) || answers.refused(question)) return null;
  const store = truths.store(question);
  const value = store.value(question);
  if (value === null) return question.required ? texts.say("wrong.required") : null;
  const byHand = question.private && store === answers;
  const found = byHand ? parts(question, value) : RULES[question.kind]?.(question, value);
  if (found) return texts.say(...found);
  if (question.private || !question.constraint) return null;
  if (holds(question.constraint.expression, answers.context(value))) return null;
  return texts.plain(question.constraint.message) || texts.say("wrong.constraint");
}

const RULES = {
  select_multiple: (question, value) => (question.private ? parts(question, value) : null),
  integer: (question, value) => range(question, value, "wrong.whole"),
  decimal: (question, value) => range(question, value, "wrong.decimal"),
  date: (_, value) => (/^\d{4}-\d{2}-\d{2}$/.test(value) && value >= "0001-01-01" ? null : ["wrong.date"]),
  text: letters,
  ranking: (question, value) => (value.length === question.choices.length ? null : ["wrong.ranking"]),
  grid: (question, value) =>
    question.required && question.rows.some(({ name }) => value[name] === null) ? ["wrong.everyRequired"] : null,
};

function range(question, value, unreadable) {
  const { low, high } = question;
  if (typeof value !== "number") return [unreadable];
  if (low !== null && value < low) return ["wrong.low", { low }];
  if (high !== null && value > high) return ["wrong.high", { high }];
  if (question.private && !bin(question, value)) return ["wrong.below", { below: question.bins.at(-1).below }];
  return null;
}

function letters(question, value) {
  if (CONTROL.test(value)) return ["wrong.letters"];
  const length = [...value].length;
  return length > question.max_length ? ["wrong.long", { most: question.max_length, length }] : null;
}

/** A private select multiple says yes or no to each choice, or nothing at all. */
function parts(question, value) {
  if (whole(question, value)) return null;
  return [question.required ? "wrong.everyRequired" : "wrong.every"];
}
