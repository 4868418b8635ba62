// Sentences with code between backticks, as the program writes them.

export interface Piece {
  text: string;
  code: boolean;
}

/** Cuts a sentence at its backticks; where they are no pairs, it is left alone, unless it was cut within its code. */
export function pieces(sentence: string): Piece[] {
  const parts = sentence.split("`");
  if (parts.length % 2 === 0 && !sentence.endsWith("…")) return [{ text: sentence, code: false }];
  return parts.map((text, index) => ({ text, code: index % 2 === 1 })).filter((piece) => piece.text !== "");
}
