// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is a placeholder of the configuration
import type { SchemaNode } from '../../../settings/schema/schema.ts';
import { FREE_KEY, listSettings, type SettingEntry } from '../../../settings/schema/setting-list.ts';
import { SettingsSchema } from '../../../settings/settings.ts';

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A random text, such as a password manager makes. */
export const canary = (random: () => number): string =>
  Array.from({ length: 20 }, () => CHARACTERS[Math.floor(random() * CHARACTERS.length)]).join('');

/** The length of a part of a secret that must not be shown. */
const TELLING = 8;

/** The secrets of which a part is in the text. */
export function told(text: string, secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) =>
    Array.from({ length: secret.length - TELLING + 1 }, (_, start) => secret.slice(start, start + TELLING)).some(
      (part) => text.includes(part),
    ),
  );
}

/** All settings of the consumer, those with free names under one name. */
export const SETTINGS: readonly SettingEntry[] = listSettings(SettingsSchema as SchemaNode);

/** Right values of settings with a pattern; the first that fits is taken. */
const EXAMPLES = ['orders', 'kafka:9092', 'https://admin.example:8443/x', 'server:/healthz', '/ops', '24h'];

function example({ pattern = '', default: fallback }: SchemaNode, path: string): unknown {
  const fitting = EXAMPLES.find((text) => new RegExp(pattern, 'u').test(text));
  if (fallback === undefined && fitting === undefined) {
    throw new Error(`no example for ${path}: add one of its form`);
  }
  return fallback ?? fitting;
}

/** A right value: a secret where the schema has one, and text of the same kind where any text will do. */
function rightValue(schema: SchemaNode, path: string, secret: string): unknown {
  if (schema['x-secret'] === 'url') {
    return `postgresql://app:${secret}@db.example:5432/orders?sslmode=require&password=${secret}`;
  }
  if (schema['x-secret'] === true) {
    return secret;
  }
  if (schema.enum !== undefined || schema.anyOf !== undefined) {
    return schema.default ?? schema.enum?.[0];
  }
  switch (schema.type) {
    case 'array':
      return [rightValue(schema.items ?? {}, path, secret)];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return schema.default ?? schema.minimum ?? 1;
    default:
      return schema.pattern === undefined ? `${secret.slice(0, 4)}-app` : example(schema, path);
  }
}

/** Those that are right only beside others, or name files: they are planted one by one. */
const APART = [
  'kafka.sasl.oauth.',
  'kafka.sasl.aws.',
  'kafka.tls.',
  'schemaRegistry.',
  'formats.',
  'server.ssl.',
  'database.tls.',
  'database.rdsIam.',
  'management.endpoint.health.status.',
  'management.endpoint.health.group.',
  'tables[',
];

/** A secret for each place that may hold one, and the document with all of them. */
export function plantedDocument(random: () => number) {
  const secrets: string[] = [];
  const document: Record<string, unknown> = {};
  for (const { segments, path, schema } of SETTINGS.filter(
    (each) => !APART.some((part) => each.path.startsWith(part)),
  )) {
    const secret = canary(random);
    if ((schema['x-secret'] ?? false) !== false) {
      secrets.push(secret);
    }
    const keys = segments.map((key) => (key === FREE_KEY ? 'custom' : key));
    const value = path === 'deadLetters.topic' ? 'letters' : rightValue(schema, path, secret);
    keys.slice(0, -1).reduce<Record<string, unknown>>((section, key) => {
      section[key] ??= {};
      return section[key] as Record<string, unknown>;
    }, document)[keys.at(-1) ?? ''] = value;
  }
  return { document, secrets };
}

const INSERTED = [...':\'"#{}[]*&!|>%@,-?`~$\\= \t\n', ': ', '- ', '? ', '<<: *', '${', '---\n', '&a ', '*a '];

const WRONG = [
  '[1, 2]',
  '{ a: 1 }',
  '12',
  'true',
  '',
  '*nobody',
  '!!int x',
  '|',
  '>',
  '-',
  '"',
  '~',
  '2026-11-22',
  '${X}',
];

/** Changes a text as a slip of the fingers would: characters, lines, indentation, values. */
export function mutate(text: string, random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const at = Math.floor(random() * text.length);
  const lines = text.split('\n');
  const index = Math.floor(random() * lines.length);
  const line = lines[index] ?? '';
  const withLine = (...others: readonly string[]): string => lines.toSpliced(index, 1, ...others).join('\n');
  const changes: readonly (() => string)[] = [
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.slice(0, at) + pick(INSERTED) + text.slice(at),
    () => text.slice(0, at) + text.charAt(at) + text.slice(at),
    () => withLine(),
    () => withLine(line, line),
    () => withLine(' '.repeat(1 + Math.floor(random() * 4)) + line),
    () => withLine(line.replace(/^ {1,2}/, '')),
    () => withLine(line.trimStart()),
    () => withLine(line.replace(/: .*$/, `: ${pick(WRONG)}`)),
    () => withLine(line.replace(/^( *)[^:]*:/, '$1')),
    () => withLine(`${line}${(lines[index + 1] ?? '').trim()}`),
  ];
  return pick(changes)();
}
