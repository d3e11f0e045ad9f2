import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ask } from './ask.ts';
import { bodyShape } from './body-shape.ts';
import { type Capture, contractHeaders, readCaptures } from './capture.ts';
import {
  ABSENT_FAMILIES,
  ABSENT_LABELS,
  DIFFERENCES,
  FOREIGN_KEYS,
  type Part,
  TRANSPORT_HEADERS,
} from './differences.ts';
import { type FamilyShapes, familyShapes } from './exposition-shape.ts';
import { type RunningManagement, settingsWith, startManagement } from './running-management.ts';

const CAPTURES = readCaptures();
const COMPLETE_SCRAPES = CAPTURES.filter(({ name }) => /^prometheus-(any|openmetrics-[23])$/.test(name));

let running: RunningManagement;

/** The captured service showed system and process, and named itself. */
const SETTINGS = settingsWith(
  {
    metrics: { tags: { application: 'orders-consumer' } },
    info: { os: { enabled: true }, process: { enabled: true } },
  },
  { info: { app: { name: 'orders-consumer', description: 'Kafka into PostgreSQL', license: 'Apache-2.0' } } },
);

beforeAll(async () => {
  running = await startManagement({ settings: SETTINGS });
  await ask(running.address.port, { url: '/actuator/health' });
});

afterAll(() => running.management.stop());

const answerTo = ({ method, url, requestHeaders }: Capture) =>
  ask(running.address.port, { method, url, headers: { host: '127.0.0.1:9180', ...requestHeaders } });

const differingParts = (name: string): readonly Part[] =>
  DIFFERENCES.filter(({ captures }) => captures.includes(name)).flatMap(({ parts }) => parts);

/** Of the types that an answer 406 names, those that can be had here. */
const withoutProtobuf = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(/, application\/vnd\.google\.protobuf.*$/, ''),
    ]),
  );

test.each(CAPTURES.map((capture) => [capture.name, capture] as const))(
  'answers as Spring Boot does: %s',
  async (name, capture) => {
    const answer = await answerTo(capture);
    const differing = differingParts(name);
    if (differing.includes('all')) {
      expect([name, answer.status]).not.toEqual([name, capture.status]);
      return;
    }
    expect(answer.status).toBe(capture.status);
    if (!differing.includes('headers')) {
      expect(contractHeaders(answer.headers)).toEqual(withoutProtobuf(capture.headers));
    }
    if (!differing.includes('body') && !COMPLETE_SCRAPES.includes(capture)) {
      expect(bodyShape(answer.body, answer.headers['content-type'])).toEqual(
        bodyShape(capture.body, capture.headers['content-type']),
      );
    }
  },
);

const only = (shapes: FamilyShapes, names: FamilyShapes) => [...shapes].filter(([name]) => names.has(name));

test.each(COMPLETE_SCRAPES.map((capture) => [capture.name, capture] as const))(
  'has every family of the scrape, in its order, with its type and labels: %s',
  async (_name, capture) => {
    const [ours, theirs] = [familyShapes((await answerTo(capture)).body), familyShapes(capture.body)];
    expect(theirs.size).toBeGreaterThan(50);
    expect(only(ours, theirs)).toEqual([...theirs]);
  },
);

test('reads every capture there is, and every difference is one', () => {
  expect(CAPTURES.length).toBeGreaterThan(120);
  const names = CAPTURES.map(({ name }) => name);
  const differing = DIFFERENCES.flatMap(({ captures }) => captures);
  expect(differing.filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(differing).size).toBe(differing.length);
});

/** Rows of the document's table of differences, without its head. */
function documentedDifferences(): readonly string[] {
  const document = readFileSync(new URL('../../../docs/monitoring-interface.md', import.meta.url), 'utf8');
  const [, table = ''] = /^\| Request \|.*\n\| --- \|.*\n((?:\|.*\n)+)/m.exec(document) ?? [];
  return table.trim().split('\n');
}

test('the document has one table of the same differences, with the same reasons, and no others', () => {
  const rows = documentedDifferences();
  const ofCaptures = DIFFERENCES.map(
    ({ captures, reason }) => `| ${captures.map((name) => `\`${name}\``).join(', ')} | ${reason} |`,
  );
  const others = [...ABSENT_FAMILIES, ...FOREIGN_KEYS, ABSENT_LABELS, TRANSPORT_HEADERS];
  expect(rows).toEqual(expect.arrayContaining(ofCaptures));
  for (const { reason } of others) {
    expect(rows.filter((row) => row.endsWith(`| ${reason} |`))).toHaveLength(1);
  }
  expect(rows).toHaveLength(ofCaptures.length + others.length);
});
