// Numbers as people write them: with a point or a comma, in Latin or Arabic digits.

const ARABIC = "٠١٢٣٤٥٦٧٨٩";
const PERSIAN = "۰۱۲۳۴۵۶۷۸۹";
const WHOLE = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** The number that a text stands for; null where it stands for none, or for one too large to be exact. */
export function read(typed, whole) {
  const text = [...typed].map(latin).join("").replace(/[,٫]/, ".");
  if (!(whole ? WHOLE : DECIMAL).test(text)) return null;
  const value = Number(text) + 0 || 0; // no negative zero
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

function latin(letter) {
  const place = Math.max(ARABIC.indexOf(letter), PERSIAN.indexOf(letter));
  return place < 0 ? (letter === "−" ? "-" : letter) : String(place);
}
