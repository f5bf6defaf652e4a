// What lot decides on this device, loaded only where a survey leaves something to it: the arm, which is sent openly; the
// truth that a control asks to suppose, which is sent too; and the order of choices and of a control beside its question,
// which is not sent. All is drawn at once before anything is asked, and kept until an answer is acknowledged, so that
// nothing that a respondent does gives a second draw. From here on the page knows only what this device asks.

/** The place that lot gives, each with the chance of its weight. The same bytes give the same place in Python. */
export function lot(weights, { below, system }) {
  let number = below(weights.reduce((sum, weight) => sum + weight), system);
  let place = 0;
  while (number >= weights[place]) number -= weights[place++];
  return place;
}

/** The numbers below `size` in random order (Fisher and Yates). */
export function shuffled(size, { below, system }) {
  const order = Array.from({ length: size }, (_, place) => place);
  for (let last = size - 1; last > 0; last--) {
    const other = below(last + 1, system);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

const walked = (items) => items.flatMap((item) => [item, ...walked(item.items ?? [])]);
const categories = ({ choices, bins }) => bins ?? choices;

/** All that is left to lot in a questionnaire, as JSON. */
export function draws({ arms = [], items }, chance) {
  const all = walked(items);
  const drawn = { arm: arms.length ? arms[lot(arms.map(({ share }) => share), chance)].name : null, truths: {}, orders: {}, places: {} };
  for (const { name, control, order, ...question } of all) {
    if (control?.truth.lot) drawn.truths[name] = categories(question)[chance.below(categories(question).length, chance.system)].name;
    if (order === "shuffled") drawn.orders[name] = shuffled(question.choices.length, chance);
    if (order === "reversed") drawn.orders[name] = chance.below(2, chance.system) ? [...question.choices.keys()].reverse() : [...question.choices.keys()];
    if (control) drawn.places[control.of] ??= shuffled(1 + all.filter((other) => other.control?.of === control.of).length, chance);
  }
  return drawn;
}

/** What was drawn before, as far as it fits what is asked now, and the fresh draws for the rest: a server that asks
 *  something else under the same name gets no second draw of what has stayed, and breaks nothing. */
export function fitting(before, fresh, { arms = [], items }) {
  const lists = new Map(walked(items).map((item) => [item.name, categories(item)]));
  const fits = (old, drawn, list) => (Array.isArray(drawn) ? old?.length === drawn.length : list.some(({ name }) => name === old));
  const each = (kind) => Object.fromEntries(Object.entries(fresh[kind]).map(([name, drawn]) => [name, fits(before[kind][name], drawn, lists.get(name)) ? before[kind][name] : drawn]));
  return { arm: fits(before.arm, fresh.arm, arms) ? before.arm : fresh.arm, truths: each("truths"), orders: each("orders"), places: each("places") };
}

/** The survey as this device asks it, and in `lots` what is sent beside its answers. */
export function taken(survey, { arm, truths, orders, places }) {
  const { questionnaire } = survey;
  const label = (item) => ({ ...item, label: supposed(item, item.label), hint: supposed(item, item.hint ?? {}) });
  const ordered = (item) => (orders[item.name] ? { ...item, choices: orders[item.name].map((place) => item.choices[place]) } : item);
  const asked = (items) => {
    const here = items.filter((item) => !item.arms || item.arms.includes(arm));
    const result = [...here];
    for (const [of, order] of Object.entries(places)) {
      const spots = here.flatMap((item, spot) => (item.name === of || item.control?.of === of ? [spot] : []));
      if (spots.length === order.length) spots.forEach((spot, place) => (result[spot] = here[spots[order[place]]]));
    }
    return result.map((item) => (item.items ? { ...item, items: asked(item.items) } : ordered(item.control ? label(item) : item)));
  };
  /** The words of the category to suppose stand in the place of ${control_truth}. */
  function supposed(item, words) {
    const truth = categories(item)?.find(({ name }) => name === truths[item.name])?.label;
    if (!truth) return words;
    const gap = new RegExp(`\\$\\{\\s*${item.name}_truth\\s*\\}`, "g");
    return Object.fromEntries(Object.entries(words).map(([tag, text]) => [tag, text.replace(gap, () => truth[tag] ?? Object.values(truth)[0])]));
  }
  const questions = walked(questionnaire.items).filter(({ kind }) => kind !== "note" && kind !== "group");
  const names = questions.flatMap(({ name }) => (truths[name] ? [`${name}_truth`, name] : [name]));
  const controls = new Map(Object.keys(truths).map((name) => [`${name}_truth`, name]));
  const value = (name, answers) => {
    if (name === "arm") return arm;
    const control = answers.questions.find((question) => question.name === controls.get(name));
    return control && answers.relevant(control) ? truths[control.name] : null;
  };
  const told = arm && ((texts) => [WORDS[texts.locale.split("-")[0]] ?? WORDS.en, arm]);
  return { ...survey, questionnaire: { ...questionnaire, items: asked(questionnaire.items) }, lots: { names: arm ? ["arm", ...names] : names, value, told } };
}

const WORDS = {
  en: "Group, drawn by lot on your device",
  de: "Gruppe, auf Ihrem Gerät ausgelost",
  es: "Grupo, sorteado en su dispositivo",
  ar: "المجموعة، بالقرعة على جهازك",
};

/** The survey as lot has decided on this device, now or before. What was drawn lies readable beside the marks: it tells no answer. */
export function take(survey, hash, chance) {
  const item = survey.preview ? `naysay:${hash}` : "naysay"; // as in memory.js
  const own = `/${survey.questionnaire.name}`;
  return navigator.locks.request(item, () => {
    try {
      const clear = JSON.parse(localStorage.getItem(item)) ?? { version: 2, questions: {}, surveys: {} };
      const mine = (clear.surveys[own] ??= {});
      const fresh = draws(survey.questionnaire, chance);
      if (mine.answered) return taken(survey, fresh);
      mine.lots = mine.lots ? fitting(mine.lots, fresh, survey.questionnaire) : fresh;
      localStorage.setItem(item, JSON.stringify(clear));
      return taken(survey, mine.lots);
    } catch {
      return taken(survey, draws(survey.questionnaire, chance)); // nothing can be kept here, and the page says so
    }
  });
}
