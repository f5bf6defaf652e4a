// The practice question: harmless, asked like the first private question, drawn like it, and never stored or sent.

import { offered } from "./measures.js";
import { drawing, striking } from "./privacy.js";
import { draw } from "../../telemetry/javascript/randomize.js";

const SEASONS = ["spring", "summer", "autumn", "winter"];

/** Answers to the practice question, in the shape of those to the others; they live as long as the page. */
export class Practice {
  #value = null;
  #table = null;
  #design;
  #own;

  /** Practice for a question that is drawn like `model`: the researcher's own question, or the page's. */
  constructor(own, model) {
    this.#own = own === true ? null : own;
    const categories = this.#own?.choices.map(({ name }) => name) ?? SEASONS;
    const strikes = striking(drawing(model, offered(model)[0]));
    this.#design = strikes ? { kind: "subset", categories, discards: categories.length - 2, truthful: true } : { kind: "pattern", categories, own: 3, other: 1 };
  }

  /** The question in the respondent's language. */
  question(texts) {
    const label = (key) => ({ [texts.language]: texts.say(`practice.${key}`) });
    const asked = this.#own ?? { label: label("title"), choices: SEASONS.map((name) => ({ name, label: label(name) })) };
    return { ...asked, kind: "select_one", name: "practice", private: { design: { design: this.#design }, by_hand: [], responses: {} }, practice: true };
  }

  value = () => this.#value;
  design = () => this.#design;
  level = (question) => offered(question)[0];
  relevant = () => true;
  store = () => this;
  before = () => null;
  refused = () => false;
  renewed = () => false;
  way = () => null;

  category = () => this.#value;

  enter(_, value) {
    this.#value = value;
  }

  may() {
    this.#table ??= Object.fromEntries(this.#design.categories.map((each) => [each, draw(this.#design, each)]));
    return Object.entries(this.#table).map(([own, response]) => [{ level: null, response }, own]);
  }

  sent = () => this.#value && { level: null, response: this.#table[this.#value] };
}
