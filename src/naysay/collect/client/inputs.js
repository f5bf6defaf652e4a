// Inputs by type, and the table of all kinds. Each input takes a question, `page` with `texts`, `changed()` and `store`
// (where the answer is kept), and the ids of the words around it.

import { bin, whole } from "./answers.js";
import { button, make, option, room } from "./elements.js";
import { naming } from "./privacy.js";

export function chooseOne(question, { texts, store, changed }, frame) {
  const chosen = store.value(question);
  const options = question.choices.map(({ name, label }) =>
    option(
      { group: frame.input, checked: name === chosen, onchange: () => (store.enter(question, name), changed()) },
      texts.label(label),
    ),
  );
  return make("fieldset", described(frame), ...options);
}

export function chooseMany(question, page, frame) {
  return question.private ? chooseEach(question, page, frame) : chooseAny(question, page, frame);
}

function chooseAny(question, { texts, store, changed }, frame) {
  const chosen = new Set(store.value(question) ?? []);
  const toggle = (name, on) => {
    chosen[on ? "add" : "delete"](name);
    const names = question.choices.map((choice) => choice.name).filter((each) => chosen.has(each));
    store.enter(question, names.length ? names : null);
    changed();
  };
  const options = question.choices.map(({ name, label }) =>
    option(
      { type: "checkbox", checked: chosen.has(name), onchange: (event) => toggle(name, event.target.checked) },
      texts.label(label),
    ),
  );
  return make("fieldset", described(frame), several(question, texts), ...options);
}

/** Which choices are true, or none of them: nothing ticked and nothing answered are not the same. */
function chooseEach(question, { texts, store, changed }, frame) {
  const names = question.choices.map(({ name }) => name);
  const given = store.value(question);
  const ticked = new Set(names.filter((name) => given?.[name] === "yes"));
  const none = tick(texts.say("asked.none"), Boolean(given) && !ticked.size, (on) => (ticked.clear(), enter(on)));
  const boxes = question.choices.map(({ name, label }) =>
    tick(texts.label(label), ticked.has(name), (on) => (ticked[on ? "add" : "delete"](name), enter(ticked.size > 0))),
  );
  function enter(answered) {
    store.enter(question, answered ? Object.fromEntries(names.map((name) => [name, ticked.has(name) ? "yes" : "no"])) : null);
    boxes.forEach((box, place) => (box.firstChild.checked = ticked.has(names[place])));
    none.firstChild.checked = answered && !ticked.size;
    changed();
  }
  return make("fieldset", described(frame), several(question, texts), ...boxes, none);
}

/** That more than one can be chosen; left out where the question has a hint of its own. */
const several = ({ hint }, texts) => !texts.plain(hint) && make("p", { class: "hint" }, texts.say("asked.several"));

const tick = (label, checked, change) => option({ type: "checkbox", checked, onchange: ({ target }) => change(target.checked) }, label);

/** What a group of inputs is called, and what explains it. */
export const described = (frame) => ({
  "aria-labelledby": frame.title,
  "aria-describedby": `${frame.hint} ${frame.error}`,
});

export function scale(question, { texts, store, changed }, frame) {
  const chosen = store.value(question);
  const points = Array.from({ length: question.high - question.low + 1 }, (_, step) => question.low + step);
  const ends = [`${frame.input}-low`, `${frame.input}-high`];
  const options = points.map((point, place) => {
    const end = place === 0 ? ends[0] : place === points.length - 1 ? ends[1] : null;
    const onchange = () => (store.enter(question, point), changed());
    return option({ group: frame.input, checked: point === chosen, onchange, describedby: end }, texts.number(point));
  });
  const labels = make(
    "div",
    { class: "ends" },
    make("span", { id: ends[0] }, texts.label(question.low_label)),
    make("span", { id: ends[1] }, texts.label(question.high_label)),
  );
  return make("fieldset", described(frame), make("div", { class: points.length > 5 ? "scale long" : "scale" }, ...options), labels);
}

export function grid(question, { texts, store, changed }, frame) {
  const wide = question.choices.length > 3 || question.choices.some(({ label }) => /\S{10}|.{19}/u.test(texts.plain(label)));
  const rows = question.rows.map((row, place) => {
    const options = question.choices.map((choice) => {
      const onchange = () => {
        const blank = Object.fromEntries(question.rows.map(({ name }) => [name, null]));
        store.enter(question, { ...blank, ...store.value(question), [row.name]: choice.name });
        changed();
      };
      const checked = store.value(question)?.[row.name] === choice.name;
      return option({ group: `${frame.input}-${place}`, checked, onchange }, texts.label(choice.label));
    });
    return make("fieldset", { class: "line" }, make("legend", {}, texts.label(row.label)), make("div", { class: wide ? "sides long" : "sides" }, ...options));
  });
  return make("div", { role: "group", ...described(frame) }, ...rows);
}

/** A whole number or a decimal; for a private one the range that it falls into. */
export function number(question, { texts, store, changed }, frame) {
  const whole = question.kind === "integer";
  const hint = `${frame.input}-kind`;
  const range = make("p", { class: "range", role: "status" });
  const kind = make("p", { id: hint, class: "hint" }, texts.say(whole ? "asked.whole" : "asked.decimal"));
  const below = make("div", { class: "room" }, kind, question.private && range);
  const named = ({ label }) => [texts.say("asked.range"), " ", texts.label(label, "b")];
  if (question.private) room(below, range, question.bins.map(named));
  const shown = () => {
    const value = store.value(question);
    const found = typeof value === "number" && question.private ? bin(question, value) : null;
    range.replaceChildren(...(found ? named(found) : []));
    kind.classList.toggle("away", Boolean(found));
  };
  const oninput = (event) => {
    const typed = event.target.value.trim();
    store.enter(question, typed === "" ? null : (read(typed, whole) ?? typed));
    shown();
    changed();
  };
  const input = make("input", {
    ...field(frame, hint),
    type: "text",
    inputmode: whole ? "numeric" : "decimal",
    class: "short",
    maxlength: "40",
    dir: "ltr",
    oninput,
  });
  input.value = store.value(question) ?? "";
  shown();
  return make("div", {}, input, below);
}

/** A text of one line or of several. */
export function words(question, { texts, store, changed }, frame) {
  const hint = `${frame.input}-kind`;
  const oninput = (event) => {
    const typed = event.target.value.replaceAll("\r\n", "\n").replaceAll("\t", " ");
    store.enter(question, typed === "" ? null : typed);
    changed();
  };
  const several = question.lines > 1;
  const shape = several ? { rows: String(question.lines) } : { type: "text" };
  const input = make(several ? "textarea" : "input", { ...field(frame, hint), ...shape, dir: "auto", oninput });
  input.value = store.value(question) ?? "";
  const letters = texts.say("asked.letters", { most: texts.number(question.max_length) });
  return make("div", {}, input, make("p", { id: hint, class: "hint" }, letters));
}

/** A day. A date that is not complete yet is kept as "?", which is no date. */
export function calendar(question, { store, changed }, frame) {
  const oninput = (event) => {
    const { value, validity } = event.target;
    store.enter(question, value || (validity.badInput ? "?" : null));
    changed();
  };
  const input = make("input", { ...field(frame), type: "date", class: "short", max: "9999-12-31", oninput, onblur: oninput });
  input.value = store.value(question) ?? "";
  return input;
}

function field(frame, hint = "") {
  const { "aria-labelledby": labelledby, "aria-describedby": describedby } = described(frame);
  return {
    id: frame.input,
    autocomplete: "off",
    spellcheck: "false",
    "aria-labelledby": labelledby,
    "aria-describedby": `${describedby} ${hint}`.trim(),
  };
}

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

// Numbers as people write them: with a point or a comma, in Latin or Arabic digits.
const ARABIC = "٠١٢٣٤٥٦٧٨٩";
const PERSIAN = "۰۱۲۳۴۵۶۷۸۹";
const WHOLE = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** The number that a text stands for; null where it stands for none, or for one too large to be exact. */
function read(typed, whole) {
  const text = [...typed].map(latin).join("").replace(/[,٫]/, ".");
  if (!(whole ? WHOLE : DECIMAL).test(text)) return null;
  const value = Number(text) + 0 || 0; // no negative zero
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

function latin(letter) {
  const place = Math.max(ARABIC.indexOf(letter), PERSIAN.indexOf(letter));
  return place < 0 ? (letter === "−" ? "-" : letter) : String(place);
}

export function rank(question, { texts, store, changed }, frame) {
  const labels = new Map(question.choices.map(({ name, label }) => [name, label]));
  const spoken = make("p", { class: "spoken", role: "status" });
  const placed = make("ol", { class: "ranked" });
  const waiting = make("div", { class: "unranked" });
  const element = make("div", { role: "group", ...described(frame) }, placed, waiting, spoken);

  const order = () => store.value(question) ?? [];
  const update = (names, said, focus) => {
    store.enter(question, names.length ? names : null);
    draw();
    spoken.textContent = said;
    (focus() ?? element.querySelector("button"))?.focus();
    changed();
  };
  const named = (name) => texts.plain(labels.get(name));
  const move = (name, to) => {
    const names = order().filter((each) => each !== name);
    names.splice(to, 0, name);
    const said = texts.say("asked.moved", { choice: named(name), place: to + 1, places: labels.size });
    update(names, said, () => usable(placed.children[to]));
  };
  const remove = (name) => {
    const said = texts.say("asked.removed", { choice: named(name) });
    update(order().filter((each) => each !== name), said, () => waiting.querySelector("button"));
  };
  const append = (name) => {
    const place = order().length + 1;
    const said = texts.say("asked.moved", { choice: named(name), place, places: labels.size });
    update([...order(), name], said, () => waiting.querySelector("button"));
  };

  const line = (name, place, names) => {
    const step = (to, key, sign) =>
      button(make("span", { "aria-hidden": "true" }, sign), () => move(name, to), {
        "aria-label": texts.say(`asked.${key}`, { choice: named(name) }),
        disabled: to < 0 || to >= names.length,
        class: "icon",
      });
    const out = button(make("span", { "aria-hidden": "true" }, "×"), () => remove(name), {
      "aria-label": texts.say("asked.remove", { choice: named(name) }),
      class: "icon",
    });
    const tools = make("span", { class: "tools" }, step(place - 1, "up", "↑"), step(place + 1, "down", "↓"), out);
    return make("li", {}, make("div", {}, texts.label(labels.get(name)), tools));
  };
  const draw = () => {
    const names = order();
    const rest = [...labels.keys()].filter((name) => !names.includes(name));
    placed.replaceChildren(...names.map(line));
    placed.hidden = !names.length;
    waiting.replaceChildren(
      ...(rest.length ? [make("p", { class: "hint" }, texts.say("asked.unranked"))] : []),
      ...rest.map((name) => button(texts.label(labels.get(name)), () => append(name), {
        class: "choice",
        "aria-label": texts.say("asked.put", { choice: named(name), place: names.length + 1 }),
      })),
    );
  };
  draw();
  return element;
}

/** The first button of a line that can be pressed. */
const usable = (line) => line.querySelector("button:enabled");

/**
 * The kinds of questions: the fields that not all have, what is shown and entered, and what is wrong with an answer, said on
 * this device; the server holds plain answers to the same rules.
 */
export const KINDS = {
  select_one: { fields: "choices private right explanation order", asks: chooseOne },
  select_multiple: { fields: "choices private", asks: chooseMany, wrong: (question, value) => (question.private ? parts(question, value) : null) },
  integer: { fields: "low high bins private", asks: number, wrong: (question, value) => range(question, value, "wrong.whole") },
  decimal: { fields: "low high bins private", asks: number, wrong: (question, value) => range(question, value, "wrong.decimal") },
  text: { fields: "max_length lines", asks: words, wrong: letters },
  date: { fields: "", asks: calendar, wrong: (_, value) => (/^\d{4}-\d{2}-\d{2}$/.test(value) && value >= "0001-01-01" ? null : ["wrong.date"]) },
  rating: { fields: "low high low_label high_label", asks: scale },
  grid: { fields: "rows choices", asks: grid, wrong: rows },
  ranking: { fields: "choices", asks: rank, wrong: (question, value) => (value.length === question.choices.length ? null : ["wrong.ranking"]) },
};

function range(question, value, unreadable) {
  const { low, high } = question;
  if (typeof value !== "number") return [unreadable];
  if (low !== null && value < low) return ["wrong.low", { low }];
  if (high !== null && value > high) return ["wrong.high", { high }];
  if (question.private && !bin(question, value)) return ["wrong.below", { below: question.bins.at(-1).below }];
  return null;
}

function letters(question, value) {
  if (CONTROL.test(value)) return ["wrong.letters"];
  const length = [...value].length;
  return length > question.max_length ? ["wrong.long", { most: question.max_length, length }] : null;
}

function rows(question, value) {
  return question.required && question.rows.some(({ name }) => value[name] === null) ? ["wrong.everyRequired"] : null;
}

/** A private select multiple says yes or no to each choice, or nothing at all. */
export function parts(question, value) {
  if (whole(question, value)) return null;
  return [question.required ? "wrong.everyRequired" : "wrong.every"];
}
