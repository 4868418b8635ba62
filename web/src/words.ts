// Every sentence of the page that no document brings along goes through `t`, in English: the one place where another
// language can come in. A dictionary has the English templates as its keys, as those of `crates/words` do.

export type Dictionary = Readonly<Record<string, string>>;

let dictionary: Dictionary = {};

/** From now on texts are those of a dictionary; what it lacks stays English. */
export function speak(words: Dictionary): void {
  dictionary = words;
}

/** A text with its arguments: `t("{count} in all", { count: "3" })`. */
export function t(template: string, args: Readonly<Record<string, string | number>> = {}): string {
  const words = dictionary[template] ?? template;
  return words.replace(/\{(\w+)\}/g, (hole, name: string) => String(args[name] ?? hole));
}
