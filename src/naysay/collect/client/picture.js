// What leaves the device, made of the very options that were asked: those struck out are crossed, the others stay. In
// words beside it, and byte for byte behind a tap.

import { make } from "./elements.js";
import { fragment, meaning, naming, sentence } from "./privacy.js";

const MOST = 12; // options that are drawn one by one

/** The picture of what will be sent for a question; hidden until there is something. */
export function picture(question, { texts, answers }, way) {
  const title = `q-${question.name}-preview`;
  const words = make("div", { role: "status", class: "sent" });
  const options = make("div", {});
  const bytes = make("code", { class: "bytes", dir: "ltr" });
  const exact = make("details", { class: "exact" }, make("summary", {}, texts.say("picture.exact")), bytes);
  const hint = make("p", { class: "hint" }, texts.say(question.practice ? "practice.see" : "picture.mind"));
  const element = make("div", { class: "preview", role: "group", "aria-labelledby": title }, make("h2", { id: title }, texts.say("picture.title")), options, words, hint, !question.practice && exact);
  const refresh = () => {
    const sent = answers.sent(question);
    bytes.textContent = fragment(question, answers);
    element.hidden = sent === null;
    const lines = sent === null ? [] : told(question, texts, answers, sent);
    const said = lines.map((line) => make("p", {}, line));
    if (words.textContent !== lines.join("")) words.replaceChildren(...said);
    options.replaceChildren(...(sent === null ? [] : (way().picture ?? drawnOf)(question, { texts, answers }, sent)));
  };
  return { element, refresh };
}

/** What is sent, as sentences; of several lines each, and once what holds for all. */
function told(question, texts, answers, sent) {
  if (question.kind !== "select_multiple") return [sentence(question, texts, answers, sent.response)];
  const loud = answers.level(question).loud;
  const lines = question.choices.map(({ name, label }) => `${texts.plain(label)}: ${texts.quoted(naming(question, texts)(sent[name].response))}`);
  return [...lines, texts.say(loud ? "picture.loud" : "picture.lines")];
}

function drawnOf(question, { texts, answers }, sent) {
  if (question.kind === "select_multiple") return [];
  const { all, stay, out, said } = meaning(answers.design(question), sent.response);
  const named = naming(question, texts);
  const few = all.length <= MOST;
  const shown = few ? all : all.filter((name) => out.includes(name) || said.includes(name));
  const kind = (name) => (!stay.includes(name) ? "out" : said.includes(name) ? "said" : "stays");
  const chips = shown.map((name) => make("li", { class: kind(name) }, named(name)));
  if (!few) chips.push(make("li", { class: "stays" }, texts.say("picture.others", { count: texts.number(all.length - shown.length) })));
  const names = few ? texts.list(stay.map((name) => texts.quoted(named(name)))) : `${stay.length} / ${all.length}`;
  const label = texts.say("picture.still", { options: names });
  return [make("div", { role: "img", "aria-label": label }, make("ul", { class: "chips", "aria-hidden": "true" }, ...chips))];
}
