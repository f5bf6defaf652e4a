// The steps of a survey: private questions one by one, groups of others together, with the notes before them.

import { questions } from "./answers.js";

const hides = (item) => questions([item]).some((question) => question.private);

/**
 * The steps of a questionnaire, each {items, within, practice}: what is asked, the groups around it, and whether it is the
 * practice question, which stands before the first private one. A group with a private question is taken apart.
 */
export function stepsOf(questionnaire) {
  const steps = [];
  let notes = [];
  const add = (items, within) => {
    for (const item of items) {
      if (item.kind === "group" && hides(item)) add(item.items, [...within, item]);
      else {
        notes.push(item);
        if (item.kind === "note") continue;
        if (item.private && practices(questionnaire) && !steps.some((step) => step.practice)) steps.push({ items: [item], within: [], practice: true });
        steps.push({ items: notes, within });
        notes = [];
      }
    }
  };
  add(questionnaire.items, []);
  return notes.length ? [...steps, { items: notes, within: [] }] : steps;
}

/** Whether there is a practice question: unless the researcher left it out. */
const practices = ({ practice = true }) => Boolean(practice);
