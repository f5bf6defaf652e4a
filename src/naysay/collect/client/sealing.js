// Seals what this device remembers with the server's key of the day, without asking; to open it again after a reload
// the server must help, and can until the day is over. The box itself never leaves the device.

import { hex, system } from "../../telemetry/javascript/randomize.js";

const CURVE = { name: "ECDH", namedCurve: "P-256" };

/** What seals for one page, with a number of its own, and opens what another page has sealed. */
export class Sealer {
  #address;
  #point; // half of this page's number, from which the server finds the key again
  #keys = new Map(); // point → keys, of which one opens

  /** `key` is the server's public key of the day. */
  static async of(key, address) {
    const sealer = new Sealer();
    const theirs = await crypto.subtle.importKey("raw", octets(key), CURVE, false, []);
    const ours = await crypto.subtle.generateKey(CURVE, true, ["deriveBits"]);
    const salt = await crypto.subtle.exportKey("raw", ours.publicKey);
    const common = await crypto.subtle.deriveBits({ name: "ECDH", public: theirs }, ours.privateKey, 256);
    const stretched = await crypto.subtle.importKey("raw", common, "HKDF", false, ["deriveBits"]);
    const how = { name: "HKDF", hash: "SHA-256", salt, info: new TextEncoder().encode("naysay box") };
    sealer.#address = address;
    sealer.#point = hex(salt);
    sealer.#keys.set(sealer.#point, [await aes(await crypto.subtle.deriveBits(how, stretched, 256))]);
    return sealer;
  }

  /** Filled up with blanks: the length tells little. */
  async seal(state) {
    const bytes = new TextEncoder().encode(JSON.stringify(state));
    const filled = new Uint8Array(4096 * Math.ceil(bytes.length / 4096)).fill(32);
    filled.set(bytes);
    const iv = system(12);
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, this.#keys.get(this.#point)[0], filled);
    return { point: this.#point, iv: hex(iv), sealed: hex(sealed) };
  }

  /** What was sealed; null where the server no longer has the key. */
  async open({ point, iv, sealed }) {
    if (!this.#keys.has(point)) this.#keys.set(point, await this.#ask(point));
    for (const key of this.#keys.get(point)) {
      const opened = await crypto.subtle.decrypt({ name: "AES-GCM", iv: octets(iv) }, key, octets(sealed)).catch(() => null);
      if (opened) return JSON.parse(new TextDecoder().decode(opened));
    }
    return null;
  }

  async #ask(point) {
    const answer = await fetch(this.#address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ point }),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    if (!answer.ok) throw new RangeError(); // it cannot be asked for a key, which is not to have none
    return Promise.all((await answer.json()).keys.map((key) => aes(octets(key))));
  }
}

const aes = (bits) => crypto.subtle.importKey("raw", bits, "AES-GCM", false, ["encrypt", "decrypt"]);

const octets = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
