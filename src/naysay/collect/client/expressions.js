// Conditions over answers, evaluated as on the server (tests/reference/expression_vectors.json holds both to it).
// Values are null, booleans, numbers, strings and lists of strings.

/**
 * The value of an expression. `context` has `answer(name)`, `sent(name)`, `today` (YYYY-MM-DD) and, in a constraint,
 * `own`: the value that "." stands for.
 */
export function evaluate(expression, context) {
  switch (expression.kind) {
    case "value":
      return expression.value;
    case "answer":
      return known(expression.of === "." ? context.own : context.answer(expression.of));
    case "sent":
      return known(context.sent(expression.of));
    default:
      return apply(expression, context);
  }
}

/** Whether a condition holds; no condition always does. */
export const holds = (expression, context) => !expression || truth(evaluate(expression, context));

function apply({ op, args }, context) {
  const value = (place) => evaluate(args[place], context);
  if (op === "and") return args.every((each) => truth(evaluate(each, context)));
  if (op === "or") return args.some((each) => truth(evaluate(each, context)));
  if (op === "today") return context.today;
  if (op in UNARY) return UNARY[op](value(0));
  return BINARY[op](value(0), value(1));
}

const truth = (value) => (Array.isArray(value) ? value.length > 0 : Boolean(value));

const UNARY = {
  not: (a) => !truth(a),
  count_selected: (a) => (Array.isArray(a) ? a.length : Number(a !== null && a !== "")),
  string_length: (a) => (typeof a === "string" ? [...a].length : 0),
};

const BINARY = {
  "=": equal,
  "!=": (a, b) => !equal(a, b),
  "<": (a, b) => compare(a, b, (x, y) => x < y),
  "<=": (a, b) => compare(a, b, (x, y) => x <= y),
  ">": (a, b) => compare(a, b, (x, y) => x > y),
  ">=": (a, b) => compare(a, b, (x, y) => x >= y),
  "+": (a, b) => number(a) + number(b),
  "-": (a, b) => number(a) - number(b),
  "*": (a, b) => number(a) * number(b),
  div: (a, b) => number(a) / number(b),
  mod: (a, b) => number(a) % number(b),
  selected: (a, b) => (Array.isArray(a) ? a.includes(named(b)) : typeof a === "string" && a !== "" && a === named(b)),
};

/** The name of a choice; a whole number without quotes is one, too, as other tools allow. */
const named = (value) => (Number.isSafeInteger(value) ? String(value) : value);

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

/** An answer as a value; one of several parts, as that of a grid, is null. */
const known = (answer) => (typeof answer === "object" && !Array.isArray(answer) ? null : (answer ?? null));

const string = (value) => (value === null ? "" : String(value));

/** A number by strict decimal reading; anything else is NaN. */
function number(value) {
  if (typeof value === "number") return value;
  return typeof value === "string" && DECIMAL.test(value) ? Number(value) : NaN;
}

function equal(a, b) {
  if (Array.isArray(a) || Array.isArray(b)) return false;
  if (typeof a === "number" || typeof b === "number") return number(a) === number(b);
  return string(a) === string(b);
}

function compare(a, b, order) {
  if ([a, b].every((each) => typeof each === "string" && DATE.test(each))) return order(a, b);
  return order(number(a), number(b));
}
