// What few people open on the first page and at the foot of it: the promises, the fingerprint, and what the page cannot
// protect. It stands at the end of extras/LANGUAGE.js, which is loaded as it is opened; `make` is the page's own.

/** What is promised, each a line; then what the private answers tell together. */
export function promises({ make, texts, some, safe, growth, together }) {
  const told = (key) => (key === "device" && safe === "byHand.safe" ? safe : `promises.${key}`);
  const lines = Object.keys(texts.words.promises).map((key) => make("li", {}, texts.say(told(key))));
  const list = make("ul", { class: "promises" }, ...lines);
  if (!some.length) return [list];
  const sum = together(some);
  const all = [texts.say("together.adds"), ...growth(sum, texts, "together.odds"), texts.say("together.bits", { bits: texts.bound(sum.bits) })];
  return [list, make("h2", {}, texts.say("together.title")), make("p", {}, all.filter(Boolean).join(" "))];
}

/** By which the survey is known, to those who compare. */
export function fingerprint({ make, texts, survey, hash }) {
  const code = (text, id = null) => make("code", { id, class: "bytes", dir: "ltr" }, text);
  return [
    make("h2", {}, texts.say("fingerprint.title")),
    make("p", {}, code(hash, "hash")),
    make("p", { class: "hint" }, texts.say("fingerprint.why")),
    ...(survey.renewed ?? []).map((old) => make("p", { class: "hint" }, texts.say("welcome.renewed"), ": ", code(old))),
  ];
}

/** What is defended and what is not. */
export function protection({ make, texts, lead, parts }) {
  const rows = (lines) => lines.map(([what, how]) => make("div", {}, make("dt", {}, what), make("dd", {}, how)));
  const told = parts.flatMap(([heading, lines]) => [make("h3", {}, heading), make("dl", { class: "told" }, ...rows(lines))]);
  return [make("h2", {}, texts.say("welcome.threats")), make("p", {}, lead), ...told];
}
