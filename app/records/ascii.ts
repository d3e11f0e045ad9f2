/** Bytes of ASCII that the formats of JSON and of COPY give a meaning. */
export const TAB = 0x09;
export const NEWLINE = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const SLASH = 0x2f;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const LIST_BEGIN = 0x5b;
export const BACKSLASH = 0x5c;
export const LIST_END = 0x5d;
export const LOWER_E = 0x65;
export const LOWER_U = 0x75;
export const OBJECT_BEGIN = 0x7b;
export const OBJECT_END = 0x7d;
/** The bit that the lower-case form of a letter has, and the upper-case form lacks. */
export const LOWER_CASE = 0x20;
/** The first byte beyond ASCII: a part of a character of several bytes in UTF-8. */
export const FIRST_BEYOND_ASCII = 0x80;
