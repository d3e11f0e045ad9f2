import type { ValueUnit } from '../mapping/table-mapping.ts';
import { type Decimal, decimalOf } from './number-text.ts';

/** Powers of ten by which a unit divides a second. */
const POWERS: Readonly<Partial<Record<ValueUnit, number>>> = {
  'epoch-days': 0,
  'epoch-seconds': 0,
  'epoch-millis': 3,
  'epoch-micros': 6,
  'epoch-nanos': 9,
};

export const isOfEpoch = (unit: ValueUnit | undefined): boolean => unit !== undefined && POWERS[unit] !== undefined;

/** Whether it counts time since 1970 or since midnight. */
export const isOfTime = (unit: ValueUnit | undefined): boolean =>
  isOfEpoch(unit) || (unit?.startsWith('time-') ?? false);

/** What a column takes of a point in time. */
export type TimeKind = 'date' | 'time' | 'timestamp';

const SECONDS_OF_DAY = 86_400n;
/** UTC, behind a time of day. */
const ZONE = '+00';
/** 1970-01-01 in Julian days. */
const JULIAN_EPOCH = 2_440_588n;
/** Digits of fractions of a second that PostgreSQL gets: it rounds to six, from a double, and takes no endless text. */
const MOST_SECOND_DIGITS = 30;
/** The longest numbers here: of nanoseconds, PostgreSQL's last day has 22 digits. */
const MOST_EPOCH_DIGITS = 100;

function boundedDecimal(text: string): Decimal | null {
  const decimal = decimalOf(text);
  return decimal === null || decimal.digits.length + Math.abs(decimal.scale) > MOST_EPOCH_DIGITS ? null : decimal;
}

/**
 * The point in time that a number since 1970-01-01 00:00 UTC means, as text that PostgreSQL reads: a Julian day
 * (documentation, "Date Input"), which reaches over its whole range, then the time of day in UTC. What is finer than a
 * microsecond is there for PostgreSQL to round as it rounds ISO 8601.
 *
 * @param kind what the column takes: a date gets the day, rounded down, a time the time of day
 * @returns `null` when the text is no number, and before the first day that PostgreSQL has
 */
export function timeOfEpoch(text: string, unit: ValueUnit, kind: TimeKind): string | null {
  const known = WHOLE.test(text) ? timeOfCount(Number(text), unit, kind) : null;
  if (known !== null) {
    return known;
  }
  const decimal = boundedDecimal(text);
  if (decimal === null) {
    return null;
  }
  const { seconds, fraction } = secondsOf(decimal, unit);
  const days = floorOf(seconds, SECONDS_OF_DAY);
  const julian = days + JULIAN_EPOCH;
  if (julian < 0n) {
    return null;
  }
  const time = clockTime(Number(seconds - days * SECONDS_OF_DAY), fraction);
  return { date: `J${julian}`, time, timestamp: `J${julian} ${time}` }[kind];
}

/** What a number may hold exactly, without zeros in front. */
const WHOLE = /^(?:0|-?[1-9][0-9]{0,15})$/;

/** A point in time: the Julian day, the second of it, and the fraction of that second in so many digits. */
export interface TimeParts {
  readonly day: number;
  readonly second: number;
  readonly fraction: number;
  readonly digits: number;
}

/** The point in time that a count of a unit means; `null` before PostgreSQL's first day, and beyond exact numbers. */
export function timeParts(count: number, unit: ValueUnit): TimeParts | null {
  const whole = unit === 'epoch-days' ? count * Number(SECONDS_OF_DAY) : count;
  const digits = POWERS[unit] ?? 0;
  const ofSecond = 10 ** digits;
  const ofDay = ofSecond * Number(SECONDS_OF_DAY);
  const rest = whole % ofDay;
  const time = rest < 0 ? rest + ofDay : rest;
  const day = (whole - time) / ofDay + Number(JULIAN_EPOCH);
  const fraction = time % ofSecond;
  return Number.isSafeInteger(whole) && day >= 0
    ? { day, second: (time - fraction) / ofSecond, fraction, digits }
    : null;
}

function timeOfCount(count: number, unit: ValueUnit, kind: TimeKind): string | null {
  const parts = timeParts(count, unit);
  if (parts === null || kind === 'date') {
    return parts && `J${parts.day}`;
  }
  const { day, second, fraction, digits } = parts;
  const time = clockTime(second, fraction === 0 ? '' : String(fraction).padStart(digits, '0'));
  return kind === 'time' ? time : `J${day} ${time}`;
}

/** Whole seconds, rounded down, and the digits behind the point. */
function secondsOf({ isNegative, digits, scale }: Decimal, unit: ValueUnit) {
  const places = scale + (POWERS[unit] ?? 0);
  const scaled = BigInt(digits) * (unit === 'epoch-days' ? SECONDS_OF_DAY : 1n) * 10n ** BigInt(Math.max(0, -places));
  const value = isNegative ? -scaled : scaled;
  const one = 10n ** BigInt(Math.max(0, places));
  const seconds = floorOf(value, one);
  const rest = value - seconds * one;
  const fraction = rest === 0n ? '' : rest.toString().padStart(places, '0').slice(0, MOST_SECOND_DIGITS);
  return { seconds, fraction };
}

function floorOf(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

function clockTime(secondOfDay: number, fraction: string): string {
  const minute = Math.floor(secondOfDay / 60);
  const clock = `${TWO_DIGITS[Math.floor(minute / 60)]}:${TWO_DIGITS[minute % 60]}:${TWO_DIGITS[secondOfDay % 60]}`;
  return `${clock}${fraction === '' ? '' : `.${fraction}`}${ZONE}`;
}

/**
 * The time of day that a number since midnight is. The whole day is 24:00, which PostgreSQL has apart from
 * 00:00.
 *
 * @returns `null` when the text is no number, and for one that is no time of a day
 */
export function timeOfDayText(text: string, unit: ValueUnit): string | null {
  const decimal = boundedDecimal(text);
  if (decimal === null) {
    return null;
  }
  const { seconds, fraction } = secondsOf(decimal, EPOCH_OF_DAY_UNIT[unit] ?? unit);
  const isOfDay = seconds >= 0n && (seconds < SECONDS_OF_DAY || (seconds === SECONDS_OF_DAY && fraction === ''));
  return isOfDay ? clockTime(Number(seconds), fraction).slice(0, -ZONE.length) : null;
}

const EPOCH_OF_DAY_UNIT: Readonly<Partial<Record<ValueUnit, ValueUnit>>> = {
  'time-millis': 'epoch-millis',
  'time-micros': 'epoch-micros',
  'time-nanos': 'epoch-nanos',
};

/** As Java writes years: four digits or more, those before the year 1 with a sign. */
const yearText = (year: bigint): string =>
  year < 0n ? `-${String(-year).padStart(4, '0')}` : `${year > 9_999n ? '+' : ''}${String(year).padStart(4, '0')}`;

/** {@link timeOfEpoch} in ISO 8601, for a column of text. @returns `null` when the text is no number */
export function isoOfEpoch(text: string, unit: ValueUnit): string | null {
  const decimal = boundedDecimal(text);
  if (decimal === null) {
    return null;
  }
  const { seconds, fraction } = secondsOf(decimal, unit);
  const days = floorOf(seconds, SECONDS_OF_DAY);
  const date = civilDate(days);
  const time = clockTime(Number(seconds - days * SECONDS_OF_DAY), fraction).slice(0, -ZONE.length);
  return unit === 'epoch-days' ? date : `${date}T${time}Z`;
}

/** Days of 400 years of the Gregorian calendar, and from 0000-03-01 to 1970-01-01. */
const DAYS_OF_ERA = 146_097n;
const DAYS_TO_EPOCH = 719_468n;

/** The date of a day since 1970-01-01: years are counted from 1 March, so that the leap day is their last. */
function civilDate(days: bigint): string {
  const shifted = days + DAYS_TO_EPOCH;
  const era = floorOf(shifted, DAYS_OF_ERA);
  const day = shifted - era * DAYS_OF_ERA;
  const year = (day - day / 1_460n + day / 36_524n - day / 146_096n) / 365n;
  const ofYear = day - (365n * year + year / 4n - year / 100n);
  const month = (5n * ofYear + 2n) / 153n;
  const ofMonth = ofYear - (153n * month + 2n) / 5n + 1n;
  const isNextYear = month >= 10n;
  const parts = [isNextYear ? month - 9n : month + 3n, ofMonth].map((part) => String(part).padStart(2, '0'));
  return `${yearText(year + era * 400n + (isNextYear ? 1n : 0n))}-${parts.join('-')}`;
}
