/** The types that the server can produce, the preferred one first. */
export function producible(...types: readonly string[]): readonly MediaRange[] {
  return types.map(parseMediaRange).filter((type) => type !== undefined);
}

/**
 * The content type to answer with: the client's own, parameters included, where it names one type, else the first of
 * the server's that it accepts.
 *
 * @param ranges The ranges that the client accepts, best first.
 * @param types The types that the server can produce, preferred first; a wildcard is replaced by the subtype that the
 * client names.
 * @returns `undefined` when the client accepts none of them.
 */
export function negotiate(ranges: readonly MediaRange[], types: readonly MediaRange[]): string | undefined {
  for (const range of ranges) {
    for (const type of types) {
      if (accepts(range, type)) {
        const chosen = isConcrete(range) ? range : type;
        if (isConcrete(chosen)) {
          return formatMediaRange(chosen);
        }
      }
    }
  }
  return undefined;
}

/** One entry of an Accept header, or a type that the server can produce. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  /** Without `q`; names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** `q`, 0 to 1; 1 when left out. */
  readonly quality: number;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * The media ranges of an Accept header, by falling `q`, the more specific first among equals.
 *
 * @param header The header as it came; left out or empty, everything is acceptable.
 * @returns An empty list when the header is not one: then nothing is acceptable, as with Spring.
 */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '') {
    return [{ type: '*', subtype: '*', parameters: new Map(), quality: 1 }];
  }
  const ranges = header.split(',').map(parseMediaRange);
  return ranges.every((range) => range !== undefined)
    ? ranges
        .filter(({ quality }) => quality > 0)
        .sort((a, b) => b.quality - a.quality || specificity(b) - specificity(a))
    : [];
}

/** One media range such as `text/plain;version=0.0.4`; `undefined` when the text is none. */
export function parseMediaRange(text: string): MediaRange | undefined {
  const [essence = '', ...rest] = text.split(';').map((part) => part.trim());
  const [type = '', subtype = '', ...more] = essence === '*' ? ['*', '*'] : essence.toLowerCase().split('/');
  if (!TOKEN.test(type) || !TOKEN.test(subtype) || more.length > 0 || (type === '*' && subtype !== '*')) {
    return undefined;
  }
  const parameters = new Map<string, string>();
  for (const parameter of rest.filter((part) => part !== '')) {
    const [name = '', value = ''] = parameter.split('=', 2).map((part) => part.trim());
    parameters.set(name.toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
  }
  const quality = Number(parameters.get('q') ?? 1);
  parameters.delete('q');
  return quality >= 0 && quality <= 1 ? { type, subtype, parameters, quality } : undefined;
}

/** Whether a type that can be produced satisfies a range; a parameter that both name has to be the same. */
export function accepts(range: MediaRange, produced: MediaRange): boolean {
  return (
    (range.type === '*' || range.type === produced.type) &&
    subtypesMatch(range.subtype, produced.subtype) &&
    [...produced.parameters].every(([name, value]) => sameText(range.parameters.get(name) ?? value, value))
  );
}

/** Whether the range is one type, without a wildcard. */
function isConcrete({ subtype }: MediaRange): boolean {
  return !subtype.includes('*');
}

/** The range as a header has it, without `q`. */
export function formatMediaRange({ type, subtype, parameters }: MediaRange): string {
  return [`${type}/${subtype}`, ...[...parameters].map(([name, value]) => `${name}=${value}`)].join(';');
}

const sameText = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** `*` takes all, `*+json` takes what ends in `+json`, in both directions. */
function subtypesMatch(a: string, b: string): boolean {
  return a === '*' || b === '*' || a === b || matchesSuffix(a, b) || matchesSuffix(b, a);
}

const matchesSuffix = (pattern: string, subtype: string): boolean =>
  pattern.startsWith('*+') && subtype.endsWith(pattern.slice(1));

function specificity({ type, subtype, parameters }: MediaRange): number {
  if (type === '*') {
    return 0;
  }
  return subtype.startsWith('*') ? 1 : 2 + parameters.size;
}
