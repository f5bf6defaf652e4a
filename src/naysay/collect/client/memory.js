// What this device remembers of a survey: what chance has prepared for every possible answer, never the answer itself.
//
// For each private question and level the table of responses to *all* categories is drawn at once and kept. Answering
// looks up. So nothing that a respondent does gives a second draw, and what is stored is the same for every truth.

import { categories, channel, draw, hexadecimal, shown } from "./randomize.js";

/** The memory of one survey, shared by all tabs of this browser. */
export class Memory {
  #key;
  #inside = null; // the state itself, where the browser does not let the page store anything

  constructor(hash) {
    this.#key = `naysay:${hash}`;
    if (!writable(this.#key)) this.#inside = {};
  }

  /** Whether a reload finds again what was drawn. */
  get lasting() {
    return this.#inside === null;
  }

  /** The number of this submission, drawn once. */
  get id() {
    return this.#state().id;
  }

  /** The bytes that the respondent has confirmed and that the server has not yet acknowledged. */
  get body() {
    return this.#state().body ?? null;
  }

  get receipt() {
    return this.#state().receipt ?? null;
  }

  /** Calls back when another tab has sent, or has confirmed. */
  watch(settled) {
    addEventListener("storage", (event) => {
      if (event.key === this.#key && (this.receipt || this.body)) settled();
    });
  }

  /** Makes sure that there is a number for the submission, until it is sent. */
  begin() {
    return this.#change((state) => {
      if (state.receipt) return;
      state.version = 1;
      state.id ??= hexadecimal(16);
      state.prepared ??= {};
    });
  }

  /** Draws what each answer to these private questions would be sent as, unless that was drawn before. */
  prepare(questions) {
    return this.#change((state) => {
      if (!state.prepared) return;
      for (const question of questions) state.prepared[question.name] ??= prepared(question);
    });
  }

  /** What would be sent for each category at a level, or the options to show; null before `prepare`. */
  prepared(question, level, choice = null) {
    const levels = this.#state().prepared?.[question.name]?.[String(level)];
    return (choice === null ? levels : levels?.[choice]) ?? null;
  }

  /** What was sent for a private question in a message that the server refused. */
  before(question) {
    return this.#state().sent?.[question.name] ?? null;
  }

  /** Keeps the confirmed bytes: those of the tab that confirmed first. Beside them, tables would tell the truth. */
  async seal(body) {
    await this.#change((state) => {
      if (state.receipt || state.body) return;
      state.body = body;
      const { answers } = JSON.parse(body);
      state.sent ??= {};
      for (const name of Object.keys(state.prepared)) {
        if (answers[name] === null) continue;
        state.sent[name] = answers[name];
        delete state.prepared[name];
      }
    });
    return this.body;
  }

  /** Lets go of confirmed bytes that the server has refused and did not store. */
  release() {
    return this.#change((state) => delete state.body);
  }

  /** Keeps the receipt and deletes everything else. */
  acknowledge(receipt) {
    return this.#change((state) => {
      delete state.body;
      delete state.prepared;
      delete state.sent;
      state.receipt = receipt;
    });
  }

  /** Deletes what was sent from this device; that something was sent stays, so that nobody answers twice. */
  forget() {
    return this.#change((state) => (state.receipt = { ...state.receipt, content: null }));
  }

  /** Starts over after a preview, of which nothing was stored. */
  restart() {
    return this.#change((state) => Object.keys(state).forEach((key) => delete state[key]));
  }

  /** What this tab alone remembers until it is closed: the language and plain answers. */
  get tab() {
    return (this.lasting && JSON.parse(sessionStorage.getItem(this.#key))) || {};
  }

  set tab(content) {
    if (!this.lasting) return;
    if (content) sessionStorage.setItem(this.#key, JSON.stringify(content));
    else sessionStorage.removeItem(this.#key);
  }

  #state() {
    return this.#inside ?? JSON.parse(localStorage.getItem(this.#key)) ?? {};
  }

  #change(edit) {
    return navigator.locks.request(this.#key, () => {
      const state = this.#state();
      edit(state);
      if (this.#inside === null) this.#write(state);
    });
  }

  #write(state) {
    try {
      localStorage.setItem(this.#key, JSON.stringify(state));
    } catch {
      this.#inside = state; // full: the page goes on, and says that a reload would forget
    }
  }
}

function prepared(question) {
  const { design, by_hand: byHand } = question.private;
  const levels = design.design.levels?.map((entry) => entry.level) ?? [null];
  const drawn = levels.map((level) => {
    const one = () => table(channel(design.design, level), byHand.includes(String(level)));
    return [String(level), question.kind === "select_multiple" ? each(question.choices, one) : one()];
  });
  return Object.fromEntries(drawn);
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
