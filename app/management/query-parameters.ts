/** Parameters of a query by their names; one that is there several times is a list. */
export type QueryParameters = Readonly<Record<string, string | readonly string[]>>;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Reads a query. A parameter that cannot be percent-decoded is passed over, as Tomcat does: the others still count. */
export function queryParameters(query: string): QueryParameters {
  const values = new Map<string, string[]>();
  for (const parameter of query.split('&').filter((part) => part !== '')) {
    const equals = parameter.indexOf('=');
    const name = decode(equals < 0 ? parameter : parameter.slice(0, equals));
    const value = decode(equals < 0 ? '' : parameter.slice(equals + 1));
    if (name !== undefined && value !== undefined) {
      const known = values.get(name) ?? [];
      known.push(value);
      values.set(name, known);
    }
  }
  // Without a prototype, so that __proto__ is a name like any other.
  const parameters: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, [first = '', ...others]] of values) {
    parameters[name] = others.length === 0 ? first : [first, ...others];
  }
  return parameters;
}
