import { describe, expect, it } from '@jest/globals';
import {
  ALL_CONSUMERS,
  describeFault,
  type Fault,
  FIRST_CONSUMERS,
  faultSchedule,
  PARTITIONS,
  SESSION_TIMEOUT_MS,
  type Step,
} from '../../../dev/chaos/schedule.ts';

const KINDS = 12;
const ROUNDS = 5;
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

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
  it('is the same for the same seed', () => {
    expect(steps(1, 100)).toEqual(steps(1, 100));
  });

  it('is another one for another seed', () => {
    expect(steps(1, 20)).not.toEqual(steps(2, 20));
  });

  it('has each kind once in each round', () => {
    for (const seed of SEEDS) {
      const kinds = faults(seed).map(({ kind }) => kind);
      for (let round = 0; round < ROUNDS; round += 1) {
        expect(new Set(kinds.slice(round * KINDS, (round + 1) * KINDS)).size).toBe(KINDS);
      }
    }
  });

  it('makes two faults at once now and then, never on the same consumer', () => {
    const pairs = SEEDS.flatMap((seed) => steps(seed, 60)).filter((step) => step.faults.length > 1);
    expect(pairs.length).toBeGreaterThan(100);
    for (const { faults } of pairs) {
      const slots = faults.flatMap((fault) => ('slot' in fault ? [fault.slot] : []));
      expect(new Set(slots).size).toBe(slots.length);
    }
  });

  it.each(SEEDS)('keeps two to four consumers, and touches only those that are there (seed %i)', (seed) => {
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

  it('freezes consumers for longer than their session, and poisons partitions that exist', () => {
    for (const fault of SEEDS.flatMap(faults)) {
      if (fault.kind === 'freeze consumer') {
        expect(fault.ms).toBeGreaterThan(SESSION_TIMEOUT_MS);
      } else if (fault.kind === 'poison burst') {
        expect(fault.partition).toBeLessThan(PARTITIONS);
      }
    }
  });

  it('can be told to a person', () => {
    expect(describeFault({ kind: 'kill consumer', slot: 2 })).toBe('kill consumer 2 (SIGKILL); it is started again');
    expect(describeFault({ kind: 'cut Kafka', ms: 1_250 })).toBe(
      'cut Kafka: break its connections, refuse new ones for 1.3 s',
    );
  });
});
