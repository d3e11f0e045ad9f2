/** The smallest of float32 that has all of its 24 bits; and digits that always survive it, and that always suffice. */
const LEAST_NORMAL = 2 ** -126;
const SURE_DIGITS = 6;
const MOST_FLOAT_DIGITS = 9;

/** The shortest text that reads back as the same float32: of 0.1 that, where the number itself has 17 digits. */
function float32Text(value: number): string {
  for (let digits = Math.abs(value) < LEAST_NORMAL ? 1 : SURE_DIGITS; digits < MOST_FLOAT_DIGITS; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) {
      return String(rounded);
    }
  }
  return String(Number(value.toPrecision(MOST_FLOAT_DIGITS)));
}

/** A number as JSON has it, but for NaN and the infinities, which are those words; zero keeps its sign. */
export function floatText(value: number, isSingle: boolean): string {
  if (value === 0) {
    return Object.is(value, -0) ? '-0' : '0';
  }
  return isSingle && Number.isFinite(value) ? float32Text(value) : String(value);
}
