import type { Design, Label, Source, Truth } from "./randomize.js";

/** The ledger refuses: nothing was drawn, nothing was charged, and what is stored is as it was. */
export class LedgerError extends Error {}

export type Rule = "fresh" | "kept" | "memory";

/** ε of all answers in the period, in nats. */
export type Spent = { unchanged: number; perChange: number; atMost: number };

/** Something like localStorage; it may be asynchronous. */
export type Storage = {
  getItem(name: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(name: string, text: string): unknown;
};

export type Options = {
  name?: string;
  /** The most ε that may be spent within `days`. */
  cap?: number | null;
  days?: number;
  /** Which line the cap holds: the most about the values, or if they never changed. */
  of?: "at_most" | "unchanged";
  /** Seconds since 1970. */
  clock?: () => number;
  source?: Source;
};

/** What the answers of one device have cost, what it may still say, and the answers that it keeps. */
export class Ledger {
  constructor(storage: Storage, options?: Options);
  /** The answer for a wave, as text, after it was charged and stored. Throws a RangeError if the truth is no category. */
  answer(
    design: Design,
    truth: Truth,
    asked: { question: string; wave: string | number; rule?: Rule | null; level?: Label | null },
  ): Promise<string>;
  /** [question, answer] of one question by lot, from {question: [design, truth]}. It costs the largest ε. */
  oneOf(asked: Record<string, [Design, Truth]>, at: { wave: string | number }): Promise<[string, string]>;
  spent(): Promise<Spent>;
}

/** A report drawn anew. Throws a LedgerError for a design that remembers, whose memo must be kept, and for heavy hitters. */
export function report(design: Design, truth: Truth, source?: Source): string;

/** One more report of a memo, both as text. */
export function redrawn(design: Design, memo: string, source?: Source): string;

/** The response that is kept for a value; of a design that remembers, its memo. */
export function kept(
  design: Design,
  truth: Truth,
  of: <T>(label: string, act: (source: Source) => T) => Promise<T>,
): Promise<string>;

/** What `act` makes of the bytes that only this key gives. */
export function streamed<T>(
  key: Uint8Array,
  question: string,
  design: string,
  label: string,
  act: (source: Source) => T,
): Promise<T>;

/** SHA-256 of what draws. */
export function digest(node: Design): Promise<string>;

export type Cost = { epsilon: number; values: number | null; memo: [number, number, number][] | null };
export function cost(node: Design, rule: Rule): Cost;
export function after(entry: { rule: Rule; epsilon?: number | null; memo?: Cost["memo"] }, n: number): number;
export function further(entry: { rule: Rule; epsilon?: number | null; memo?: Cost["memo"] }): number;
export function most(entry: { rule: Rule } & Cost, n: number): number;
export function epsilon(node: Design): number;
