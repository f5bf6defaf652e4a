import type { Design, Source } from "./randomize.js";

/** The report on a number, such as "12.5", under a design of the kind "window". Throws a RangeError outside its bounds. */
export function drawNumber(design: Design, truth: string | number, source?: Source): string;
