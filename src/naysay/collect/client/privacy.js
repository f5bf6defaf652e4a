// What a design does to an answer, in words: what the device will do, and what a response says.

import { wayByHand } from "./by_hand.js";
import { offered } from "./measures.js";
import { categories, channel, chances, possible, products, sets, space, spoken, supported } from "../../telemetry/javascript/randomize.js";

/** Whether responses name what is not the answer. */
export function striking(design) {
  const labels = space(design)?.labels ?? []; // a sink's category is none of them
  const named = categories(design).map(String).filter((each) => labels.includes(each) && possible(design, each).length);
  return named.length > 0 && named.every((each) => !possible(design, each).includes(each));
}

/** The design that draws at a level. */
export const drawing = (question, { level }) => channel(question.private.design.design, level);

/** One sentence: what the device will do with an answer at a level. */
export function doing(question, entry, texts) {
  const strikes = striking(drawing(question, entry));
  const [, most] = entry.still_possible;
  const ranges = question.bins ? "ranges" : "";
  if (entry.reveals) return texts.say("does.reveals");
  if (compares(question, entry)) return texts.say("does.compares");
  if (strikes) return texts.say(most === entry.categories ? "does.some" : `does.${ranges || "strikes"}`);
  if (entry.loud) return texts.say("does.loud");
  return texts.say(question.kind === "select_multiple" ? "does.each" : ranges ? "does.range" : "does.noise");
}

/** Whether what is sent says how the answer compares with one that chance gives, as in the crosswise model. */
function compares(question, entry) {
  const design = drawing(question, entry);
  return wayByHand(design, true)?.name === "crosswise" && space(design).labels.join() === "same,different";
}

/** A level in a few words: how much of what is sent is the answer, or how many options go. */
export function told(question, entry, texts) {
  const [least, most] = entry.still_possible;
  const all = entry.categories;
  if (entry.reveals) return texts.say("levels.reveals");
  if (entry.loud) return texts.say("levels.loud");
  if (most < all) return texts.say(least === most ? "levels.strikes" : "levels.some", { count: all - least, all });
  if (least < most) return texts.say("levels.some", { count: all - least, all });
  const among = spoken(drawing(question, entry));
  if (among) return texts.say("levels.among", { share: Number((100n * among[0] + among[1] - 1n) / among[1]) });
  return texts.say("levels.noise", { share: unchanged(drawing(question, entry)) });
}

/** Of a hundred people with the answer that is kept most often: how many send it, rounded up. */
function unchanged(design) {
  const { whole, at } = chances(design);
  const labels = space(design)?.labels ?? [];
  const kept = categories(design).map((each, place) => at(place, labels.indexOf(String(each))));
  const most = kept.reduce((one, other) => (other > one ? other : one), 0n);
  return Number((100n * most + whole - 1n) / whole);
}

/** How many of a hundred people with the category at `own` have the one at `other` struck out. */
export function struck(design, own, other) {
  const { kind, weights, components, discards, categories: all, truthful } = design;
  if (kind === "mixture") {
    const shares = weights.map(Number);
    const sum = shares.reduce((a, b) => a + b);
    return components.reduce((found, part, place) => found + (shares[place] / sum) * struck(part, own, other), 0);
  }
  if (kind === "subset") return (100 * discards) / (all.length - Number(truthful));
  if (kind === "weighted_subset") {
    const rest = weights.map(BigInt).filter((_, place) => place !== own && place !== other);
    const [mine, without] = [BigInt(weights[other]), products(discards, rest)];
    const within = mine * products(discards - 1, rest);
    return (100 * Number(within)) / Number(within + without);
  }
  const { labels, set } = space(design);
  const place = labels.indexOf(String(categories(design)[other]));
  return set ? struckOfSet(design, own, place) : hundred(design, own, place);
}

/** The same for a set that is drawn of what another design gives first, as beside a sink; `place` is one of its labels. */
function struckOfSet({ first, second }, own, place) {
  const shares = space(first).labels.map((_, state) => hundred(first, own, state) / 100);
  return shares.reduce((found, share, state) => found + (state === place ? 0 : share * struck(second, state, place)), 0);
}

/** How many of a hundred people with the category at `own` send the response at `said`. */
export function hundred(design, own, said) {
  const { whole, at } = chances(design);
  return Number((100_000n * at(own, said)) / whole) / 1000;
}

/** What respondents read for a category or a response of a question. */
export function naming(question, texts) {
  const labels = new Map(Object.entries(question.private?.responses ?? {}));
  const listed = question.kind === "select_multiple" ? [] : question.private && question.bins ? question.bins : question.choices;
  for (const { name, label } of listed) labels.set(name, label);
  return (name) => {
    if (labels.has(name)) return texts.plain(labels.get(name));
    return name === "yes" || name === "no" ? texts.say(`asked.${name}`) : String(name);
  };
}

/** The part of the body that belongs to a question. */
export const fragment = (question, answers) => `${JSON.stringify(question.name)}:${JSON.stringify(answers.sent(question))}`;

/** What a response strikes out, and what it leaves possible: names of categories; `said` where it strikes nothing out. */
export function meaning(design, response) {
  const said = supported(design, response)?.map(String) ?? (sets(design) ? response.split(";") : [response]);
  const all = categories(design).map(String);
  const stay = possible(design, response).map(String);
  const out = said.filter((each) => all.includes(each) && !stay.includes(each)); // beside them only a sink can stand
  return { all, stay, out, said };
}

/** A response as a sentence: what is sent. */
export function sentence(question, texts, answers, response) {
  const { all, stay, out, said } = meaning(answers.design(question), response);
  const named = naming(question, texts);
  const quoted = (names) => names.map((name) => texts.quoted(named(name)));
  const words = out.length ? quoted(out).map((option) => texts.say("picture.not", { option })).join(texts.say("picture.comma")) : texts.list(quoted(said));
  const nothing = !words && texts.say("picture.all");
  const sent = nothing || texts.say(question.practice ? "practice.sent" : "picture.sent", { words });
  if (answers.level(question).loud) return `${sent} ${texts.say("picture.loud")}`;
  if (stay.length === 1) return `${sent} ${texts.say("picture.one")}`;
  if (out.length) return sent;
  if (stay.length < all.length) return `${sent} ${texts.say("picture.remain", { options: texts.list(quoted(stay)) })}`;
  return `${sent} ${texts.say(all.includes(said[0]) ? "picture.chance" : "picture.all")}`;
}

/** The levels that the device draws. */
export const drawn = (question) => offered(question).filter((entry) => !entry.by_hand);
