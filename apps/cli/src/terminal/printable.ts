/**
 * Characters that a terminal acts on, or that change how the characters around them look: control characters, escapes,
 * direction overrides, invisible ones, line and paragraph separators, and lone surrogates.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;
const UNSAFE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

const visible = (character: string): string => {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? `\\x${hex(point, 2)}` : `\\u{${hex(point, 4)}}`;
};

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** The text on one line, with the codes of unsafe characters in place of them. */
export const printable = (text: string): string => text.replace(UNSAFE, visible);

/** The same for a text of several lines, such as a log. */
export const printableLines = (text: string): string => text.replaceAll('\r\n', '\n').replace(UNSAFE_IN_LINES, visible);

/** The same for YAML, where only texts in double quotes may contain unsafe characters. */
export const escapeInYaml = (yaml: string): string =>
  yaml.replace(UNSAFE_IN_LINES, (character) => `\\U${hex(character.codePointAt(0) ?? 0, 8)}`);

/** Escapes of the same value for JSON: nothing unsafe remains in the text, and its meaning stays the same. */
export const escapeInJson = (json: string): string =>
  json.replace(UNSAFE_IN_LINES, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${hex(character.charCodeAt(index), 4)}`).join(''),
  );
