/** A number in digits: `digits` divided by ten `scale` times. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly scale: number;
}

/** Digits of a number that are written out at most: an exponent of few bytes may mean gigabytes of zeros. */
const MOST_DIGITS = 1_000;

const DECIMAL_TEXT = /^(-?)([0-9]{1,1000})(?:\.([0-9]{1,1000}))?(?:[eE]([+-]?[0-9]{1,9}))?$/;

/** A number as JSON writes it, with or without leading zeros; `null` for any other text and for endless ones. */
export function decimalOf(text: string): Decimal | null {
  const match = DECIMAL_TEXT.exec(text);
  if (match === null) {
    return null;
  }
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+(?=[0-9])/, '');
  return { isNegative: sign === '-' && digits !== '0', digits, scale: fraction.length - Number(exponent) };
}

/**
 * A number without its exponent, as numeric_out writes it: 1e3 is 1000, 1.50e1 is 15.0, and -0 is 0.
 *
 * @returns `null` for one of more than 1,000 digits
 */
export function withoutExponent(number: string): string | null {
  const decimal = decimalOf(number);
  if (decimal === null) {
    return null;
  }
  const { digits, scale } = decimal;
  const isZero = /^0+$/.test(digits);
  if (isZero && scale <= 0) {
    return '0';
  }
  if (digits.length + Math.abs(scale) > MOST_DIGITS) {
    return null;
  }
  return `${decimal.isNegative && !isZero ? '-' : ''}${withPoint(digits, scale)}`;
}

/** Digits with the point so many places before their end; a negative scale appends zeros. */
function withPoint(digits: string, scale: number): string {
  if (scale <= 0) {
    return digits === '0' ? '0' : digits + '0'.repeat(-scale);
  }
  const padded = digits.padStart(scale + 1, '0');
  return `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** Bytes of a number in two's complement at most: more than numeric has digits for. */
export const MOST_DECIMAL_BYTES = 60_000;
/** NUMERIC_MAX_DISPLAY_SCALE of PostgreSQL. */
export const MOST_SCALE = 16_383;
/** Bytes of a decimal whose digits a number holds, and so many digits behind its point. */
export const FEW_BYTES = 6;
export const FEW_DIGITS = 15;

/**
 * The number whose digits are big-endian bytes in two's complement, as Kafka Connect's Decimal has them.
 *
 * @param scale digits behind the point; a negative one appends zeros
 * @returns `null` for no bytes at all, and for more than numeric can hold
 */
export function twosComplement(bytes: Buffer, scale: number): string | null {
  if (bytes.length === 0 || bytes.length > MOST_DECIMAL_BYTES || Math.abs(scale) > MOST_SCALE) {
    return null;
  }
  const unsigned = BigInt(`0x${bytes.toString('hex')}`);
  const value = BigInt.asIntN(bytes.length * 8, unsigned);
  const digits = (value < 0n ? -value : value).toString();
  return `${value < 0n ? '-' : ''}${withPoint(digits, scale)}`;
}
