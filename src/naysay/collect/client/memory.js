// What this device remembers of the surveys of a website. Readable are only marks (which private questions chance was
// drawn for, and whether a message has left) and the token of an invitation until it is spent. What was drawn and what was
// sent lie in a sealed box. It is opened with a key that the server forgets when the day is over: from then on nobody can
// read what is left on the device.
//
// For each private question and level the table of responses to *all* categories is drawn at once. Answering looks up.
// So nothing that a respondent does gives a second draw, and what is stored is the same for every truth.

import { modes, wayByHand } from "./by_hand.js";
import { letters } from "./letters.js";
import { asTable, categories, channel, draw, hex, hexadecimal, shown } from "../../telemetry/javascript/randomize.js";
import { Sealer } from "./sealing.js";

/** Where the options stand that are shown to those who carry a design out themselves, beside the levels. */
export const HAND = "hand";

/** The memory of one survey, shared by all tabs of this browser. */
export class Memory {
  #item;
  #own; // the survey's name behind a slash, which is no name that objects have by themselves
  #questions;
  #marks;
  #sealer;
  #text = null; // what was last read or written
  #clear = { version: 2, questions: {}, surveys: {} };
  #state = nothing();
  #renewed = new Set();
  #full = false; // a server can fill the storage, with words or with a long message, so that a reload would draw anew

  /** Whether a reload finds again what was drawn. */
  lasting = true;

  /** Opens the memory of a survey with these private questions; throws where the server cannot be asked for a key. */
  static async open(survey, hash, questions, key, address) {
    const memory = new Memory();
    // A preview is of one hash, so that a questionnaire can be changed and tried out again.
    memory.#item = survey.preview ? `naysay:${hash}` : "naysay";
    memory.#own = `/${survey.questionnaire.name}`;
    memory.#questions = questions;
    memory.#marks = await marks(survey.questionnaire.items);
    memory.#sealer = await Sealer.of(key, address);
    memory.lasting = writable(memory.#item);
    await memory.#change(() => memory.#clear.box); // sealed anew, so that no number is sent twice
    return memory;
  }

  /** The number of this submission, drawn once. */
  get id() {
    return this.#mine.id;
  }

  /** The bytes that the respondent has confirmed and that the server has not yet acknowledged. */
  get body() {
    return this.#mine.body ?? null;
  }

  /** What was acknowledged; empty once that was deleted or cannot be read any more. */
  get receipt() {
    return this.#clear.surveys[this.#own]?.answered ? (this.#mine.receipt ?? {}) : null;
  }

  /** Calls back when another tab has sent, or has confirmed. */
  watch(settled) {
    addEventListener("storage", async ({ key }) => {
      if (key !== this.#item) return;
      await this.#change(() => {});
      if (this.receipt || this.body) settled();
    });
  }

  /** Until it is sent, makes sure that there is a number for the submission and, where it has begun, that all is drawn. */
  begin(begun) {
    return this.#change(() => {
      if (!this.receipt) this.#mine.id ??= hexadecimal(16);
      if (begun) this.#prepare();
    });
  }

  /** What would be sent for each category at a level, or the options to show; null before it has begun. */
  prepared(question, level, choice = null) {
    const levels = this.#state.tables[this.#entry(question)]?.[String(level)];
    return (choice === null ? levels : levels?.[choice]) ?? null;
  }

  /** What was sent for a private question in a message that the server refused. */
  before(question) {
    return this.#state.sent[this.#entry(question)] ?? null;
  }

  /** Whether any answer to a private question would be a second draw. */
  refused(question) {
    return Boolean(question.private) && (this.#full || this.#entry(question) === null || (!modes(question).includes("device") && this.spent(question)));
  }

  /** Whether the innocuous question of a question was asked beside another one: its answer would protect two. */
  spent({ name }) {
    const { innocuous } = this.#marks.get(name);
    const own = this.#mark({ name });
    const others = Object.entries(this.#clear.questions).filter(([key]) => key !== own);
    return others.some(([, mark]) => mark.innocuous?.some((text) => innocuous.includes(text)));
  }

  /** Whether chance was drawn anew, since what it had drawn before, and what never left, cannot be read any more. */
  renewed(question) {
    return this.#renewed.has(question.name);
  }

  /**
   * Keeps the confirmed bytes: those of the tab that confirmed first. Beside them, tables would tell the truth. Gives
   * whether they were `current()` still, after what other surveys have sent from this device meanwhile.
   */
  async seal(body, current) {
    let same = false;
    const full = this.#full;
    await this.#change(() => {
      same = current();
      if (!same || this.receipt || this.body) return;
      this.#prepare();
      const { answers } = JSON.parse(body);
      for (const question of this.#questions) this.#leave(this.#entry(question), answers[question.name]);
      this.#mine.body = body;
      this.#clear.surveys[this.#own] = { ...this.#clear.surveys[this.#own], confirmed: true };
    });
    if (full === this.#full) return same;
    delete this.#mine.body; // nothing is sent of which no trace could be kept
    this.#state.sent = {};
    return false;
  }

  /** Keeps confirmed bytes readable while the server cannot be reached: when it is back, it may have no key for the box. */
  wait() {
    return this.#change(() => this.body && (this.#clear.surveys[this.#own].body = this.body));
  }

  /** Lets go of confirmed bytes that the server has refused and did not store. */
  release() {
    return this.#change(() => {
      delete this.#mine.body;
      delete this.#clear.surveys[this.#own].body;
    });
  }

  /** The tokens of invitations, by marks of their codes: readable until an answer is acknowledged. They tell no answer. */
  async tokens(edit) {
    await this.#change(() => edit(((this.#clear.surveys[this.#own] ??= {}).tokens ??= {})) && false);
    return this.#clear.surveys[this.#own].tokens;
  }

  /** Keeps the receipt and deletes everything else. */
  acknowledge(receipt) {
    return this.#change(() => {
      this.#clear.surveys[this.#own] = { confirmed: true, answered: true };
      this.#state.surveys[this.#own] = { receipt };
      for (const [key, { survey }] of Object.entries(this.#clear.questions))
        if (survey === this.#own) delete this.#state.tables[key], delete this.#state.sent[key];
    });
  }

  /** Deletes what was sent from this device; the marks stay, so that nobody answers twice. */
  forget() {
    return this.#change(() => delete this.#state.surveys[this.#own]);
  }

  /** Starts over after a preview, which sends nothing. */
  restart() {
    return this.#change(() => {
      [this.#clear.questions, this.#clear.surveys, this.#state] = [{}, {}, nothing()];
    });
  }

  /** What this tab alone remembers until it is closed: the language and plain answers. */
  get tab() {
    return (this.lasting && JSON.parse(sessionStorage.getItem(this.#item + this.#own))) || {};
  }

  set tab(content) {
    if (!this.lasting) return;
    if (content) sessionStorage.setItem(this.#item + this.#own, JSON.stringify(content));
    else sessionStorage.removeItem(this.#item + this.#own);
  }

  get #mine() {
    return (this.#state.surveys[this.#own] ??= {});
  }

  /** The mark that a question has, by its name or by words of its screen in any language; null where no one mark fits. */
  #mark({ name }) {
    const { design, twin, ...read } = this.#marks.get(name);
    const own = this.#own + "/" + name;
    const known = Object.entries(this.#clear.questions);
    let alike = known.filter(([key, mark]) => key === own || alikeIn(read, mark));
    // questions of one survey may share a hint or a heading; under the same one in another survey they ask again
    if (!alike.length) alike = known.filter(([, mark]) => mark.survey !== this.#own && meet(read.above, mark.above));
    if (twin || alike.length > 1 || (alike.length && alike[0][1].design !== design)) return null;
    return alike[0]?.[0] ?? own;
  }

  /** The same, null too where an answer has left and it is no longer known which. */
  #entry(question) {
    const key = question.private ? this.#mark(question) : null;
    const owner = this.#clear.questions[key]?.survey;
    const known = owner === this.#own && (key in this.#state.sent || key in this.#state.tables);
    return this.#clear.surveys[owner]?.confirmed && !known ? null : key;
  }

  /** Draws what each answer to the private questions would be sent as, unless that was drawn before. */
  #prepare() {
    if (this.receipt) return;
    for (const question of this.#questions) {
      const key = this.#entry(question);
      if (key === null || key in this.#state.sent) continue;
      const { texts, above, lines, design, innocuous } = this.#marks.get(question.name);
      const before = this.#clear.questions[key];
      const both = (field, own) => [...new Set([...(before?.[field] ?? []), ...own])];
      const beside = both("innocuous", this.spent(question) ? [] : innocuous);
      this.#clear.questions[key] = { survey: this.#own, design, texts: both("texts", texts), above: both("above", above), lines: both("lines", lines), ...(beside.length && { innocuous: beside }) };
      if (key in this.#state.tables) continue;
      this.#state.tables[key] = prepared(question);
      if (before) this.#renewed.add(question.name);
    }
  }

  #leave(key, answer) {
    if (key === null || answer === null || key in this.#state.sent) return;
    this.#state.sent[key] = answer;
    delete this.#state.tables[key];
  }

  /** Changes what is remembered, one tab after the other. What `edit` gives says that it is to be written anyway. */
  #change(edit) {
    return navigator.locks.request(this.#item, async () => {
      await this.#read();
      const before = JSON.stringify([this.#clear, this.#state]);
      if (edit() || before !== JSON.stringify([this.#clear, this.#state])) await this.#write();
    });
  }

  async #read() {
    const text = this.lasting ? localStorage.getItem(this.#item) : null;
    if (!text || text === this.#text) return; // or the browser was told to forget: this page goes on with what it has
    const clear = JSON.parse(text);
    const opened = clear.box ? await this.#sealer.open(clear.box) : nothing();
    [this.#text, this.#clear, this.#state] = [text, clear, opened ?? this.#state];
    const waiting = clear.surveys[this.#own]?.body;
    if (opened || !waiting) return;
    this.#mine.body = waiting;
    for (const question of this.#questions) this.#leave(this.#mark(question), JSON.parse(waiting).answers[question.name]);
  }

  async #write() {
    if (!this.lasting) return;
    this.#clear.box = await this.#sealer.seal(this.#state);
    this.#text = JSON.stringify(this.#clear);
    try {
      localStorage.setItem(this.#item, this.#text);
    } catch {
      this.lasting = false; // full: the page goes on, without private answers
      this.#full = true;
    }
  }
}

const nothing = () => ({ tables: {}, sent: {}, surveys: {} });

/** By which a private question is known again under other names: whatever is read on its screen, and what draws it. */
async function marks(items) {
  const [found, seen] = [new Map(), []];
  for (const [{ name, kind, label, hint, choices, bins, private: how }, headings] of screens(items)) {
    if (!how) continue;
    const { design, by_hand: byHand, innocuous: beside } = how;
    const [texts, above, lines, innocuous] = await Promise.all([[label], [hint, ...headings], (choices ?? []).map((choice) => choice.label), [beside]].map(digests));
    const names = kind === "select_multiple" ? choices.map((choice) => choice.name) : bins?.map((bin) => [bin.name, bin.below]);
    const drawn = JSON.stringify([kind, names, byHand, design.design], bare);
    const read = { texts, above, lines };
    found.set(name, { ...read, innocuous, design: await digest(drawn), twin: seen.some((mark) => alikeIn(read, mark)) });
    seen.push(read);
  }
  return found;
}

/** Every question with the labels and hints of the groups around it. */
const screens = (items, above = []) => items.flatMap((item) => (item.kind === "group" ? screens(item.items, [...above, item.label, item.hint]) : [[item, above]]));

const digests = (labels) => Promise.all(labels.flatMap((label) => Object.values(label ?? {})).map(letters).filter(Boolean).map(digest));

const meet = (some, others) => some.some((text) => others.includes(text));

/** Whether the words of one question are read on the screen of another. "None of these" stands below many of them. */
const alikeIn = (one, other) => meet(one.texts, [...other.texts, ...other.above, ...other.lines]) || meet([...one.above, ...one.lines], other.texts);

const digest = async (text) => hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

const TOLD = ["name", "notes", "protocol", "alternatives", "yes_no"]; // of a design, and no part of how it draws

const bare = (_, value) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(asTable(value)).filter(([key]) => !TOLD.includes(key)).sort())
    : value;

function prepared(question) {
  const { design, by_hand: byHand } = question.private;
  const levels = design.design.levels?.map((entry) => entry.level) ?? [null];
  const drawn = levels.map((level) => {
    const one = () => table(channel(design.design, level), byHand.includes(String(level)));
    return [String(level), question.kind === "select_multiple" ? each(question.choices, one) : one()];
  });
  // Whatever modes this survey has: another one with the same question, and the same table, may offer the hand.
  return Object.fromEntries(wayByHand(design.design, false) ? [...drawn, [HAND, table(channel(design.design), true)]] : drawn);
}

const each = (choices, one) => Object.fromEntries(choices.map(({ name }) => [name, one()]));

function table(design, byHand) {
  const all = categories(design);
  if (byHand) return all.length > 2 ? { shown: shown(design) } : {};
  return Object.fromEntries(all.map((category) => [category, draw(design, category)]));
}

function writable(key) {
  try {
    for (const storage of [localStorage, sessionStorage]) {
      storage.setItem(`${key}:probe`, "");
      storage.removeItem(`${key}:probe`);
    }
    return true;
  } catch {
    return false;
  }
}
