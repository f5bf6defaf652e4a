import type { Design, Label, Source } from "./randomize.js";

/** The report on a number, such as "12.5", under a design of the kind "window". Throws a RangeError outside its bounds. */
export function drawNumber(design: Design, truth: string | number, source?: Source): string;

/** The report on a category under a hierarchy, at a level that lot gives: the level, and the response at it. */
export function drawLevel(design: Design, truth: Label, source?: Source): { level: number; response: string };

/** The response on a category at one level of a hierarchy. */
export function drawGroup(design: Design, truth: Label, source?: Source): string;
