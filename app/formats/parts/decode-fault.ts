import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';

/** Why bytes are no value of their schema. Thrown and caught within a reader, without a stack: garbage is usual. */
export class DecodeFault {
  readonly reason: DeadLetterReason;
  readonly words: string;

  constructor(words: string, reason: DeadLetterReason = 'undecodable') {
    this.reason = reason;
    this.words = words;
  }
}

export const TOO_SHORT = new DecodeFault('a value of it ends behind them');
export const NO_DECIMAL = new DecodeFault('a decimal has no digits');
export const TOO_DEEP = new DecodeFault('its value is nested too deep', 'nesting_too_deep');
export const TOO_LARGE = new DecodeFault('its value is too large as JSON', 'value_too_large');
export const NO_TEXT = new DecodeFault('a string in its value is not UTF-8', 'invalid_utf8');
export const NO_NUMBER = new DecodeFault(
  'its value holds a decimal that PostgreSQL numeric cannot store',
  'number_out_of_range',
);

/** Records, messages, lists and maps within each other. */
export const MOST_NESTED_VALUES = 200;
/** Of any value, whatever its bytes are, and of the largest ones. */
const [SURE_JSON, MOST_JSON] = [512 * 1_024, 64 * 1_048_576];
/** Names of fields and symbols of enums may be a multiple of what they name. */
const JSON_OF_BYTE = 64;

/**
 * How many bytes the parts of a value may have as JSON. It grows with the value, so that a few bytes are no work for
 * long.
 */
export const mostJson = (bytes: number): number => Math.min(SURE_JSON + JSON_OF_BYTE * bytes, MOST_JSON);
