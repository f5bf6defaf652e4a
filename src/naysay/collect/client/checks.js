// What is wrong with an answer, said on this device; the server holds plain answers to the same rules.

import { holds } from "./expressions.js";
import { KINDS, parts } from "./inputs.js";

/** What to say about the answer to a question; null where nothing is wrong. */
export function problem(question, { answers, truths, texts }) {
  if (!answers.relevant(question) || answers.before(question) || answers.refused(question)) return null;
  const store = truths.store(question);
  const value = store.value(question);
  if (value === null) return question.required ? texts.say("wrong.required") : null;
  const byHand = question.private && store === answers;
  const found = byHand ? parts(question, value) : KINDS[question.kind]?.wrong?.(question, value);
  if (found) return texts.say(...found);
  if (question.private || !question.constraint) return null;
  if (holds(question.constraint.expression, answers.context(value))) return null;
  return texts.plain(question.constraint.message) || texts.say("wrong.constraint");
}
