/** The bits of a value, as a text of 0s and 1s; numbers above 2^53 are given as bigint. */
export function bitsOf(design: object, value: string | number | bigint): string;

/** A report as text: the group that the device draws, and a number, joined by ";". */
export function report(design: object, value: string | number | bigint, source?: (size: number) => Uint8Array): Promise<string>;

/** The number of a value (of all its bits), and how a report on it is drawn from a source. Throws a RangeError for no value. */
export function reporter(
  design: object,
  value: string | number | bigint,
): Promise<{ place: bigint; by: (source: (size: number) => Uint8Array) => string }>;
