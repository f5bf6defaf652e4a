// An innocuous question beside the sensitive one: both are answered in the head, or a coin or a die says which one is
// answered. What is tapped is the response; this device never learns an answer. Loaded only where a survey has one.

/** The way of asking, made of functions of the page. */
export function beside({ described, make, modes, naming, option, space, wayByHand }) {
  const done = (question) => wayByHand(question.private.design.design, true);

  function asks(question, page, frame) {
    const { texts, answers, changed } = page;
    const named = naming(question, texts);
    const second = `${frame.input}-second`;
    const said = () => answers.value(question)?.response;
    const { labels } = space(answers.design(question));
    const neither = done(question).name === "triangular" && ` ${texts.say("beside.neither", { neither: texts.quoted(named(labels[1])) })}`;
    const options = labels.map((name) => {
      const onchange = () => (answers.enter(question, { level: null, response: name }), changed());
      return option({ group: frame.input, checked: said() === name, onchange }, named(name));
    });
    const { "aria-labelledby": title, ...rest } = described(frame);
    return make(
      "div",
      { class: "hand" },
      make("p", { id: second, class: "second" }, make("small", {}, texts.say("beside.second"), " "), texts.label(question.private.innocuous)),
      make("fieldset", { "aria-labelledby": `${title} ${second}`, ...rest }, ...options),
      make("p", { class: "hint" }, texts.say("hand.never"), neither),
    );
  }

  return {
    name: "beside",
    byHand: true,
    offers: (question, answers) => Object.keys(question.private.innocuous ?? {}).length > 0 && modes(question).includes("hand") && !answers.spent(question),
    first: (question) => modes(question)[0] === "hand",
    sentence: (question, { texts }) => told(done(question), texts),
    asks,
    why: (question, texts) => texts.say(done(question).name === "crosswise" ? "beside.same" : "beside.why"),
    leaving: (_, { texts }) => texts.say("ways.left"),
    knows: (_, { texts }) => texts.say("beside.knows"),
  };
}

/** What the respondent does, in one sentence or two. */
function told({ name, sensitive, sides }, texts) {
  if (name !== "unrelated") return texts.say(`beside.${name}`);
  return texts.say(sides === 2 ? "beside.coin" : "beside.die", { above: faces(1, sensitive), below: faces(sensitive + 1, sides) });
}

/** Faces of a die; from left to right in every language. */
const faces = (low, high) => `\u2066${low === high ? low : `${low}–${high}`}\u2069`;
