// What a private question does for the respondent: how it protects, how much each level tells, and what will be sent.

import { make, option } from "./elements.js";
import { offered, together, up } from "./measures.js";
import { categories, channel, possible, sets } from "./randomize.js";

/** How a question protects: in a sentence, and in numbers where there is nothing to choose. */
export function explanation(question, { texts }) {
  const entries = offered(question);
  const device = entries.filter((entry) => !entry.by_hand && !entry.reveals);
  const strikes = device.some(({ level }) => striking(channel(question.private.design.design, level)));
  const only = entries.length === 1 ? [meter(entries[0]), make("b", {}, title(entries[0], texts)), figures(entries[0], texts)] : [];
  const noise = texts.say("privacy.noise") + (device.some(({ loud }) => loud) ? "" : ` ${texts.say("privacy.hidden")}`);
  return make(
    "div",
    { class: "explanation" },
    device.length > 0 && make("p", {}, strikes ? texts.say("privacy.remaining") : noise),
    question.kind === "select_multiple" && make("p", {}, texts.say("privacy.each")),
    only.length > 0 && make("div", { class: "level only" }, ...only),
  );
}

/** Whether responses name what is not the answer. */
function striking(design) {
  const named = categories(design).filter((each) => possible(design, each).length);
  return named.length > 0 && named.every((each) => !possible(design, each).includes(each));
}

/** The levels to choose from, most private first, each in words and numbers. */
export function levels(question, { texts, answers, truths }, changed) {
  const entries = offered(question);
  if (entries.length === 1) return null;
  const note = `q-${question.name}-choosing`;
  const told = alike(entries) ? brief : figures;
  const options = entries.map((entry) =>
    option(
      {
        group: `q-${question.name}-level`,
        checked: entry === answers.level(question),
        onchange: () => (truths.choose(question, entry), changed()),
      },
      make("span", { class: "level" }, meter(entry), make("b", {}, title(entry, texts)), told(entry, texts)),
    ),
  );
  return make(
    "fieldset",
    { class: "levels", "aria-describedby": note },
    make("legend", {}, texts.say("privacy.choose")),
    ...options,
    make(
      "div",
      { id: note, class: "hint" },
      alike(entries) && make("p", {}, basis(entries, texts)),
      make("p", {}, `${texts.say("privacy.chosen")} ${texts.say("privacy.choosing")}`),
    ),
  );
}

/** A level's name: what stays possible after an answer at it. */
function title(entry, texts) {
  const [least, most] = entry.still_possible.map((count) => texts.number(count));
  const all = texts.number(entry.categories);
  const every = entry.categories === 2 ? "both" : "any";
  const key = entry.reveals ? "revealed" : least !== most ? "between" : most === all ? every : "possible";
  const words = texts.say(`privacy.${key}`, { least, most, all }) + loudly(entry, texts);
  return entry.by_hand ? `${texts.say("privacy.hand")}: ${words}` : words;
}

/** How far a reader's odds can grow: for every reader where that is finite, else for one who knew nothing. */
const fold = ({ ratio, odds }) => up(ratio) ?? up(odds);

/** That an answer tells a lot, where it does. */
const loudly = (entry, texts) => (entry.loud ? `. ${texts.say("privacy.loud", { odds: texts.number(fold(entry)) })}` : "");

/** A level in numbers. */
function figures(entry, texts) {
  const told = [
    entry.by_hand && texts.say("privacy.handWhy"),
    ...chances(entry, texts),
    texts.say("privacy.bits", { bits: texts.bound(entry.bits), all: texts.bound(Math.log2(entry.categories)) }),
  ];
  return make("span", { class: "figures" }, told.filter(Boolean).join(" "));
}

/** Whether all levels' numbers mean the same, so that `basis` says it once for all. */
const alike = (entries) => entries.every(({ odds, ratio }) => up(odds) !== null && (up(ratio) === null) === (up(entries[0].ratio) === null));

function brief(entry, texts) {
  const epsilon = up(entry.epsilon);
  const said = texts.say("privacy.brief", {
    odds: texts.number(fold(entry)),
    epsilon: epsilon === null ? "" : ` (ε = ${texts.number(epsilon)})`,
    bits: texts.bound(entry.bits),
    all: texts.bound(Math.log2(entry.categories)),
  });
  return make("span", { class: "figures" }, entry.by_hand ? `${texts.say("privacy.handWhy")} ${said}` : said);
}

/** What the numbers of the levels mean. */
function basis([{ ratio }], texts) {
  if (up(ratio) !== null) return texts.say("privacy.basisAny");
  return `${texts.say("privacy.certain")} ${texts.say("privacy.basisEqual")}`;
}

/** How far a reader's odds can move. Only a finite ε bounds them for every reader. */
function chances(entry, texts, equal = "privacy.oddsEqual") {
  const [odds, epsilon] = [fold(entry), up(entry.epsilon)];
  if (epsilon !== null) return [texts.say("privacy.odds", { odds: texts.number(odds), epsilon: texts.number(epsilon) })];
  return [texts.say("privacy.certain"), odds !== null && texts.say(equal, { odds: texts.number(odds) })];
}

/** A dot for each option: filled ones stay possible. For the eye only, the words beside it say the same. */
function meter({ categories, still_possible: [least, most] }) {
  if (categories > 12) return null;
  const kind = (place) => (place < least ? "stays" : place < most ? "may" : "gone");
  const dots = Array.from({ length: categories }, (_, place) => make("i", { class: kind(place) }));
  return make("span", { class: "meter", "aria-hidden": "true" }, ...dots);
}

/** All private answers together. */
export function allTogether(questions, texts) {
  const sum = together(questions);
  const told = [
    texts.say("privacy.adds"),
    ...chances(sum, texts, "privacy.oddsEach"),
    texts.say("privacy.bitsTogether", { bits: texts.bound(sum.bits) }),
  ];
  return told.filter(Boolean).join(" ");
}

/** What will be sent for a question, as it stands in the body, and what it leaves possible. */
export function preview(question, { texts, answers }) {
  const bytes = make("code", { class: "bytes", dir: "ltr" });
  const words = make("div", { role: "status" });
  const title = `q-${question.name}-preview`;
  const element = make(
    "div",
    { class: "preview", role: "group", "aria-labelledby": title },
    make("h3", { id: title }, texts.say("preview.title")),
    bytes,
    words,
    make("p", { class: "hint" }, texts.say("preview.mind")),
  );
  const refresh = () => {
    bytes.textContent = fragment(question, answers);
    const told = leaves(question, texts, answers).map((each) => make("p", {}, each));
    if (words.textContent !== told.map((each) => each.textContent).join("")) words.replaceChildren(...told);
  };
  refresh();
  return { element, refresh };
}

/** The part of the body that belongs to a question. */
export const fragment = (question, answers) => `${JSON.stringify(question.name)}:${JSON.stringify(answers.sent(question))}`;

/** What an answer leaves possible, in words; a line for each answer that a question takes. */
function leaves(question, texts, answers) {
  const sent = answers.sent(question);
  if (sent === null) return [texts.say("preview.blank")];
  const told = (response) => remaining(question, texts, answers, response);
  const likely = texts.say("preview.likely");
  if (question.kind !== "select_multiple") {
    const { words, several } = told(sent.response);
    return [several ? `${words} ${likely}` : words];
  }
  const each = question.choices.map(({ name, label }) => ({ label, ...told(sent[name].response) }));
  const lines = each.map(({ label, words }) => `${texts.plain(label)}: ${words}`);
  return each.some(({ several }) => several) ? [...lines, likely] : lines;
}

function remaining(question, texts, answers, response) {
  const design = answers.design(question);
  const stay = possible(design, response);
  const entry = answers.level(question);
  const all = entry.categories;
  const options = texts.list(stay.map(naming(question, texts)).map((each) => texts.quoted(each)));
  const words = texts.say(`preview.${stay.length === all ? "all" : stay.length === 1 ? "one" : "remain"}`, { options }) + (entry.loud ? ` ${texts.say("privacy.loud", { odds: texts.number(fold(entry)) })}` : "");
  return { words, several: stay.length > 1 };
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

/** A response in words: what it says, or what it strikes out. */
export function inWords(question, texts, answers, response) {
  const design = answers.design(question);
  const parts = sets(design) ? response.split(";") : [response];
  const all = categories(design);
  const stay = possible(design, response);
  const strikes = parts.every((part) => all.includes(part) && !stay.includes(part));
  return texts.say(strikes ? "review.strikes" : "review.says", { response: texts.list(parts.map(naming(question, texts))) });
}
