// What leaves the device, in a bar that stays at the foot of the screen: one sentence, a line, and Next. Before the tap the
// sentence says what the device will do, after it what will be sent. All that may come to stand there is laid out unseen
// from the start, so that nothing moves on the tap.

import { make, room, written } from "./elements.js";
import { because, compares, lines, outcome, swaps, told } from "./privacy.js";

/** The bar of a private question, with `forward`, its button. */
export function leaving(question, { texts, answers, truths, forward }, way) {
  const sentence = make("p", {});
  const [sent, line] = ["sent", "small"].map((kind) => make("p", { class: kind, role: "status" }));
  const [first, second] = [sentence, line].map((one) => make("div", { class: "room" }, one));
  first.append(sent);
  const element = make("div", { class: "private actions" }, first, second, forward);
  const many = question.kind === "select_multiple"; // each tick changes what is sent
  let [before, changed, laid] = [null, false, null];

  const refresh = () => {
    const now = answers.sent(question);
    const own = way().byHand ? null : truths.category(question);
    changed = now && !many && (changed || (before && before !== now));
    before = now;
    sentence.textContent = way().sentence(question, { texts, answers });
    sentence.className = now ? "sentence away" : "sentence";
    element.classList.toggle("leaving", now !== null);
    const parts = now ? says(now, own) : [];
    const words = now ? why(now, own, changed) : way().byHand ? "" : told(question, answers.level(question), texts);
    if (sent.textContent !== written(parts)) sent.replaceChildren(...parts);
    if (line.textContent !== words) line.textContent = words;
    const at = `${way().name} ${answers.level(question).level}`;
    if (laid === at) return;
    laid = at;
    const all = answers.may(question, way().byHand);
    room(first, sent, all.map((one) => says(...one)));
    room(second, line, all.flatMap((one) => [true, false].map((changed) => [why(...one, changed)])));
  };
  const why = (...one) => because(question, texts, answers, ...one, way().why?.(question, texts));
  /** What is sent as a sentence: the parts of it that leave, or that chance has changed, are marked. */
  const says = (one, own) => {
    const [parts, each] = [outcome(question, texts, answers, one), lines(question, answers, one, own)];
    if (!parts.length) return [texts.say("leaving.all")];
    const drawn = () => (compares(question, answers.level(question)) ? "compares.sent" : swaps(question, answers, each) ? "leaving.chance" : "leaving.sent");
    const key = question.practice ? "practice.sent" : way().byHand ? "leaving.sent" : drawn();
    const [start, end] = texts.say(key, { words: "\n" }).split("\n");
    const mark = (place) => each[place]?.moved && ` ${texts.say("leaving.changed")}`;
    const rest = (place, gap) => place < parts.length - 1 && gap;
    const marked = parts.flatMap((part, place) =>
      many ? [part, mark(place) && make("strong", {}, mark(place)), rest(place, "\u00a0· ")] : [make("b", {}, part, mark(place), rest(place, texts.say("leaving.comma").trim())), rest(place, " ")],
    );
    return [start, ...marked, end].filter(Boolean);
  };
  return { element, refresh };
}
