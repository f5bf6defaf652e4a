// What leaves the device, in a bar that stays at the foot of the screen: one sentence, a line, and Next. Before the tap the
// sentence says what the device will do, after it what will be sent. All that may come to stand there is laid out unseen
// from the start, so that nothing moves on the tap.

import { make, room, written } from "./elements.js";
import { because, outcome, told } from "./privacy.js";

/** The bar of a private question, with `forward`, its button. */
export function leaving(question, { texts, answers, truths, forward }, way) {
  const sentence = make("p", {});
  const [sent, line] = ["sent", "small"].map((kind) => make("p", { class: kind, role: "status" }));
  const [first, second] = [sentence, line].map((one) => make("div", { class: "room" }, one));
  first.append(sent);
  const element = make("div", { class: "private actions" }, first, second, forward);
  let [before, changed] = [null, false];

  const refresh = () => {
    const now = answers.sent(question);
    const own = way().byHand ? null : truths.category(question);
    changed = now && (changed || (before && before !== now));
    before = now;
    sentence.textContent = way().sentence(question, { texts, answers });
    sentence.className = now ? "sentence away" : "sentence";
    element.classList.toggle("leaving", now !== null);
    const parts = now ? says(question, texts, outcome(question, texts, answers, now)) : [];
    const words = now ? because(question, texts, answers, now, own, changed) : way().byHand ? "" : told(question, answers.level(question), texts);
    if (sent.textContent !== written(parts)) sent.replaceChildren(...parts);
    if (line.textContent !== words) line.textContent = words;
    room(first, sent, all().map((one) => says(question, texts, outcome(question, texts, answers, one))));
    room(second, line, all().flatMap((one) => ofAll(one).map((words) => [words])));
  };
  const all = () => answers.may(question, way().byHand);
  const ofAll = (one) => [true, false].flatMap((changed) => truths.categories(question, way().byHand).map((own) => because(question, texts, answers, one, own, changed)));
  return { element, refresh };
}

/** What is sent as a sentence: the parts of it that leave are marked. */
function says(question, texts, parts) {
  if (!parts.length) return [texts.say("leaving.all")];
  const comma = texts.say("leaving.comma").trim();
  const [start, end] = texts.say(question.practice ? "practice.sent" : "leaving.sent", { words: "\n" }).split("\n");
  const marked = parts.flatMap((part, place) => [make("b", { class: question.kind === "select_multiple" ? "several" : null }, place < parts.length - 1 ? part + comma : part), " "]);
  return [start, ...marked.slice(0, -1), end];
}
