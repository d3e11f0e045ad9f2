import fc from 'fast-check';

export const strings = (...each: readonly string[]) => fc.constantFrom(...each).map((text) => JSON.stringify(text));

/** Characters that some format escapes, divides by, or leaves out. */
const CHARACTERS = [...'ab ,;:{}[]()"\'\\/.-_+=\t\n\r\b\u0001NDx0', 'NULL', 'é', '𝄞', '\u2028', '\ufeff', '\u00a0'];
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom(...CHARACTERS), fc.string({ minLength: 1, maxLength: 1 })),
});

/** A string with each character escaped, now and then. */
export const anyString = fc
  .tuple(anyText, fc.integer({ min: 0, max: 3 }))
  .map(([text, way]) =>
    way > 0
      ? JSON.stringify(text.replaceAll('\0', ''))
      : `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`,
  );

export const digits = fc.oneof(
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.integer({ min: -40_000, max: 40_000 }).map(String),
  fc.constantFrom(
    '0',
    '-0',
    '1',
    '-0.0',
    '0e5',
    '0E-3',
    '1e3',
    '1.5e1',
    '1.50E+1',
    '10e-1',
    '100e-2',
    '-2e4',
    '1e18',
    '1e19',
  ),
  fc.constantFrom(
    '32767',
    '-32769',
    '2147483648',
    '-2147483648',
    '9223372036854775807',
    '9223372036854775808',
    '1e400',
    '1e-400',
  ),
  fc.tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(1e9)).map(([whole, part]) => `${whole}.${part}`),
  fc.tuple(fc.integer(), fc.nat(999), fc.integer({ min: -40, max: 40 })).map(([n, part, e]) => `${n}.${part}e${e}`),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
);

export const numbers = fc.oneof(
  digits,
  digits.map((text) => `" ${text}"`),
  strings('NaN', 'Infinity', '-inf', '0x1F', '1_000', ''),
);

export const day = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
const zone = fc.constantFrom('', 'Z', '+02', '-05:30', ' America/New_York', ' EST', ' BC', ' Nowhere/Now');
export const times = fc.oneof(
  fc.tuple(day, zone).map(([date, end]) => JSON.stringify(date.toISOString().slice(0, -1) + end)),
  fc
    .tuple(day, fc.nat(1e9), zone)
    .map(([at, nanos, end]) => JSON.stringify(`${at.toISOString().slice(0, 19)}.${nanos}${end}`)),
  day.map((date) => JSON.stringify(date.toISOString().slice(0, 10))),
  fc.tuple(day, zone).map(([date, end]) => JSON.stringify(date.toISOString().slice(11, 23) + end)),
  strings(
    'epoch',
    'infinity',
    '-Infinity',
    'allballs',
    '20240101',
    'J2451187',
    'Jan 5 2024',
    '2024-02-30',
    '24:00:00',
    '',
  ),
  strings('now', 'TODAY', ' today 12:00', 'tomorrow', '2024-01-01 now', 'yesterday,', 'nowhere', 'Monday 2024-01-01'),
  fc.constantFrom('20240101', '1704103200', '0', '1e3', 'true'),
);

export const bytes = fc.oneof(
  fc.uint8Array().map((each) => JSON.stringify(Buffer.from(each).toString('base64'))),
  fc.uint8Array().map((each) => JSON.stringify(Buffer.from(each).toString('base64url'))),
  strings('\\x01ff', '01ff', 'AQ=', 'A', 'AQ==\n', '%', 'AR=='),
);

/** Laid out with blanks, and with equal names now and then. */
export const documents = fc.oneof(
  fc.tuple(fc.json(), fc.nat(2)).map(([json, blanks]) => JSON.stringify(JSON.parse(json), null, blanks)),
  anyString.map((text) => `{"a": ${text} ,\t"a":\n[1.50e1, ${text}]}`),
  digits.map((text) => `[ ${text}, {"z":${text},"a":-0} ]`),
);

/** Lists of these, of one to three dimensions, most of them with equal lengths. */
export const lists = (elements: fc.Arbitrary<string>) => {
  const each = fc.oneof({ weight: 9, arbitrary: elements }, { weight: 1, arbitrary: fc.constant('null') });
  const row = fc.array(each, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`);
  const pairs = fc.array(fc.tuple(each, each), { maxLength: 3 });
  return fc.oneof(
    row,
    pairs.map((items) => `[${items.map(([a, b]) => `[${a},${b}]`).join()}]`),
    pairs.map((items) => `[[${items.map(([a, b]) => `[ ${a} ,${b}]`).join()}]]`),
    fc.array(row, { maxLength: 3 }).map((items) => `[${items.join()}]`),
    strings('{}', '{1,2}', '{{1},{2}}', '{NULL,"a,\\\\b"}', '{1', '[2:3]={1,2}'),
  );
};

export const parts = fc
  .dictionary(fc.constantFrom('a', 'B c', 'at', 'raw', 'list', 'rule', 'other'), fc.nat(9), { noNullPrototype: true })
  .chain((names) =>
    fc.tuple(...Object.keys(names).map((name) => partOf(name).map((value) => `${JSON.stringify(name)}: ${value}`))),
  )
  .map((members) => `{${members.join(', ')}}`);

function partOf(name: string): fc.Arbitrary<string> {
  const common: Readonly<Record<string, fc.Arbitrary<string>>> = {
    a: fc.nat().map(String),
    at: day.map((date) => JSON.stringify(date)),
    raw: bytes,
    list: lists(fc.nat().map(String)),
    rule: fc.nat(5).map(String),
  };
  const rare = fc.oneof(times, digits, documents, fc.constant('null'));
  return fc.oneof({ weight: 12, arbitrary: common[name] ?? anyString }, { weight: 1, arbitrary: rare });
}
