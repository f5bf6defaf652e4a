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
  if (entry.reveals) return texts.say("reveals.does");
  if (compares(question, entry)) return texts.say("compares.does");
  if (strikes) return texts.say(most === entry.categories ? "does.some" : `does.${ranges || "strikes"}`);
  if (entry.loud) return texts.say("loud.does");
  return texts.say(question.kind === "select_multiple" ? "does.each" : ranges ? "does.range" : "does.noise");
}

/** Whether what is sent says how the answer compares with one that chance gives, as in the crosswise model. */
export function compares(question, entry) {
  const design = drawing(question, entry);
  return wayByHand(design, true)?.name === "crosswise" && space(design).labels.join() === "same,different";
}

/** Whether a private question needs words that few need: those of `among`, `compares`, `loud` and `reveals` in extras/. */
export const rare = (question) => offered(question).some((entry) => entry.loud || entry.reveals || compares(question, entry) || spoken(drawing(question, entry)));

/** A level in a few words: how much of what is sent is the answer, or how many options go. */
export function told(question, entry, texts) {
  const [least, most] = entry.still_possible;
  const all = entry.categories;
  if (entry.reveals) return texts.say("reveals.level");
  if (entry.loud) return texts.say("loud.level");
  if (most < all) return texts.say(least === most ? "levels.strikes" : "levels.some", { count: all - least, all });
  if (least < most) return texts.say("levels.some", { count: all - least, all });
  const among = spoken(drawing(question, entry));
  if (among) return texts.say("among.level", { share: Number((100n * among[0] + among[1] - 1n) / among[1]) });
  const share = !sets(drawing(question, entry)) && unchanged(drawing(question, entry));
  return share ? texts.say("levels.noise", { share }) : texts.say("leaving.all"); // no response is an answer
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
  return Number((100_000n * at(own, space(design).set ? [said] : said)) / whole) / 1000;
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

/** Labels inside a sentence: in quotation marks where one is a sentence itself, or after "not" begins as one. */
function within(labels, texts, struck) {
  const quotes = labels.some((label) => /[.:;,!?؟،](\s|$)/u.test(label) || (struck && /^\p{Lu}.*\s/u.test(label)));
  return quotes ? labels.map((label) => texts.quoted(label)) : labels;
}

/** What a response says, part by part: what it strikes out, or what it names (of a select multiple for each choice); empty where it says nothing. */
export function outcome(question, texts, answers, sent) {
  const named = naming(question, texts);
  const one = (response) => {
    const { out, said } = meaning(answers.design(question), response);
    if (!out.length) return within(said.filter(Boolean).map(named), texts, false);
    return within(out.map(named), texts, true).map((option, place) => texts.say(place ? "leaving.nor" : "leaving.not", { option }));
  };
  if (question.kind !== "select_multiple") return one(sent.response);
  return question.choices.map(({ name, label }) => `${texts.plain(label)}: ${one(sent[name].response).join(texts.say("leaving.comma")) || texts.say("leaving.all")}`);
}

/**
 * What each response says, of a select multiple one for each choice: what it may `mean`, whether it `names` an answer, and
 * whether chance has put it in the place of the true one, `mine`: it is `moved`. By hand `own` is null, and nothing is.
 */
export function lines(question, answers, sent, own) {
  const design = answers.design(question);
  const line = (mine, { response }) => {
    const { all, stay } = meaning(design, response);
    const { labels, set } = space(design); // a set of one reads as an answer
    const names = set < 2 && labels.includes(response) && stay.includes(response); // a number of hash and value is none
    return { all, mine, names, stay: stay.length, moved: Boolean(mine) && names && mine !== response };
  };
  return question.kind === "select_multiple" ? question.choices.map(({ name }) => line(own?.[name], sent[name])) : [line(own, sent)];
}

/** Whether each response could be any answer, and names one: chance may have put it in the place of another. */
export const swaps = (question, answers, parts) => !answers.level(question).loud && parts.every(({ names, stay, all }) => names && stay === all.length);

/**
 * The line below it: how much it tells, what it leaves possible, or what chance has done to the answer. `own` is the true
 * category (of a select multiple one for each choice), null by hand; `changed`, whether there was another answer before;
 * `beside`, what is said where a second question hides the answer: who knows that one can be sure.
 */
export function because(question, texts, answers, sent, own, changed, beside) {
  const design = answers.design(question);
  const parts = lines(question, answers, sent, own);
  const [{ all }, stay, entry] = [parts[0], Math.min(...parts.map(({ stay }) => stay)), answers.level(question)];
  if (stay === 1) return texts.say("reveals.leaves");
  if (entry.loud) return texts.say("loud.leaves");
  const most = own !== null && swaps(question, answers, parts) && Math.max(...parts.map(({ mine }) => 100 - hundred(design, all.indexOf(mine), space(design).labels.indexOf(mine))));
  const share = Math.round(most) || Math.ceil(most);
  if (share && parts.some(({ moved }) => moved)) return texts.say("leaving.swapped", { share });
  if (changed) return texts.say("leaving.mind");
  if (share) return texts.say("leaving.kept", { share });
  if (stay < all.length) return texts.say("leaving.remain", { count: stay, all: all.length });
  if (own !== null && compares(question, entry)) return texts.say("compares.leaves");
  return beside ?? texts.say(parts.every(({ names }) => names) ? "leaving.doubt" : "leaving.all");
}

/** The levels that the device draws. */
export const drawn = (question) => offered(question).filter((entry) => !entry.by_hand);
