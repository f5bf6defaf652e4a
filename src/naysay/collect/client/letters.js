// By which a text is known again: its letters and digits that are seen, so that a blank more or less makes no new one.

export const letters = (text) => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu, "");
