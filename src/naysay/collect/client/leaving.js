// What leaves the device, in a bar that stays at the foot of the screen: one sentence, a line, and Next. Before the tap the
// sentence says what the device will do, after it what will be sent. All that may come to stand there is laid out unseen
// from the start, so that nothing moves on the tap.

import { make, room, written } from "./elements.js";
import { because, outcome, swaps, told } from "./privacy.js";

/** The bar of a private question, with `forward`, its button. */
export function leaving(question, { texts, answers, truths, forward }, way) {
  const sentence = make("p", {});
  const [sent, line] = ["sent", "small"].map((kind) => make("p", { class: kind, role: "status" }));
  const [first, second] = [sentence, line].map((one) => make("div", { class: "room" }, one));
  first.append(sent);
  const element = make("div", { class: "private actions" }, first, second, forward);
  const many = question.kind === "select_multiple"; // each tick changes what is sent
  let [before, changed] = [null, false];

  const refresh = () => {
    const now = answers.sent(question);
    const own = way().byHand ? null : truths.category(question);
    changed = now && !many && (changed || (before && before !== now));
    before = now;
    sentence.textContent = way().sentence(question, { texts, answers });
    sentence.className = now ? "sentence away" : "sentence";
    element.classList.toggle("leaving", now !== null);
    const parts = now ? says(now) : [];
    const words = now ? because(question, texts, answers, now, own, changed) : way().byHand ? "" : told(question, answers.level(question), texts);
    if (sent.textContent !== written(parts)) sent.replaceChildren(...parts);
    if (line.textContent !== words) line.textContent = words;
    room(first, sent, all().map(says));
    room(second, line, all().flatMap((one) => ofAll(one).map((words) => [words])));
  };
  const says = (one) => {
    const { response } = many ? Object.values(one)[0] : one;
    const key = question.practice ? "practice.sent" : !way().byHand && swaps(question, answers, response) ? "leaving.chance" : "leaving.sent";
    return marked(question, texts, outcome(question, texts, answers, one), key);
  };
  const all = () => answers.may(question, way().byHand);
  const ofAll = (one) => [true, false].flatMap((changed) => truths.categories(question, way().byHand).map((own) => because(question, texts, answers, one, own, changed)));
  return { element, refresh };
}

/** What is sent as a sentence: the parts of it that leave are marked. */
function marked(question, texts, parts, key) {
  if (!parts.length) return [texts.say("leaving.all")];
  const comma = texts.say("leaving.comma").trim();
  const [start, end] = texts.say(key, { words: "\n" }).split("\n");
  const bold = parts.flatMap((part, place) => [make("b", { class: question.kind === "select_multiple" ? "several" : null }, place < parts.length - 1 ? part + comma : part), " "]);
  return [start, ...bold.slice(0, -1), end];
}
