// What a survey must hold before this page shows anything of it: nothing in it sends, asks by or repeats a true private
// answer, its designs can be drawn, and what it states of privacy is no better than what its integers give. Whatever
// cannot be read is refused, too. tests/collect/survey_vectors.json holds this and the server to the same verdicts.

import { inArm } from "./answers.js";
import { KINDS } from "./inputs.js";
import { letters } from "./letters.js";
import { quotient, offered, together } from "./measures.js";
import { channel, products } from "../../telemetry/javascript/randomize.js";
import { modes, wayByHand } from "./by_hand.js";

const LIMIT = 2 ** 53;
const HASH = /^[0-9a-f]{64}$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const CODE = /^-?[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const SURVEY = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const WHOLE = "naysay version name title about contact thanks languages items practice arms strata measured";
const ITEMS = { note: { fields: "" }, group: { fields: "items" }, ...KINDS };
const NODES = {
  table: "categories responses denominator columns yes_no",
  two_option: "categories responses denominator columns yes_no shown",
  pattern: "categories own other",
  subset: "categories discards truthful",
  weighted_subset: "categories discards weights",
  subset_selection: "categories size inside outside",
  affine: "categories base named inside outside",
  unary: "categories own other",
  mixture: "weights components",
  then: "first second",
};
const ARGUMENTS = { not: [1, 1], count_selected: [1, 1], string_length: [1, 1], today: [0, 0], and: [1, Infinity], or: [1, Infinity] };
for (const op of "= != < <= > >= + - * div mod selected".split(" ")) ARGUMENTS[op] = [2, 2];

/** Where a survey must not be trusted, as a path in it; null where nothing is wrong. */
export function flaw(survey) {
  const at = { path: "questionnaire" };
  try {
    is(survey, "survey");
    must(Number.isSafeInteger(survey.body_length));
    asked(survey.questionnaire, at);
    at.path = "renewed";
    const { renewed = [] } = survey;
    must(renewed.every((old) => typeof old === "string" && HASH.test(old)));
    at.path = "invitations";
    if (survey.invitations !== undefined) invites(survey.invitations);
    for (const { name } of survey.questionnaire.arms ?? [{}]) {
      at.path = "questionnaire.items";
      const questions = walked(inArm(survey.questionnaire.items, name)).map(([item]) => item);
      apart(questions.filter(({ kind }) => kind !== "note" && kind !== "group"), survey.questionnaire.languages);
      stated(survey, questions.filter((question) => question.private), at);
    }
    return null;
  } catch {
    return at.path;
  }
}

function must(held) {
  if (!held) throw new RangeError();
}

function invites({ suite, key, ...others }) {
  only(others, "");
  must(suite === "ristretto255-SHA512" && typeof key === "string" && HASH.test(key));
}

const is = ({ naysay, version }, kind) => must(naysay === kind && version === 1);
const only = (object, fields) => must(Object.keys(object).every((name) => fields.match(/\w+/g).includes(name)));
const same = (one, other) => must(JSON.stringify(one) === JSON.stringify(other));
const among = (table, key) => must(typeof key === "string" && Object.hasOwn(table, key)); // a list of one text reads as it
const simple = (values) => must(values.every((value) => ["string", "number", "boolean"].includes(typeof value) && String(value).trim()));
const distinct = (names) => must(new Set(names).size === names.length);
const object = (value = {}) => must(typeof value === "object" && !Array.isArray(value));
const whole = (number, least, most = LIMIT) => must(Number.isInteger(number) && least <= number && number <= most);
const named = (name, pattern) => must(pattern.test(name) && !name.startsWith("__") && !(name in Object.prototype));

/** All items in order with their paths; a group stands before what it holds. */
const walked = (items, path = "items") =>
  items.flatMap((item, place) => [[item, `${path}[${place}]`], ...(item.kind === "group" ? walked(item.items, `${path}[${place}].items`) : [])]);

function asked(questionnaire, at) {
  is(questionnaire, "questionnaire");
  only(questionnaire, WHOLE);
  const { name, title, about, contact, thanks, languages, practice = true, arms = [] } = questionnaire;
  named(name, SURVEY);
  must(languages.length && languages.every((tag) => typeof tag === "string" && !(tag in Object.prototype) && Intl.getCanonicalLocales(tag)));
  says([title ?? 0, about, contact, thanks], new Map());
  practiced(practice);
  listed(arms, "name share");
  for (const { share } of arms) whole(share, 1);
  must(questionnaire.arms === undefined || arms.length > 1); // what is stated is held against each arm: without any, nothing is
  must(arms.reduce((sum, { share }) => sum + BigInt(share), 0n) <= LIMIT);
  const [items, before] = [walked(questionnaire.items), new Map()];
  const columns = new Set(["day", arms.length && "arm", ...items.flatMap(([{ name, private: how, control }]) => [how?.design?.design?.levels && `${name}_level`, control?.truth.lot && `${name}_truth`])]);
  distinct(items.map(([{ name }]) => name));
  for (const [item, path] of items) {
    at.path = path;
    must(item.arms === undefined || (item.arms.length && item.arms.every((name) => arms.some((arm) => arm.name === name))));
    one(item, item.control?.truth.lot ? new Map(before).set(`${item.name}_truth`, {}) : before);
    if (item.kind === "note" || item.kind === "group") continue;
    must(!columns.has(item.name));
    before.set(item.name, item);
    if (item.constraint) condition(item.constraint.expression, before, true);
    if (item.private) hidden(item);
  }
}

/** A question that is never sent: it repeats nothing, and holds nothing but words. */
function practiced(practice) {
  if (typeof practice === "boolean") return;
  only(practice, "label choices");
  whole(practice.choices.length, 3, 6);
  listed(practice.choices, "name label");
  says([practice, ...practice.choices].map(({ label }) => label ?? 0), new Map());
}

/** A list of choices, rows or bins. */
function listed(parts, fields) {
  distinct(parts.map(({ name }) => name));
  for (const part of parts) {
    named(part.name, CODE);
    only(part, fields);
  }
}

function one(item, before) {
  const { kind, name, choices = [], rows = [], bins = [], hint, required, relevant, constraint, private: how, right, explanation = {} } = item;
  among(ITEMS, kind);
  only(item, `kind name label hint relevant ${kind === "note" || kind === "group" ? "" : "required constraint measures control"} arms ${ITEMS[kind].fields}`);
  named(item.measures ?? name, NAME);
  named(name, NAME);
  must([undefined, true, false].includes(required));
  [how, relevant, constraint, how?.responses].forEach(object);
  if (item.control) {
    only(item.control, "of truth");
    only(item.control.truth, "category lot shares people file");
    must(how && !item.constraint && kind !== "select_multiple");
  }
  must([undefined, "shuffled", "reversed"].includes(item.order));
  if (relevant) condition(relevant, before, false);
  if (constraint) only(constraint, "expression message");
  for (const list of [choices, rows]) listed(list, "name label");
  listed(bins, "name label below");
  must(right === undefined ? !Object.keys(explanation).length : !how && choices.some((choice) => choice.name === right));
  const told = [hint, item.low_label, item.high_label, constraint?.message, explanation, how?.innocuous, ...Object.values(how?.responses ?? {})];
  says([...told, ...[item, ...choices, ...rows, ...bins].map((part) => part.label ?? 0)], before);
}

/** Texts repeat no answer but a plain one that was given before. */
function says(labels, before) {
  labels.forEach(object);
  for (const text of labels.flatMap((label = {}) => Object.values(label)))
    for (const [, name] of text.matchAll(/\$\{([^}]*)\}/g)) plain(before.get(name.trim()));
}

const plain = (question) => must(question && !question.private);

function condition(node, before, own) {
  const { kind, of, op, args, value } = node;
  only(node, { value: "kind value", apply: "kind op args" }[kind] ?? "kind of");
  if (kind === "value") must(["boolean", "number", "string"].includes(typeof value));
  else if (kind === "sent") must(before.get(of).private && before.get(of).kind !== "select_multiple");
  else if (kind === "answer") of === "." ? must(own) : (plain(before.get(of)), must(before.get(of).kind !== "grid"));
  else {
    must(kind === "apply");
    among(ARGUMENTS, op);
    whole(args.length, ...ARGUMENTS[op]);
    for (const each of args) condition(each, before, own);
  }
}

/** A private question: nothing is decided by its true answer, and each level can be drawn. */
function hidden({ kind, choices, bins, low, high, constraint, private: how }) {
  only(how, "design by_hand responses modes innocuous begins_at");
  must(!constraint && (low ?? high ?? null) === null);
  const names = kind === "select_multiple" ? ["yes", "no"] : (bins ?? choices).map(({ name }) => name);
  must(names.length > 1 && !Object.keys(how.responses).some((name) => names.includes(name)));
  if (bins) {
    const ends = bins.map(({ below }) => below);
    must(ends.pop() === null && ends.every((end, place) => typeof end === "number" && !(end <= ends[place - 1])));
  }
  only(how.design, "naysay version drawing design");
  is(how.design, "design");
  const { design } = how.design;
  const levels = design.kind === "levels" ? design.levels : [];
  if (design.kind === "levels") {
    only(design, "kind name notes levels");
    must(levels.length);
    for (const entry of levels) {
      only(entry, "level design");
      must(typeof entry.level === "string" || Number.isSafeInteger(entry.level));
      drawn(entry.design, names);
    }
  } else drawn(design, names);
  const called = levels.map(({ level }) => String(level));
  distinct(called);
  must((how.begins_at ?? null) === null || (called.includes(how.begins_at) && !how.by_hand.includes(how.begins_at)));
  how.by_hand.forEach((level) => must(called.includes(level) && wayByHand(channel(design, level), false)));
  carried(how, levels.length ? null : design, kind);
}

/** Who carries the design out. People are told how only where what they are told gives its chances. */
function carried({ innocuous = {}, ...how }, design, kind) {
  const named = modes({ private: how });
  must(named.length && named.every((mode) => mode === "hand" || mode === "device"));
  distinct(named);
  const beside = Object.keys(innocuous).length > 0;
  must(!beside || (named.includes("hand") && kind !== "select_multiple"));
  must(!named.includes("hand") || (design && wayByHand(design, beside)));
}

/** Private choices differ in words, in each language: equal ones would be several draws of one answer, and one without
 *  its words is shown in another language's. An innocuous question protects one
 *  answer, and is asked nowhere else: two responses would tell more than one. */
function apart(questions, languages) {
  for (const { choices, private: how } of questions)
    if (how && choices) for (const tag of languages) distinct(choices.map(({ label }) => letters(label[tag]) || label[tag]));
  const lines = ({ kind, label, rows = [], choices = [] }) => [label, ...[...rows, ...(kind === "select_multiple" ? choices : [])].map((line) => line.label)];
  const seen = new Set(questions.flatMap(lines).flatMap(Object.values).map(letters));
  for (const { private: how } of questions) {
    const own = new Set(Object.values(how?.innocuous ?? {}).map(letters).filter(Boolean));
    for (const text of own) must(!seen.has(text));
    for (const text of own) seen.add(text);
  }
}

/** A design that can be drawn for these categories; gives its responses as text, so that they can be compared. */
function drawn(node, names) {
  const { kind, categories, discards, weights } = node;
  among(NODES, kind);
  only(node, `kind name notes protocol alternatives ${NODES[kind]}`);
  simple([...(categories ?? []), ...(node.responses ?? [])]);
  if (categories) same(categories.map(String), names);
  if (discards !== undefined) whole(discards, 1, names.length - 1);
  for (const weight of weights ?? []) whole(weight, 1);
  return DRAWN[kind](node, names);
}

const DRAWN = {
  table({ responses, denominator, columns }, names) {
    distinct(responses.map(String));
    whole(denominator, 1);
    same(columns.map(({ length }) => length), names.map(() => responses.length));
    for (const column of columns) {
      for (const weight of column) whole(weight, 0);
      must(column.reduce((sum, weight) => sum + BigInt(weight), 0n) === BigInt(denominator));
    }
    return JSON.stringify(responses.map(String));
  },
  two_option: (node, names) => whole(node.shown, 2, names.length) ?? DRAWN.table(node, names),
  pattern({ own, other }, names) {
    whole(own, 0);
    whole(other, 0);
    const sum = BigInt(own) + BigInt(names.length - 1) * BigInt(other); // as numbers the sum could be rounded to the limit
    must(sum > 0n && sum <= LIMIT);
    return JSON.stringify(names);
  },
  subset({ discards, truthful }, names) {
    must(typeof truthful === "boolean");
    return `${discards} of ${names}`;
  },
  weighted_subset({ discards, weights }, names) {
    must(weights.length === names.length && products(discards, weights.map(BigInt)) <= LIMIT);
    return `${discards} of ${names}`;
  },
  subset_selection({ size, inside, outside }, names) {
    whole(size, 1, names.length - 1);
    odds(inside, outside, BigInt(size), BigInt(names.length - size));
    return `${size} of ${names}`;
  },
  affine({ base, named, inside, outside }, names) {
    must(named === false);
    whole(base, 2, 4096);
    for (let divisor = 2; divisor * divisor <= base; divisor++) must(base % divisor);
    odds(inside, outside, 1n, BigInt(base) - 1n);
    return `hash of ${names}`;
  },
  unary({ own, other }, names) {
    whole(own, 1, 2 ** 32 - 1);
    whole(other, 1, own - 1);
    return `any of ${names}`;
  },
  mixture({ weights, components }, names) {
    must(weights.length === components.length && weights.reduce((sum, weight) => sum + BigInt(weight), 0n) <= LIMIT);
    const spaces = components.map((part) => drawn(part, names));
    must(new Set(spaces).size === 1);
    return spaces[0];
  },
  then: ({ first, second }, names) => drawn(second, JSON.parse(drawn(first, names))), // sets are no JSON
};

/** Odds of a response that speaks for the truth against one that does not, and their sum. */
function odds(inside, outside, own, others) {
  whole(inside, 1);
  whole(outside, 1, inside - 1);
  must(BigInt(inside) * own + BigInt(outside) * others <= LIMIT);
}

/** What the survey states is held against its integers: it may promise less than they give, and never more. */
function stated({ privacy, together: sum }, questions, at) {
  for (const question of questions) {
    at.path = `privacy.${question.name}`;
    const levels = offered(question);
    must(privacy[question.name].length === levels.length);
    levels.forEach((level, place) => promised(privacy[question.name][place], level));
  }
  at.path = "together";
  promised({ ...sum }, together(questions));
}

function promised(stated, real) {
  for (const key of ["level", "by_hand", "categories", "still_possible", "reveals"]) same(stated[key], real[key]);
  for (const key of ["epsilon", "odds"]) must(enough(stated[key], quotient(real[key])));
  must(real.rough || enough(stated.bits, real.bits));
}

/** As far as floating point can tell: where odds are very large, their stated number is not exact. */
const enough = (stated, real) => stated === null || (typeof stated === "number" && real < Infinity && stated * (1 + 1e-9 + 1e-15 * real) + 1e-9 >= real);
