// What the bar of a private question says of every pair of a true answer and a response: its modules as they are, on a
// page of which no more is there than they write on. Reads cases on stdin, writes the sentences.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

class Element {
  className = "";
  children = [];
  classList = { toggle() {} };
  append(...parts) {
    this.children.push(...parts);
  }
  replaceChildren(...parts) {
    this.children = parts;
  }
  setAttribute(name, value) {
    if (name === "class") this.className = value;
  }
  matches(selector) {
    return this.className.split(" ").includes(selector.slice(1));
  }
  get textContent() {
    return this.children.map((part) => part.textContent ?? part).join("");
  }
  set textContent(text) {
    this.children = [text];
  }
}
globalThis.document = { createElement: () => new Element() };

const client = pathToFileURL(process.argv[3]);
const load = (name) => import(new URL(name, client));
const [{ Answers }, { leaving }, { Texts }, { Truths }, { loaded, wayOf, waysOf }, { offered }] = await Promise.all(
  ["answers.js", "leaving.js", "texts.js", "truths.js", "ways.js", "measures.js"].map(load),
);

const found = (element, kind) =>
  element.children.flatMap((part) => {
    if (!part.children || part.matches(".may")) return [];
    return part.matches(`.${kind}`) ? [part] : found(part, kind);
  });
const read = (bar, ...kinds) => kinds.map((kind) => found(bar.element, kind)[0].textContent);

/** What stands there as the screen opens, and after each answer, as if it were the first. */
function sentences({ question, way, level, entered }, texts) {
  const drawn = { shown: null, tables: {} };
  const memory = { tab: {}, before: () => null, refused: () => false, spent: () => false };
  memory.prepared = (_, __, choice) => drawn.shown ?? drawn.tables[choice ?? ""] ?? null;
  const answers = new Answers({ questionnaire: { items: [question] } }, memory);
  const truths = new Truths(answers, memory);
  const taken = waysOf(question, answers).find(({ name }) => name === way);
  truths.turn(question, taken);
  if (!taken.byHand) truths.choose(question, offered(question).find((entry) => entry.level === level));
  const bar = leaving(question, { texts, answers, truths, forward: new Element() }, () => wayOf(question, answers));
  const enter = (value) => (truths.store(question).enter(question, value), bar.refresh());
  enter(null);
  const before = read(bar, "sentence", "small");
  const after = entered.map(({ value, shown = null, drawn: tables = {} }) => {
    Object.assign(drawn, { shown: shown && { shown }, tables });
    enter(null);
    enter(value);
    return read(bar, "sent", "small");
  });
  return { before, after };
}

const cases = JSON.parse(readFileSync(0, "utf-8"));
await loaded(cases.map(({ question }) => question));
const texts = await Texts.in("en", { languages: ["en"] }, true);
process.stdout.write(JSON.stringify(cases.map((one) => sentences(one, texts))));
