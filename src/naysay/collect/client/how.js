// "How private is this?": what was not said on the screen, in full sentences and numbers, for those who ask.

import { make } from "./elements.js";
import { up } from "./measures.js";
import { drawing, drawn, fragment, hundred, naming, striking, struck } from "./privacy.js";
import { categories, space, spoken } from "../../telemetry/javascript/randomize.js";

/** Opened by the respondent alone: other ways, numbers, the very bytes, and what this cannot protect against. */
export function how(question, { texts, answers }, tools, link, way) {
  const body = make("div", {});
  const bytes = make("code", { class: "bytes", dir: "ltr" });
  const exact = question.practice ? null : make("div", { class: "exact" }, `${texts.say("leaving.exact")}: `, bytes);
  const element = make("details", { class: "how" }, make("summary", {}, texts.say("how.ask")), make("div", { class: "tools" }, tools), body, exact, link);
  const refresh = () => {
    bytes.textContent = fragment(question, answers);
    const told = [way().sentence(question, { texts, answers }), way().knows?.(question, { texts }), ...sentences(question, answers.level(question), texts)].filter(Boolean);
    body.replaceChildren(...told.map((each) => make("p", {}, each)));
  };
  return { element, refresh };
}

function sentences(question, entry, texts) {
  const several = drawn(question).length > 1;
  return [
    example(question, entry, texts),
    [...growth(entry, texts), texts.say("how.bits", { bits: texts.bound(entry.bits), all: texts.bound(Math.log2(entry.categories)) })].filter(Boolean).join(" "),
    entry.loud && texts.say("loud.how", { odds: texts.number(fold(entry)) }),
    question.kind === "select_multiple" && texts.say("how.each"),
    entry.least !== 1 && texts.say("how.likely"),
    several && texts.say("how.choosing"),
    texts.say("how.mind"),
    texts.say("how.blank"),
  ].filter(Boolean);
}

/** What happens to a hundred people with one answer. */
function example(question, entry, texts) {
  const design = drawing(question, entry);
  const all = categories(design).map(String);
  const named = naming(question, texts);
  const quoted = (name) => texts.quoted(named(name));
  const about = (number) => texts.number(number, 0);
  if (striking(design)) return texts.say("how.struck", { own: quoted(all[0]), other: quoted(all[1]), count: about(struck(design, 0, 1)) });
  const among = design.size !== 1 && spoken(design);
  if (among) {
    const count = about(Number((100_000n * among[0]) / among[1]) / 1000);
    return texts.say("among.how", { own: quoted(all[0]), count, rest: about(100 - Number(count)) });
  }
  const { labels } = space(design);
  const shares = labels.map((_, said) => hundred(design, 0, said));
  const most = shares.indexOf(Math.max(...shares));
  const gaps = { own: quoted(all[0]), response: quoted(labels[most]), count: about(shares[most]), rest: about(100 - Number(about(shares[most]))) };
  return texts.say("how.swapped", gaps);
}

/** How far a reader's odds can grow: for every reader where that is finite, else for one who knew nothing. */
const fold = ({ ratio, odds }) => up(ratio) ?? up(odds);

/** How far a reader's odds can move. Only a finite ε bounds them for every reader. */
export function growth(entry, texts, equal = "how.oddsEqual") {
  const [odds, epsilon] = [fold(entry), up(entry.epsilon)];
  if (epsilon !== null) return [texts.say("how.odds", { odds: texts.number(odds), epsilon: texts.number(epsilon) })];
  return [texts.say("how.certain"), odds !== null && texts.say(equal, { odds: texts.number(odds) })];
}
