/** Control characters and those that change the direction of text: a record's content must not steer a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const escapeCharacter = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`;

/** A text on one line, without control characters. */
export const printable = (text: string): string => text.replaceAll(UNPRINTABLE, escapeCharacter);
