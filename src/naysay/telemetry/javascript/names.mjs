// Names of open domains, for apps that report texts; the respondent's page does not load this module.

/** The number below 2^48 that stands for a text of an open domain; such designs draw for numbers. */
export async function nameOf(text) {
  const octets = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text.normalize("NFC")));
  return new Uint8Array(octets).slice(0, 6).reduce((number, octet) => number * 256 + octet, 0);
}
