import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { replayNext } from '../../../app/commands/dead-letters/dead-letters-replay.ts';
import { atPlace, discardLetter } from '../../../app/commands/dead-letters/one-letter.ts';
import type { DatabasePool } from '../../../app/store/connection/database-pool.ts';
import { countLetters, expireLetters, KeptLetters } from '../../../app/store/tables/kept-letters.ts';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import { checkedSettings } from '../../settings/checked-settings.ts';
import { type CommitProxy, type CutMoment, startCommitProxy } from '../stack/commit-proxy.ts';
import { query } from '../stack/database.ts';
import { IS_LONG_RUN } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { aTable } from '../tables/open-tables.ts';
import { openStore } from './open-store.ts';

const DAY_MS = 86_400_000;
const TOPIC = 'orders';
const schema = randomName('schema');
const placeOf = (offset: number) => ({ topic: TOPIC, partition: 0, offset: BigInt(offset) });

let proxy: CommitProxy;
let pools: readonly DatabasePool[];

/** Where records of the topic go. */
interface Target {
  readonly isInRecords: boolean;
  readonly isInTable: boolean;
}

const TARGETS: readonly (readonly [words: string, target: Target])[] = [
  ['records', { isInRecords: true, isInTable: false }],
  ['a table of the user', { isInRecords: false, isInTable: true }],
  ['both', { isInRecords: true, isInTable: true }],
];

let target: Target = { isInRecords: true, isInTable: false };

beforeAll(async () => {
  proxy = await startCommitProxy();
  const { pool, sink } = openStore({ schema });
  await sink.migrate();
  await query(`CREATE TABLE ${schema}.shop (id integer, name text)`);
  pools = [pool, openStore({ schema, url: proxy.url }).pool];
});

/** A letter: whether its value fits by now, perhaps in `records` alone, and for how many days it has been one. */
interface Letter {
  readonly fits: boolean | 'records';
  readonly days: number;
}

/** A name of `null` fits `records` alone. */
const orderOf = (at: number, name: string | null): string => JSON.stringify({ id: at, name });

const ownValue = (fits: Letter['fits'], at: number): string =>
  fits === false ? '{' : orderOf(at, fits === true ? 'own' : null);

async function begin(letters: readonly Letter[]): Promise<void> {
  await query(`TRUNCATE ${schema}.dead_letters, ${schema}.discarded_letters, ${schema}.records, ${schema}.shop`);
  await query(
    `INSERT INTO ${schema}.dead_letters (group_id, topic, partition, "offset", headers, value, reason, error, failed_at)
     SELECT 'group', $1, 0, nth - 1, '[]', convert_to(value, 'UTF8'), 'invalid_json', 'e', now() - days * interval '1 day'
       FROM unnest($2::text[], $3::int[]) WITH ORDINALITY AS letter (value, days, nth)`,
    [TOPIC, letters.map(({ fits }, at) => ownValue(fits, at)), letters.map(({ days }) => days)],
  );
}

const replayed = (at: number, value?: string) => (pool: DatabasePool) =>
  pool.withClient((client) =>
    replayNext(
      client,
      {
        schema,
        dryRun: false,
        overwrite: false,
        maxValueBytes: 1_000,
        keyEncoding: 'text',
        decoderOf: () => null,
        isInRecords: () => target.isInRecords,
        tablesOf: () => (target.isInTable ? [aTable(schema, 'shop', [TOPIC])] : []),
        prepare: () => undefined,
        ...(value !== undefined && { value: Buffer.from(value) }),
      },
      atPlace(placeOf(at)),
      { after: null, prepared: null },
    ),
  );

const discarded = (at: number) => (pool: DatabasePool) =>
  pool.withClient((client) => discardLetter(client, schema, { place: placeOf(at), json: false, because: 'test data' }));

let expired = 0;

const expiring = () => async (pool: DatabasePool) => {
  const topics = await pool.withClient((client) => expireLetters(client, schema, 'group', 90 * DAY_MS));
  expired += topics.length;
};

/** What is done with a letter. */
type Act = 'replay' | 'mend' | 'mend for records' | 'mend wrongly' | 'discard' | 'expire';

const WORK: Readonly<Record<Act, (at: number) => (pool: DatabasePool) => Promise<unknown>>> = {
  replay: (at) => replayed(at),
  mend: (at) => replayed(at, orderOf(at, 'mended')),
  'mend for records': (at) => replayed(at, orderOf(at, null)),
  'mend wrongly': (at) => replayed(at, '{'),
  discard: discarded,
  expire: expiring,
};

interface Step {
  readonly at: number;
  readonly act: Act;
  /** What another process does at the same time, and when its connection is cut. */
  readonly beside: Act | null;
  readonly cut: CutMoment | null;
}

const LETTERS = 4;
const act = fc.constantFrom<Act>('replay', 'mend', 'mend for records', 'mend wrongly', 'discard', 'expire');
const step: fc.Arbitrary<Step> = fc.record({
  at: fc.nat({ max: LETTERS - 1 }),
  act,
  beside: fc.option(act),
  cut: fc.option(fc.constantFrom<CutMoment>('before', 'while', 'after')),
});
const letter = fc.record({ fits: fc.constantFrom(true, false, 'records' as const), days: fc.constantFrom(0, 89, 91) });

async function take({ at, act, beside, cut }: Step): Promise<void> {
  const [pool, other] = pools;
  if (cut !== null) {
    void proxy.cutNextCommit(cut, 'COMMIT');
  }
  const works = [
    pool && WORK[act](at)(pool),
    other && (beside !== null || cut !== null) && WORK[beside ?? act](at)(other),
  ];
  await Promise.allSettled(works);
}

/** Where each letter is now, and its name or value. A row that is not in each table of its topic is half a row. */
async function fates(): Promise<ReadonlyMap<number, readonly string[]>> {
  const rows = await query<{ at: number; fate: string }>(
    `SELECT at, CASE count(*) WHEN $1 THEN 'row ' ELSE 'half a row ' END || coalesce(name, 'nobody') AS fate
       FROM (SELECT "offset"::int AS at, value->>'name' AS name FROM ${schema}.records
             UNION ALL SELECT id, name FROM ${schema}.shop) AS each GROUP BY at, name
    UNION ALL SELECT "offset"::int, 'letter ' || convert_from(value, 'UTF8') FROM ${schema}.dead_letters
    UNION ALL SELECT "offset"::int, 'discarded ' || because || ' ' || convert_from(value, 'UTF8')
      FROM ${schema}.discarded_letters WHERE discarded_by = session_user`,
    [Number(target.isInRecords) + Number(target.isInTable)],
  );
  const found = new Map<number, string[]>();
  for (const { at, fate } of rows) {
    found.set(at, [...(found.get(at) ?? []), fate]);
  }
  return found;
}

/** What may have become of a letter by what was done with it; `undefined`: it expired. */
function possible({ fits, days }: Letter, at: number, steps: readonly Step[]): readonly (string | undefined)[] {
  const own = ownValue(fits, at);
  const acts = steps.flatMap((one) => [...(one.at === at ? [one.act, one.beside] : [])]);
  const anywhere = steps.flatMap((one) => [one.act, one.beside]);
  return [
    `letter ${own}`,
    ...(acts.includes('discard') ? [`discarded test data ${own}`] : []),
    ...(acts.includes('mend') ? ['row mended'] : []),
    ...((acts.includes('mend for records') || (acts.includes('replay') && fits === 'records')) && !target.isInTable
      ? ['row nobody']
      : []),
    ...(acts.includes('replay') && fits === true ? ['row own'] : []),
    ...(anywhere.includes('expire') && days > 90 ? [undefined] : []),
  ];
}

test.each(TARGETS)(
  'each letter for %s has one fate, whatever two processes do and whenever a commit breaks off',
  async (_, its) => {
    target = its;
    const property = fc.asyncProperty(
      fc.array(letter, { minLength: LETTERS, maxLength: LETTERS }),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (letters, steps) => {
        expired = 0;
        await begin(letters);
        for (const each of steps) {
          await take(each);
        }
        // What PostgreSQL still commits of a connection that was cut holds its letter until it is over.
        await query(`BEGIN; LOCK TABLE ${schema}.dead_letters IN SHARE MODE; COMMIT`);
        const found = await fates();
        expect([...found.values()].filter((places) => places.length > 1)).toEqual([]);
        expect(found.size + expired).toBe(LETTERS);
        for (const [at, one] of letters.entries()) {
          expect(possible(one, at, steps)).toContain(found.get(at)?.[0]);
        }
      },
    );
    await fc.assert(property, { numRuns: IS_LONG_RUN ? 100 : 12 });
  },
);

describe('letters that expire', () => {
  const settings = (keep?: string) =>
    checkedSettings({
      kafka: { topics: [TOPIC, 'payments'], groupId: 'group' },
      database: { url: 'postgresql://unused/unused', schema },
      deadLetters: { ...(keep && { keep }) },
    });

  /** Looks once, and reports what it knows. */
  async function lookedAfter(keep?: string) {
    const lines: string[] = [];
    const logger = {
      info: (fields: object, message: string) => lines.push(`${JSON.stringify(fields)} ${message}`),
      warn: (fields: object, message: string) => lines.push(`${JSON.stringify(fields)} ${message}`),
    };
    const ending = new AbortController();
    const clock = { ...systemClock, wait: async () => ending.abort() };
    const [pool] = pools;
    if (pool === undefined) {
      throw new Error('no pool');
    }
    const letters = new KeptLetters(pool, settings(keep), { clock, logger });
    expect(letters.report.waiting).toBeNull();
    await letters.watch(ending.signal);
    return { lines, report: letters.report };
  }

  test('are deleted, counted by topic and logged, and only those that are old enough', async () => {
    await begin([
      { fits: false, days: 91 },
      { fits: true, days: 89 },
    ]);
    const { lines, report } = await lookedAfter('90d');
    expect([...(report.expired ?? [])]).toEqual([
      [TOPIC, 1],
      ['payments', 0],
    ]);
    expect(report.waiting).toEqual([
      { topic: TOPIC, letters: 1, oldestSeconds: expect.closeTo(89 * 86_400, -2) },
      { topic: 'payments', letters: 0, oldestSeconds: 0 },
    ]);
    expect(lines).toEqual([expect.stringMatching(/^\{"topic":"orders","letters":1\} deleted dead letters/)]);
  });

  test('stay where the setting is left out, and of another group', async () => {
    await begin([{ fits: false, days: 1_000 }]);
    expect(await lookedAfter()).toMatchObject({ lines: [], report: { expired: null } });
    await query(`UPDATE ${schema}.dead_letters SET group_id = 'another'`);
    const { report } = await lookedAfter('1d');
    expect([...(report.expired ?? new Map()).values()]).toEqual([0, 0]);
    expect(report.waiting?.map(({ letters }) => letters)).toEqual([0, 0]);
    expect(await query(`SELECT FROM ${schema}.dead_letters`)).toHaveLength(1);
  });

  test('are passed over while a replay holds them', async () => {
    await begin([{ fits: false, days: 91 }]);
    const [pool] = pools;
    await pool?.withClient(async (holder) => {
      await holder.query(`BEGIN; SELECT FROM ${schema}.dead_letters FOR UPDATE`);
      const [, other] = pools;
      expect(await other?.withClient((client) => expireLetters(client, schema, 'group', DAY_MS))).toEqual([]);
      await holder.query('ROLLBACK');
      expect(await other?.withClient((client) => countLetters(client, schema, 'group'))).toHaveLength(1);
    });
  });

  test('cannot be counted where the table is another one: a warning, and nothing is known', async () => {
    await query(`ALTER TABLE ${schema}.dead_letters RENAME failed_at TO failed`);
    const { lines, report } = await lookedAfter();
    await query(`ALTER TABLE ${schema}.dead_letters RENAME failed TO failed_at`);
    expect(report.waiting).toBeNull();
    expect(lines).toEqual([expect.stringContaining('cannot be counted')]);
  });
});
