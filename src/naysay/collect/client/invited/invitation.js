// Loaded only where a survey invites. An invitation becomes a token that nobody can trace: this device draws a number and
// blinds it; the server signs what it cannot read, and proves that it took the key that the survey publishes.

import { bytesToHex, hexToBytes, voprf } from "../vendor/voprf.js";
import { WORDS } from "./words.js";

const DRAWN = 16; // bytes
const CODE = /^#([A-Za-z0-9_-]{22})$/;
const WHY = { 403: "uninvited", 409: "used", 410: "closed" };

/** The invitation of this link, and the token that it was turned into. */
export class Invitation {
  #survey;
  #memory;
  #address;
  #make; // the page's own way to make elements
  #known; // whether there is an invitation in the link, or a token on the device

  /** The token, in hexadecimal, once it is there. */
  token = null;

  static async of(survey, memory, address, make) {
    const invitation = new Invitation();
    [invitation.#survey, invitation.#memory, invitation.#address, invitation.#make] = [survey, memory, address, make];
    invitation.#known = Boolean(code() || Object.keys(await memory.tokens(() => {})).length);
    addEventListener("hashchange", () => code() && location.reload()); // another invitation was pasted into this tab
    return invitation;
  }

  /** Takes the token, or finds the one that was taken, while a button waits; gives why there is none, or null. */
  async take(button) {
    button.disabled = true;
    const why = await this.#taken(code());
    button.disabled = why === "needed";
    return why;
  }

  async #taken(code) {
    const mark = code && (await digest(code));
    const kept = await this.#memory.tokens((all) => mark && (all[mark] ??= this.#drawn(code)));
    const [place, found] = mark ? [mark, kept[mark]] : (Object.entries(kept).at(-1) ?? []);
    if (!found) return "needed";
    if (!found.token) {
      const why = await this.#ask(place, found);
      if (why) return why;
    }
    this.token = found.token;
    history.replaceState(history.state, "", location.pathname); // a link that is passed on must not invite
    return null;
  }

  /** What is drawn for an invitation, and kept before anything is sent: asked again, the server gives the same. */
  #drawn(code) {
    const drawn = crypto.getRandomValues(new Uint8Array(DRAWN));
    const { blind, blinded } = voprf.blind(this.#data(drawn));
    return { code, drawn: bytesToHex(drawn), blind: bytesToHex(blind), blinded: bytesToHex(blinded) };
  }

  #data(drawn) {
    const text = new TextEncoder().encode(`naysay token for ${this.#survey.questionnaire.name}\n`);
    return Uint8Array.from([...text, ...drawn]);
  }

  async #ask(mark, found) {
    const answer = await fetch(`${this.#address}/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ invitation: found.code, blinded: found.blinded }),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(30_000),
    }).catch(() => null);
    if (!answer?.ok) return WHY[answer?.status] ?? "offline";
    try {
      const { evaluated, proof } = await answer.json();
      const drawn = hexToBytes(found.drawn);
      const [blind, blinded] = [found.blind, found.blinded].map(hexToBytes);
      const key = hexToBytes(this.#survey.invitations.key);
      const value = voprf.finalize(this.#data(drawn), blind, hexToBytes(evaluated), blinded, key, hexToBytes(proof));
      found.token = found.drawn + bytesToHex(value);
    } catch {
      return "unproved";
    }
    await this.#memory.tokens((all) => (all[mark] = { token: found.token }));
    return null;
  }

  /** On the first page: what an invitation is for. */
  welcome(content, texts) {
    this.#say(content, texts, "once", { class: "hint" });
    if (this.#known) return;
    this.refused(content, texts, "needed");
    content.querySelector(".actions .main").disabled = true;
  }

  /** On the first page: why there is no token. */
  refused(content, texts, why) {
    content.querySelector("[role=alert]")?.remove();
    this.#say(content, texts, why, { role: "alert", class: "warning" });
  }

  /** Before anything leaves: what the clock can still tell. */
  review(content, texts) {
    this.#say(content, texts, "wait", { class: "hint" });
  }

  #say(content, { language }, key, attributes) {
    const words = WORDS[language.toLowerCase().split("-")[0]] ?? WORDS.en;
    content.querySelector(".actions").before(this.#make("p", attributes, words[key]));
  }
}

/** The code in the link. It stands behind the #, which browsers do not send. */
const code = () => CODE.exec(location.hash)?.[1];

const digest = async (text) => {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return bytesToHex(new Uint8Array(bytes)).slice(0, 16);
};
