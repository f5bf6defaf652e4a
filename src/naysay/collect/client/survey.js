// The respondent's page from the first byte to the receipt. Before the respondent confirms it asks the server for the
// survey, for the key of a box that is left from before (sealing.js), and for a token if it was invited (invitation.js);
// alone.js lists all addresses.

import { hasHolder, stranger, watch } from "./alone.js";
import { Answers, chancy, questions } from "./answers.js";
import { problem } from "./checks.js";
import { device } from "./device.js";
import { button, make } from "./elements.js";
import { show } from "./frame.js";
import { Memory } from "./memory.js";
import { review, welcome } from "./pages.js";
import { Practice } from "./practice.js";
import { naming, rare } from "./privacy.js";
import { step } from "./questions.js";
import { below, hex, system } from "../../telemetry/javascript/randomize.js";
import { receipt } from "./receipt.js";
import { body, delivery } from "./sending.js";
import { stepsOf } from "./steps.js";
import { languages, preferred, SPOKEN, Texts } from "./texts.js";
import { flaw } from "./trust.js";
import { Truths } from "./truths.js";
import { loaded } from "./ways.js";

// No sheet of styles but the page's own sees what is in a closed tree: not which option is checked, and not its words.
const root = document.getElementById("page").attachShadow({ mode: "closed" });
const [style, keyboard] = [new CSSStyleSheet(), new CSSStyleSheet()];
style.replaceSync(document.querySelector("style").textContent);
root.adoptedStyleSheets = [style, keyboard];
// A phone's keyboard lies over the page: what stands at the foot of the screen is lifted above it; where that leaves no room
// for what is typed, it waits below.
visualViewport?.addEventListener("resize", () => {
  const over = innerHeight - visualViewport.height * visualViewport.scale;
  keyboard.replaceSync(`.step > .actions { inset-block-end: ${over > 1 && innerHeight - over < 350 ? "auto" : `${over}px`} }`);
});
const address = location.pathname.replace(/\/$/, "");

/** The survey as it is taken on this device: where the respondent is, and what is shown there. */
class Taking {
  constructor(survey, hash, memory, invitation, seldom) {
    this.survey = survey;
    this.seldom = seldom; // whether it says what few surveys say
    this.invitation = invitation; // undefined where anybody can answer
    this.hash = hash;
    this.memory = memory;
    this.answers = new Answers(survey, memory);
    this.truths = new Truths(this.answers, memory);
    this.steps = stepsOf(survey.questionnaire);
    const practice = this.steps.find((step) => step.practice);
    this.practice = practice && new Practice(survey.questionnaire.practice ?? true, practice.items[0]);
    this.resumed = Boolean(this.memory.tab.answers);
    this.place = -1; // −1 welcome, then the steps, then the review
  }

  async start() {
    this.texts = await this.#texts(this.memory.tab.language ?? languages(this.survey.questionnaire)[0]);
    this.memory.watch(() => this.#draw(true));
    watch(() => refuses() && this.truths.forget());
    history.replaceState({ place: -1 }, "");
    addEventListener("popstate", (event) => this.#turn(event.state?.place ?? this.place));
    await this.#draw(false);
  }

  async speak(language) {
    this.texts = await this.#texts(language).catch(() => this.texts);
    this.memory.tab = { ...this.memory.tab, language: this.texts.language };
    await this.#draw(false);
    root.getElementById("language").focus();
  }

  async #texts(language) {
    const texts = await Texts.in(language, this.survey.questionnaire, this.seldom);
    texts.gap = (name) => this.#gap(name, texts);
    return texts;
  }

  /** A plain answer that stands inside another question's text. */
  #gap(name, texts) {
    const question = this.answers.questions.find((each) => each.name === name);
    const value = question && !question.private ? this.answers.sent(question) : null;
    if (value === null) return "…";
    return question.choices && !Array.isArray(value) ? naming(question, texts)(value) : String(value);
  }

  #go(place) {
    history.pushState({ place }, "");
    return this.#turn(place);
  }

  #turn(place) {
    this.place = place;
    return this.#draw(true);
  }

  /** The next step, in a direction, in which something is asked. */
  #beside(direction) {
    let place = this.place + direction;
    while (this.steps[place] && !this.#asks(place)) place += direction;
    return place;
  }

  #asks = (place) => this.steps[place].items.some((item) => this.answers.asks(item));

  /** Draws the page anew. What breaks is said: it must not stand there as it was. */
  #draw = (moved) => this.#drawn(moved).catch(() => failed("missing"));

  async #drawn(moved) {
    const { memory, place, steps } = this;
    if (refuses()) return;
    await memory.begin(place >= 0); // in case that the browser has been told to forget meanwhile
    if (memory.receipt || memory.body) this.truths.forget(); // what is sent is fixed
    const draw = memory.receipt ? this.#sent : memory.body ? this.#sending : place < 0 ? this.#welcome : place < steps.length ? this.#step : this.#review;
    const { content, progress, shown } = await draw.call(this);
    const { texts, survey } = this;
    show(root, content, { texts, survey, moved, progress, speak: (language) => this.speak(language) });
    shown?.();
  }

  #welcome() {
    const { invitation, texts } = this;
    const start = async ({ target }) => {
      const why = await invitation?.take(target);
      return why ? invitation.refused(content, texts, why) : this.#go(this.#beside(1));
    };
    const content = welcome({ ...this, start });
    invitation?.welcome(content, texts);
    return { content };
  }

  async #step() {
    const forward = button("", () => check() && this.#go(this.#beside(1)), { class: "main" });
    const at = this.steps[this.place];
    const [asked, page] = at.practice ? practised(this.practice, this) : [at, this];
    const { element, check } = step(asked, { ...page, forward });
    return { content: element, progress: this.#progress() };
  }

  #review() {
    const { texts, answers, survey } = this;
    const bytes = this.#body();
    const problems = answers.questions.filter((question) => problem(question, this));
    const edit = (question) => this.#go(this.steps.findIndex(({ items, practice }) => !practice && questions(items).includes(question)));
    const content = review(bytes, { texts, answers, problems, edit, confirm: () => this.#confirm(bytes) });
    this.invitation?.review(content, texts, () => this.#confirm(bytes));
    return { content, progress: this.#progress() };
  }

  #body = () => body(this.survey, this.hash, this.memory.id, this.answers.content(), this.invitation?.token);

  /** From here on nothing changes any more: the bytes that were shown are kept, and are what is sent. */
  async #confirm(bytes) {
    const current = () => bytes === this.#body();
    const same = await this.memory.seal(bytes, current);
    await this.#draw(true);
    if (!same && !this.memory.receipt && !this.memory.body) root.querySelector("h1").after(make("p", { role: "alert", class: "warning" }, this.texts.say("review.anew")));
  }

  #sending() {
    const { texts, memory, survey } = this;
    const url = `${address}/answers`;
    const page = delivery(memory.body, { texts, memory, url, preview: survey.preview, changed: () => this.#draw(true) });
    return this.invitation?.held(page, texts) ?? page;
  }

  #sent() {
    const { language } = this.memory.tab;
    this.answers.forget();
    this.memory.tab = language ? { language } : null;
    return { content: receipt(this) };
  }

  /** Where one is among all steps, whether or not they are asked; and the way back. */
  #progress() {
    const [value, most] = [this.place + 1, this.steps.length + 1];
    return { words: this.texts.say("step", { step: value, steps: most }), value, most, back: () => this.#go(this.#beside(-1)) };
  }
}

/** Said where not even the page's own words can be loaded, as in a browser that cannot check what it loads. */
const UNREAD = "This page could not be loaded. Please try again, or with a newer browser.";

/** Says that the page stops, and why, where it is not alone with what was published. */
function refuses() {
  const where = stranger(address);
  if (hasHolder()) failed("held", location.origin + address);
  else if (where) failed("stranger", where);
  return hasHolder() || Boolean(where);
}

async function failed(why, where = "") {
  const missing = why === "missing";
  const texts = await Texts.in(preferred(SPOKEN, navigator.languages), undefined, !missing).catch(() => null);
  if (!texts) return root.replaceChildren(make("main", { lang: "en", role: "alert" }, UNREAD));
  const content = make("div", {}, make("h1", { tabindex: "-1" }, texts.say("failed.title")), make("p", { role: "alert" }, texts.say(missing ? "failed.missing" : `refuses.${why}`)), make("p", { class: "hint" }, make("code", {}, where)));
  if (missing) content.append(make("div", { class: "actions" }, button(texts.say("again"), open, { class: "main" })));
  show(root, content, { texts });
}

/** The practice question as a step, and the page on which it is asked. */
function practised(practice, page) {
  return [{ items: [practice.question(page.texts)], within: [] }, { ...page, answers: practice, truths: practice }];
}

/** The survey, of which nothing changes any more; null where it is none. */
function read(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes), (_, value) => Object.freeze(value));
  } catch {
    return null;
  }
}

async function open() {
  if (refuses()) return;
  if (!isSecureContext) return failed("insecure", `https://${location.host}${location.pathname}`);
  if (!globalThis.crypto?.subtle || !navigator.locks) return failed("old");
  const answer = await fetch(`${address}/survey.json`, { credentials: "omit", referrerPolicy: "no-referrer" }).catch(() => null);
  if (!answer?.ok) return failed(answer?.status === 410 ? "closed" : "missing");
  const bytes = await answer.arrayBuffer();
  const published = read(bytes);
  const where = flaw(published);
  if (where) return failed("broken", where);
  const hash = hex(await crypto.subtle.digest("SHA-256", bytes));
  const lots = chancy(published.questionnaire) && (await import("./lots/lots.js").catch(() => null));
  if (lots === null) return failed("missing");
  const survey = lots ? await lots.take(published, hash, { below, system }) : published;
  const all = questions(survey.questionnaire.items);
  const asked = all.filter((question) => question.private);
  const memory = await Memory.open(survey, hash, asked, answer.headers.get("naysay-key"), `${address}/key`).catch(() => null);
  const invited = survey.invitations && (await import("./invited/invitation.js").catch(() => null));
  const ways = await loaded(asked).catch(() => null);
  if (!memory || invited === null || ways === null) return failed("missing");
  const invitation = invited && (await invited.Invitation.of(survey, memory, address, { make, system }));
  const seldom = ways || survey.preview || !asked.every(device.offers) || asked.some(rare) || all.some(({ right }) => right !== undefined);
  return new Taking(survey, hash, memory, invitation, seldom).start().catch(() => failed("missing"));
}

open();
