// What the page says in the respondent's language, and the survey's own texts with their language and direction.

import { make } from "./elements.js";

const NAMES = { en: "English", de: "Deutsch", es: "Español", ar: "العربية" };
const RIGHT_TO_LEFT = new Set(["ar", "arc", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"]);

const base = (tag) => tag.toLowerCase().split("-")[0];

/** The direction in which a language is written. */
export const direction = (tag) => (RIGHT_TO_LEFT.has(base(tag)) ? "rtl" : "ltr");

/** The language in which the page speaks to readers of a language. */
const spoken = (tag) => (Object.hasOwn(NAMES, base(tag)) ? base(tag) : "en");

/** The languages in which the page itself speaks. */
export const SPOKEN = Object.keys(NAMES);

/** Languages that a respondent may choose: those of the survey, the browser's first. */
export function languages({ languages: own }, wished = navigator.languages) {
  const first = preferred(own, wished);
  return [first, ...own.filter((tag) => tag !== first)];
}

/** The first language of the browser that is on offer. Read on the device; never sent. */
export function preferred(offered, wished) {
  const found = wished.map((tag) => offered.find((each) => base(each) === base(tag))).find(Boolean);
  return found ?? offered[0];
}

/** Texts in one language. */
export class Texts {
  /** The texts of a language; of the page's own words, only that language is loaded, with `seldom` all that it has. */
  static async in(language, questionnaire, seldom = false) {
    const { default: words } = await import(`./words/${spoken(language)}.js`);
    const texts = new Texts(language, questionnaire, words);
    return seldom ? texts.whole() : texts;
  }

  constructor(language, questionnaire, words) {
    this.language = language;
    this.direction = direction(language);
    this.words = words;
    this.fallback = questionnaire?.languages[0] ?? "en";
    // Digits as in the data, so that what is read here is what is sent.
    this.locale = `${base(language)}-u-nu-latn`;
    this.gap = () => "…"; // what a text says in place of ${name}
  }

  /** Words of the page, with {gaps} filled. */
  say(key, gaps = {}) {
    const words = key.split(".").reduce((found, part) => found[part], this.words);
    return words.replace(/\{(\w+)\}/g, (_, gap) => gaps[gap]);
  }

  /** These texts with the words that are seldom read. */
  async whole() {
    this.words = { ...this.words, ...(await this.extras()).default };
    return this;
  }

  /** What is seldom read in a language: its words, what is defended and what is not, and what makes parts of the page of it. */
  extras = () => import(`./extras/${spoken(this.language)}.js`);

  /** A text of the survey as a string. */
  plain(label = {}) {
    return this.#found(label)[1];
  }

  /** A text of the survey, marked with its language where that is not the page's. */
  label(label = {}, tag = "span") {
    const [language, text] = this.#found(label);
    const foreign = base(language) !== base(this.language);
    return make(tag, foreign ? { lang: language, dir: direction(language) } : { dir: "auto" }, text);
  }

  /** The language in which its readers call it. */
  nameOf(language) {
    return NAMES[base(language)] ?? new Intl.DisplayNames([language], { type: "language" }).of(language);
  }

  number(value, digits = 2) {
    return new Intl.NumberFormat(this.locale, { maximumFractionDigits: digits }).format(value);
  }

  /** So many minutes, in words. */
  duration(minutes) {
    return new Intl.NumberFormat(this.locale, { style: "unit", unit: "minute", unitDisplay: "long" }).format(minutes);
  }

  /** A number that something is at most, rounded up. */
  bound(value) {
    return this.number(Math.ceil(100 * value - 1e-6) / 100);
  }

  /** "a, b and c" */
  list(parts) {
    return new Intl.ListFormat(base(this.language), { type: "conjunction" }).format(parts);
  }

  quoted(text) {
    return this.say("quoted", { text });
  }

  day(text) {
    return new Intl.DateTimeFormat(this.locale, { dateStyle: "long", timeZone: "UTC" }).format(new Date(`${text}T00:00:00Z`));
  }

  #found(label) {
    const offered = Object.keys(label);
    const tag = [
      offered.find((each) => each === this.language),
      offered.find((each) => base(each) === base(this.language)),
      offered.find((each) => each === this.fallback),
      offered[0],
    ].find(Boolean);
    return tag ? [tag, label[tag].replace(/\$\{([^}]+)\}/g, (_, name) => this.gap(name))] : [this.language, ""];
  }
}
