import { childSchema, type SchemaNode } from './schema-node.ts';

/** Stands wherever a secret would. */
export const MASK = '******';

const SECRET_PARAMETER = /password|secret|token/i;

function maskParameters(url: URL): void {
  for (const name of new Set(url.searchParams.keys())) {
    if (SECRET_PARAMETER.test(name)) {
      url.searchParams.set(name, MASK);
    }
  }
}

/** The URL that a text is beyond doubt: an @ behind the host is the rest of a password that was not percent-encoded. */
function plainUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url === undefined || url.host === '' || (url.pathname + url.search + url.hash).includes('@') ? undefined : url;
}

/** Whether a text is beyond doubt a URL, with no part of a password elsewhere than where a password stands. */
export const isPlainUrl = (text: string): boolean => plainUrl(text) !== undefined;

/**
 * A URL without what must not be shown: its password and parameters such as libpq's `?password=`. A text that is not a
 * URL, but may hold a password, is masked as a whole.
 */
export function maskUrl(text: string): string {
  const url = plainUrl(text);
  if (url === undefined) {
    return text.includes('@') || SECRET_PARAMETER.test(text) ? MASK : text;
  }
  if (url.password === '' && !SECRET_PARAMETER.test(url.search)) {
    return text;
  }
  if (url.password !== '') {
    url.password = MASK;
  }
  maskParameters(url);
  return url.href;
}

function holdsSecret(node: SchemaNode): boolean {
  return (
    (node['x-secret'] ?? false) !== false ||
    [
      ...Object.values(node.properties ?? {}),
      ...Object.values(node.patternProperties ?? {}),
      ...(node.anyOf ?? []),
      ...(node.items === undefined ? [] : [node.items]),
    ].some(holdsSecret)
  );
}

function maskLeaf(node: SchemaNode, value: unknown): unknown {
  if (node['x-secret'] === 'url' && typeof value === 'string') {
    return maskUrl(value);
  }
  return holdsSecret(node) ? MASK : value;
}

/**
 * A copy of a value with the secrets masked that its schema marks. What stands where the schema expects a section with
 * a secret inside, and what stands at a key the schema does not know, is masked too: it may be a secret at the wrong place.
 */
export function maskSecrets(node: SchemaNode, value: unknown): unknown {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isMap && (node.properties !== undefined || node.patternProperties !== undefined)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => {
        const schema = childSchema(node, key);
        return [key, schema === undefined ? MASK : maskSecrets(schema, child)];
      }),
    );
  }
  const { items } = node;
  if (Array.isArray(value) && items !== undefined) {
    return value.map((item) => maskSecrets(items, item));
  }
  return maskLeaf(node, value);
}
