/** The number below 2^48 that stands for a text of an open domain; such designs draw for numbers. */
export function nameOf(text: string): Promise<number>;
