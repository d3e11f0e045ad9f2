import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  ALL_CONSUMERS,
  describeFault,
  FAULT_KINDS,
  type Fault,
  FIRST_CONSUMERS,
  FIRST_TEMPLATED,
  faultSchedule,
  PARTITIONS,
  SESSION_TIMEOUT_MS,
  type Step,
} from '../../../dev/chaos/schedule.ts';

const KINDS = FAULT_KINDS.length;
const ROUNDS = 5;
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

/** The kinds in the list of the page: `**cut, delay PostgreSQL, Kafka**` are four. */
function documentedKinds(): readonly string[] {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'verification.md'), 'utf8');
  const list = /^The faults of a chaos run:\n(.*?)^### /ms.exec(page)?.[1] ?? '';
  return [...list.matchAll(/^- \*\*(.+?)\*\*:/gm)].flatMap(([, names = '']) => kindsOf(names)).toSorted();
}

function kindsOf(names: string): readonly string[] {
  const parts = names.split(', ');
  const last = parts.findIndex((part) => part.includes(' '));
  const [verb = '', object = ''] = parts[last]?.split(/ (.*)/) ?? [];
  const objects = [object, ...parts.slice(last + 1)];
  return [...parts.slice(0, last), verb].flatMap((each) => objects.map((to) => `${each} ${to}`));
}

function steps(seed: number, number: number): readonly Step[] {
  const schedule = faultSchedule(seed);
  return Array.from({ length: number }, () => schedule.next().value);
}

function faults(seed: number): readonly Fault[] {
  return steps(seed, ROUNDS * KINDS)
    .flatMap((step) => step.faults)
    .slice(0, ROUNDS * KINDS);
}

describe('the schedule of faults', () => {
  test('is the same for the same seed', () => {
    expect(steps(1, 100)).toEqual(steps(1, 100));
  });

  test('is another one for another seed', () => {
    expect(steps(1, 20)).not.toEqual(steps(2, 20));
  });

  test('has the kinds that docs/verification.md lists', () => {
    expect(documentedKinds()).toEqual(FAULT_KINDS.toSorted());
  });

  test('has each kind once in each round', () => {
    for (const seed of SEEDS) {
      const kinds = faults(seed).map(({ kind }) => kind);
      for (let round = 0; round < ROUNDS; round += 1) {
        expect(new Set(kinds.slice(round * KINDS, (round + 1) * KINDS)).size).toBe(KINDS);
      }
    }
  });

  test('makes two faults at once now and then, never on the same consumer', () => {
    const pairs = SEEDS.flatMap((seed) => steps(seed, 60)).filter((step) => step.faults.length > 1);
    expect(pairs.length).toBeGreaterThan(100);
    for (const { faults } of pairs) {
      const slots = faults.flatMap((fault) => ('slot' in fault ? [fault.slot] : []));
      expect(new Set(slots).size).toBe(slots.length);
    }
  });

  test.each(SEEDS)('keeps two to four consumers, and touches only those that are there (seed %i)', (seed) => {
    const present = new Set(FIRST_CONSUMERS);
    for (const fault of faults(seed)) {
      if ('slot' in fault) {
        expect(present.has(fault.slot)).toBe(fault.kind !== 'add consumer');
      }
      if (fault.kind === 'add consumer') {
        present.add(fault.slot);
      } else if (fault.kind === 'remove consumer') {
        present.delete(fault.slot);
      }
      expect(present.size).toBeGreaterThanOrEqual(2);
      expect(present.size).toBeLessThanOrEqual(ALL_CONSUMERS.length);
    }
  });

  test('freezes consumers for longer than their session, and poisons partitions that exist', () => {
    for (const fault of SEEDS.flatMap(faults)) {
      if (fault.kind === 'freeze consumer') {
        expect(fault.ms).toBeGreaterThan(SESSION_TIMEOUT_MS);
      } else if (fault.kind === 'poison burst') {
        expect(fault.partition).toBeLessThan(PARTITIONS);
      }
    }
  });

  test('lets two to four other consumers come and go within seconds, some of them at the same time', () => {
    const storms = SEEDS.flatMap(faults).flatMap((fault) => (fault.kind === 'join storm' ? [fault] : []));
    expect(storms.length).toBe(SEEDS.length * ROUNDS);
    for (const { visits } of storms) {
      expect(visits.length).toBeGreaterThanOrEqual(2);
      expect(visits.filter(({ slot }) => ALL_CONSUMERS.includes(slot))).toEqual([]);
      expect(new Set(visits.map(({ slot }) => slot)).size).toBe(visits.length);
      expect(Math.max(...visits.flatMap(({ afterMs, staysMs }) => [afterMs, staysMs]))).toBeLessThanOrEqual(3_000);
    }
    expect(new Set(storms.map(({ visits }) => visits.length))).toEqual(new Set([2, 3, 4]));
  });

  test('makes no other fault while a topic is created again', () => {
    const all = SEEDS.flatMap((seed) => steps(seed, 60));
    const withTopic = all.filter((step) => step.faults.some(({ kind }) => kind === 're-create topic'));
    expect(withTopic.length).toBeGreaterThan(100);
    expect(withTopic.every((step) => step.faults.length === 1)).toBe(true);
  });

  test('drops no topic of the template but one that is there', () => {
    for (const seed of SEEDS) {
      let there = FIRST_TEMPLATED;
      for (const { kind } of faults(seed)) {
        there += kind === 'create topic' ? 1 : 0;
        there -= kind === 'drop topic' ? 1 : 0;
        expect(there).toBeGreaterThan(0);
      }
    }
  });

  test('sets clocks by hours, forward and back, and touches each table in each way', () => {
    const all = SEEDS.flatMap(faults);
    const hours = all.flatMap((fault) => (fault.kind === 'set clock' ? [fault.hours] : []));
    expect([Math.min(...hours), Math.max(...hours), hours.includes(0)]).toEqual([-24, 24, false]);
    const changes = all.flatMap((fault) => (fault.kind === 'alter table' ? [`${fault.change} ${fault.table}`] : []));
    expect(new Set(changes).size).toBe(12);
    const locks = all.flatMap((fault) => (fault.kind === 'lock table' ? [fault.table] : []));
    expect(new Set(locks).size).toBe(4);
  });

  test('spoils the registry in each way', () => {
    const spoiled = SEEDS.flatMap(faults).flatMap((fault) => (fault.kind === 'spoil registry' ? [fault.trouble] : []));
    expect(new Set(spoiled)).toEqual(new Set(['failing', 'garbled', 'forgetful']));
  });

  test.each<[Fault, string]>([
    [
      { kind: 'join storm', slot: 2, visits: [5, 6].map((slot) => ({ slot, afterMs: 10, staysMs: 2_000 })) },
      'join storm: consumers 5, 6 come and go within seconds, and consumer 2 is stopped and started again',
    ],
    [
      { kind: 'alter table', table: 'offsets', change: 'rewrite', ms: 2_000 },
      'alter table: VACUUM FULL, again and again, of offsets, within 2.0 s',
    ],
    [
      { kind: 'rename column', ms: 2_000 },
      'rename column: the table payments does not fit for 2.0 s, and its topic waits alone',
    ],
    [
      { kind: 'limit connections', way: 'role', ms: 2_000 },
      "limit connections: CONNECTION LIMIT 0 for the consumers' role for 2.0 s, and end the consumers' sessions",
    ],
    [
      { kind: 'limit bytes', bytesPerSecond: 50_000, ms: 4_000 },
      "limit bytes: Kafka's quota is 50000 bytes/s for all consumers for 4.0 s",
    ],
    [{ kind: 'set clock', slot: 2, hours: -7, ms: 3_000 }, 'set clock of consumer 2 by -7 h, and back after 3.0 s'],
    [{ kind: 'fill output', slot: 2, ms: 3_000 }, 'fill output of consumer 2, and read none of it for 3.0 s'],
    [
      { kind: 'second group', number: 7 },
      'second group 7: a consumer of it fills the table by key, and has to be refused',
    ],
    [{ kind: 'cut registry', ms: 2_000 }, 'cut registry: break its connections, refuse new ones for 2.0 s'],
    [
      { kind: 'spoil registry', trouble: 'forgetful', ms: 4_000 },
      'spoil registry: it knows no schema when it is first asked for it, for 4.0 s',
    ],
    [{ kind: 're-create topic' }, 're-create topic refunds: delete it, and create it again at once'],
    [{ kind: 'create topic' }, 'create topic: one more that shops.{any} takes, with records'],
    [{ kind: 'drop topic' }, 'drop topic: the oldest one that shops.{any} takes is deleted with its last records'],
    [{ kind: 'delete topic', ms: 6_000 }, 'delete topic refunds, and create it again after 6.0 s'],
  ])('begins what it tells of %j with its kind', (fault, told) => {
    expect(describeFault(fault)).toBe(told);
    expect(told.startsWith(fault.kind)).toBe(true);
  });

  test('can be told to a person', () => {
    expect(describeFault({ kind: 'kill consumer', slot: 2 })).toBe('kill consumer 2 (SIGKILL); it is started again');
    expect(describeFault({ kind: 'cut Kafka', ms: 1_250 })).toBe(
      'cut Kafka: break its connections, refuse new ones for 1.3 s',
    );
  });
});
