// Loaded only where a survey invites. An invitation becomes a token that nobody can trace: this device draws a number and
// blinds it; the server signs what it cannot read, and proves that it took the key that the survey publishes.

import { bytesToHex, hexToBytes, voprf } from "../vendor/voprf.js";

const DRAWN = 16; // bytes
const [LEAST, MOST] = [300_000, 3_600_000]; // milliseconds that a message waits
const CODE = /^#([A-Za-z0-9_-]{22})$/;
const WHY = { 403: "uninvited", 409: "used", 410: "closed" };

/** The invitation of this link, and the token that it was turned into. */
export class Invitation {
  #survey;
  #memory;
  #address;
  #make; // the page's own way to make elements,
  #system; // and its source of chance
  #until = 0; // when a message may leave, in milliseconds since 1970
  #known; // whether there is an invitation in the link, or a token on the device

  /** The token, in hexadecimal, once it is there. */
  token = null;

  static async of(survey, memory, address, { make, system }) {
    const invitation = new Invitation();
    [invitation.#survey, invitation.#memory, invitation.#address] = [survey, memory, address];
    [invitation.#make, invitation.#system] = [make, system];
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
    const drawn = this.#system(DRAWN);
    const { blind, blinded } = voprf.blind(this.#data(drawn), this.#system);
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

  /** Before anything leaves: what the clock can still tell, and a way to let time pass. */
  review(content, texts, confirm) {
    this.#say(content, texts, "wait", { class: "hint" });
    const send = content.querySelector("#confirm");
    const onclick = () => {
      later.disabled = send.disabled = true;
      const [high, low] = this.#system(2);
      this.#until = Date.now() + LEAST + ((MOST - LEAST) * (256 * high + low)) / 65_536;
      confirm();
    };
    const later = this.#make("button", { type: "button", id: "later", onclick }, spoken(texts).later);
    later.disabled = send.disabled;
    send.before(later);
  }

  /** While a message waits: the page that sends it, told to begin later; null where nothing waits. */
  held({ content, shown }, texts) {
    if (Date.now() >= this.#until) return null;
    const [heading, told, again] = ["h1", "[role=status]", "button"].map((part) => content.querySelector(part));
    const send = () => {
      this.#until = 0;
      clearTimeout(timer);
      now.remove();
      shown();
    };
    const timer = setTimeout(() => content.isConnected && send(), this.#until - Date.now()); // else it was drawn anew
    // The page would try at once when the network is back. At its target a listener that captures comes first.
    addEventListener("online", (event) => Date.now() < this.#until && event.stopImmediatePropagation(), { capture: true });
    const now = this.#make("button", { type: "button", class: "main", onclick: send }, spoken(texts).now);
    const line = this.#make("p", {}, spoken(texts).held);
    const kept = this.#make("p", {}, texts.say(this.#memory.lasting ? "sending.safe" : "sending.unsafe"));
    return {
      content,
      shown: () => {
        heading.textContent = texts.say("sending.notYet");
        told.replaceChildren(line, kept);
        again.before(now);
        return this.#memory.wait();
      },
    };
  }

  #say(content, texts, key, attributes) {
    content.querySelector(".actions").before(this.#make("p", attributes, spoken(texts)[key]));
  }
}

const spoken = ({ language }) => WORDS[language.toLowerCase().split("-")[0]] ?? WORDS.en;

/** The code in the link. It stands behind the #, which browsers do not send. */
const code = () => CODE.exec(location.hash)?.[1];

const digest = async (text) => {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return bytesToHex(new Uint8Array(bytes)).slice(0, 16);
};

/** What is said of invitations, in each language. */
export const WORDS = {
  en: {
    once: "Your invitation is for one answer. Start turns it into a ticket without a name: nothing that is stored tells whose ticket an answer came with.",
    wait: "Someone who spies on the server could still compare times and network addresses. Does that worry you? Then let your answers leave later, at a random time, and over another network.",
    later: "Send within the hour",
    held: "Your answers leave at a random time within the hour, so that the clock tells less. Keep this page open. If you close it, they leave when you open it again.",
    now: "Send now",
    needed: "This survey is by invitation. Please open the link that you were sent.",
    uninvited: "This invitation is not known, or was replaced by a newer one. Please open the link that you were sent, or ask for a new one.",
    used: "This invitation was used in another browser or on another device already. Please go on there, or ask for a new one.",
    closed: "This survey is closed and takes no more answers.",
    offline: "The server cannot be reached right now. Nothing is lost. Please try again.",
    unproved: "This server did not sign your ticket with the key that the survey publishes. It could know you by that. Please do not answer here, and tell those who invited you.",
  },
  de: {
    once: "Ihre Einladung gilt für eine Antwort. „Beginnen“ tauscht sie gegen eine Karte ohne Namen: Nichts, was gespeichert wird, verrät, mit wessen Karte eine Antwort kam.",
    wait: "Wer den Server ausspäht, könnte noch Zeiten und Netzadressen vergleichen. Stört Sie das? Dann lassen Sie Ihre Antworten später abgehen, zu einer zufälligen Zeit und über ein anderes Netz.",
    later: "Binnen einer Stunde senden",
    held: "Ihre Antworten gehen zu einer zufälligen Zeit binnen einer Stunde ab, damit die Uhr weniger verrät. Lassen Sie diese Seite offen. Wenn Sie sie schließen, gehen sie ab, sobald Sie sie wieder öffnen.",
    now: "Jetzt senden",
    needed: "An dieser Umfrage nimmt teil, wer eingeladen ist. Bitte öffnen Sie den Link, den Sie bekommen haben.",
    uninvited: "Diese Einladung ist nicht bekannt oder wurde durch eine neuere ersetzt. Bitte öffnen Sie den Link, den Sie bekommen haben, oder bitten Sie um einen neuen.",
    used: "Diese Einladung wurde schon in einem anderen Browser oder auf einem anderen Gerät benutzt. Bitte machen Sie dort weiter, oder bitten Sie um eine neue.",
    closed: "Diese Umfrage ist beendet und nimmt keine Antworten mehr an.",
    offline: "Der Server ist gerade nicht zu erreichen. Nichts ist verloren. Bitte versuchen Sie es noch einmal.",
    unproved: "Dieser Server hat Ihre Karte nicht mit dem Schlüssel unterschrieben, den die Umfrage nennt. Daran könnte er Sie erkennen. Bitte antworten Sie hier nicht, und sagen Sie es denen, die Sie eingeladen haben.",
  },
  es: {
    once: "Su invitación vale para una respuesta. «Empezar» la cambia por un billete sin nombre: nada de lo que se guarda dice con el billete de quién llegó una respuesta.",
    wait: "Quien espía el servidor aún podría comparar horas y direcciones de red. ¿Le preocupa? Entonces deje que sus respuestas salgan más tarde, a una hora al azar y por otra red.",
    later: "Enviar dentro de una hora",
    held: "Sus respuestas salen en un momento al azar, antes de una hora, para que el reloj diga menos. Deje esta página abierta. Si la cierra, salen cuando la abra de nuevo.",
    now: "Enviar ahora",
    needed: "Esta encuesta es por invitación. Abra el enlace que recibió.",
    uninvited: "Esta invitación no se conoce, o fue sustituida por otra más reciente. Abra el enlace que recibió, o pida uno nuevo.",
    used: "Esta invitación ya se usó en otro navegador o en otro dispositivo. Siga allí, o pida una nueva.",
    closed: "Esta encuesta está cerrada y no admite más respuestas.",
    offline: "Ahora no se puede llegar al servidor. No se ha perdido nada. Inténtelo de nuevo.",
    unproved: "Este servidor no firmó su billete con la clave que publica la encuesta. Por eso podría reconocerle. No responda aquí, y avise a quienes le invitaron.",
  },
  ar: {
    once: "دعوتك صالحة لإجابة واحدة. زر «ابدأ» يبدّلها بتذكرة بلا اسم: لا شيء مما يُحفظ يدل على صاحب التذكرة التي جاءت معها الإجابة.",
    wait: "قد يستطيع من يتجسس على الخادم أن يقارن الأوقات وعناوين الشبكة. هل يقلقك هذا؟ إذن دع إجاباتك تُرسل لاحقًا، في وقت تحدده القرعة وعبر شبكة أخرى.",
    later: "أرسل خلال ساعة",
    held: "تُرسل إجاباتك في وقت تحدده القرعة خلال ساعة، كي يدل الوقت على أقل. اترك هذه الصفحة مفتوحة. وإذا أغلقتها فستُرسل عندما تفتحها من جديد.",
    now: "أرسل الآن",
    needed: "هذا الاستبيان بالدعوة. يرجى فتح الرابط الذي أُرسل إليك.",
    uninvited: "هذه الدعوة غير معروفة، أو حلّت محلها دعوة أحدث. يرجى فتح الرابط الذي أُرسل إليك، أو طلب رابط جديد.",
    used: "استُعملت هذه الدعوة من قبل في متصفح آخر أو على جهاز آخر. يرجى المتابعة هناك، أو طلب دعوة جديدة.",
    closed: "هذا الاستبيان مغلق ولا يقبل إجابات أخرى.",
    offline: "لا يمكن الوصول إلى الخادم الآن. لم يضع شيء. يرجى المحاولة مرة أخرى.",
    unproved: "لم يوقّع هذا الخادم تذكرتك بالمفتاح الذي ينشره الاستبيان. وقد يعرفك بذلك. يرجى ألا تجيب هنا، وأن تخبر من دعاك.",
  },
};
