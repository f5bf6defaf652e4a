/** The node "design" of a design's JSON, as `design.to_json()` writes it. */
export type Design = { readonly kind: string; readonly [field: string]: unknown };

/** A category: a label, or a pair of them for two questions. */
export type Label = string | number | boolean;
export type Truth = Label | readonly Truth[];

/** Takes a number and gives that many random bytes. */
export type Source = (size: number) => Uint8Array;

/** Random bytes from the browser's cryptographic source. */
export const system: Source;

/** A uniform integer below `bound`, by rejection. A number is at most 2^53. */
export function below(bound: bigint, source: Source): bigint;
export function below(bound: number, source: Source): number;

/** Bytes in hexadecimal. */
export function hex(bytes: ArrayBuffer | ArrayLike<number>): string;

/** `size` random bytes in hexadecimal. */
export function hexadecimal(size: number, source?: Source): string;

/** The design that draws at this level: one of an offer of levels, one of several samples, or the design itself. */
export function channel(design: Design, level?: Label | null): Design;

/** The categories of a design, in order. */
export function categories(design: Design): Truth[];

/** The number of a true category; below 0 where there is none. */
export function placeOf(design: Design, truth: Truth): number;

/** How many categories a design lists, or counts. */
export function sizeOf(design: Design): number;

/** A design in the form in which it is hashed: a pattern of few categories as its table. */
export function asTable(design: Design): Design;

/** The response, as text, of a person whose true category is `truth`. Throws a RangeError if it is no category. */
export function draw(design: Design, truth: Truth, source?: Source): string;

/** The categories that a response, as text, leaves possible, in order. */
export function possible(design: Design, response: string): Truth[];

/** The categories for which a response, as text, speaks: those that are likelier where the truth is among them; else null. */
export function supported(design: Design, response: string): Truth[] | null;

/** The chance that a response speaks for the true category, as a pair of integers; null for designs of other kinds. */
export function spoken(design: Design): [bigint, bigint] | null;

/** Two different categories to be shown to a respondent who draws by hand, every pair with equal chances. */
export function shown(design: Design, source?: Source): Truth[];

/** The chances of a design as integers: `at(place, said)` of a category and a response, over `whole`. */
export function chances(design: Design): { whole: bigint; at(place: number, said: unknown): bigint };

/** The sum over the subsets of that size of the products of their weights. */
export function products(size: number, weights: readonly bigint[]): bigint;

/** The labels of a design's responses, and how many of them a response is a set of; null for pairs. */
export function space(design: Design): { labels: string[]; set: number; number?: boolean } | null;

/** Whether a response of this design, or at some level of this offer, is a set of categories. */
export function sets(design: Design): boolean;

/** The least number of digits, in the base of an affine design, in which all categories differ. */
export function digitsOf(design: Design): bigint;

/** The value of hash number s of an affine design, for a category's number. */
export function hashed(design: Design, s: bigint, number: bigint): bigint;
export function hashed(design: Design, s: number, number: number): number;
