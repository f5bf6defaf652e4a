// One report to one question: drawn once, kept until it has arrived, sent as a batch of one.
//
// What is kept is the report, which is public as soon as it is sent. The truth is never kept. A second draw about the same
// truth would tell more than the first, so that a report that did not arrive is sent again, and never drawn again. An id
// goes with it, so that it is counted once also if only the server's answer was lost.

import { draw } from "naysay-draw";

const FIRST_WAIT = 5_000;
const LONGEST_WAIT = 300_000;
const LATER = [408, 429]; // too slow, too many: the server asks for the same again

export class Report {
  /** `survey` is what survey.json holds: question, wave, hash, design. `told(state)` is called whenever the state changes. */
  constructor(survey, { address, told, storage = localStorage }) {
    Object.assign(this, { survey, address, told, storage });
    this.key = ["report", survey.hash, survey.question, survey.wave].join(" ");
    this.wait = FIRST_WAIT;
    addEventListener("online", () => this.send());
  }

  /** null, or { report, state }, where state is "waiting", "sent" or "refused". */
  get kept() {
    return JSON.parse(this.storage.getItem(this.key));
  }

  /** `id` is drawn once with the report, and forgotten as soon as the server has answered. */
  keep(report, state, id) {
    this.storage.setItem(this.key, JSON.stringify({ report, state, id }));
    this.told(this.kept);
  }

  /** Draw for this truth, unless there is a report already; then send what is kept. */
  async answer(truth) {
    await navigator.locks.request(this.key, () => {
      if (!this.kept) this.keep(draw(this.survey.design, truth), "waiting", crypto.randomUUID());
    });
    return this.send();
  }

  /** Send a report that waits. One tab at a time, so that no report is sent twice. */
  send() {
    return navigator.locks.request(this.key, async () => {
      const { report, state, id } = this.kept ?? {};
      if (state !== "waiting") return;
      clearTimeout(this.again);
      const answered = await this.post(report, id);
      if (answered?.ok) return this.keep(report, "sent");
      if (answered?.status < 500 && !LATER.includes(answered.status)) return this.keep(report, "refused");
      this.told(this.kept);
      this.again = setTimeout(() => this.send(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    });
  }

  /** The server's answer; null if there was none. The id says only that this is the same upload again: the server counts
   * it once, and keeps its hash until the next day ends. */
  async post(report, id) {
    const { hash, question, wave } = this.survey;
    const batch = { naysay: "reports", version: 1, design: hash, question, wave, level: "", reports: [report] };
    const how = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" };
    const headers = { "content-type": "application/json", ...(id && { "idempotency-key": id }) };
    return fetch(this.address, { method: "POST", headers, body: JSON.stringify(batch), ...how }).catch(() => null);
  }
}
