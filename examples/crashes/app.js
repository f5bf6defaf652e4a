import { categories, supported } from "naysay-draw";
import { Report } from "./reports.js";

const at = (selector) => document.querySelector(selector);
const made = (name, text = "", set = {}) => Object.assign(document.createElement(name), { textContent: text, ...set });

const STATES = {
  waiting: "Waiting for a connection. This very report will be sent, once.",
  sent: "Sent. Thank you.",
  refused: "The server did not take it. Nothing else will be sent.",
};

let survey, report;

/** The report and what became of it; the form, as long as there is none. */
function show(kept) {
  at("form").hidden = Boolean(kept);
  at(".sent").hidden = !kept;
  if (!kept) return;
  const named = supported(survey.design, kept.report);
  at(".sent ul").replaceChildren(...named.map((feature) => made("li", feature)));
  at(".odds").textContent =
    `These ${named.length} of ${categories(survey.design).length} features are sent, and nothing else. Whichever feature is ` +
    `yours, they are at most ${Math.exp(survey.epsilon).toFixed(1)} times as likely as under any other.`;
  at(".status").textContent = STATES[kept.state];
}

function choice(feature) {
  const label = made("label", feature);
  label.prepend(made("input", "", { type: "radio", name: "feature", value: feature, required: true, autocomplete: "off" }));
  return label;
}

function failed(error) {
  at(".problem").textContent = `Nothing was sent: ${error.message}`;
  at(".problem").hidden = false;
}

async function start() {
  if (!navigator.locks) throw new Error("this page must be served over HTTPS, or from this computer");
  survey = await (await fetch("survey.json")).json();
  report = new Report(survey, { address: survey.address, told: show });
  at(".features").replaceChildren(...categories(survey.design).map(choice));
  show(report.kept);
  return report.send();
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const truth = new FormData(event.target).get("feature");
  event.target.reset(); // so that no restored form shows the truth
  report.answer(truth).catch(failed);
});
start().catch(failed);
