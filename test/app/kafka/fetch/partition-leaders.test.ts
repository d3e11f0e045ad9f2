import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { PartitionLeaders } from '../../../../app/kafka/fetch/partition-leaders.ts';
import type { Clock } from '../../../../app/stream/ports/clock.ts';

const clock: Clock = { now: () => new Date(0), steady: () => new Date(0), wait: async () => undefined };

test.each([0, 1, 2, 3, 4, 5])(
  'a look that is asked for %d microtasks after the end of another one is made',
  async (ticks) => {
    let asked = 0;
    const metadata = async () => {
      asked += 1;
      return { clusterId: 'stub', brokers: [], topicMetadata: [] };
    };
    const onFound = (): boolean => {
      if (asked === 1) {
        void (async () => {
          for (let tick = 0; tick < ticks; tick += 1) await null;
          leaders.look();
        })();
      }
      return false;
    };
    const search = { topics: () => ['orders'], silent: () => new Set<number>(), onFound, onFailed: () => undefined };
    const leaders = new PartitionLeaders({ metadata }, clock, search);
    leaders.look();
    for (let nth = 0; nth < 10; nth += 1) await turn();
    expect(asked).toBe(2);
  },
);
