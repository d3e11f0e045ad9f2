import { beforeEach, describe, expect, test } from '@jest/globals';
import { PausedTime } from '../../../../app/metrics/consumer/consumer-counters.ts';

describe('standing still', () => {
  const clock = { now: 5_000 };
  const later = (ms: number) => {
    clock.now += ms;
  };
  let still: PausedTime;
  /** A write that is under way until it is ended. */
  function aWrite(): () => Promise<void> {
    let end = (): void => undefined;
    const during = still.during(
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    return () => {
      end();
      return during;
    };
  }

  beforeEach(() => {
    still = new PausedTime(() => clock.now);
  });

  test('is an outage, until now while it lasts', () => {
    later(5_000);
    expect(still.seconds).toBe(0);
    still.outage(true);
    later(2_000);
    expect(still.seconds).toBe(2);
    still.outage(true);
    later(1_000);
    still.outage(false);
    still.outage(false);
    later(60_000);
    expect(still.seconds).toBe(3);
  });

  test('is a write from its second second on, also one that fails', async () => {
    const end = aWrite();
    later(900);
    expect(still.seconds).toBe(0);
    later(600);
    expect(still.seconds).toBe(0.5);
    later(500);
    await end();
    later(10_000);
    expect(still.seconds).toBe(1);
    await expect(still.during(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    later(10_000);
    expect(still.seconds).toBe(1);
  });

  test('counts once what stands still at the same time', async () => {
    const [first, second] = [aWrite(), aWrite()];
    later(1_500);
    still.outage(true);
    const third = aWrite();
    later(1_000);
    await first();
    later(1_000);
    await second();
    still.outage(false);
    expect(still.seconds).toBe(2.5);
    later(1_000);
    await third();
    later(9_000);
    expect(still.seconds).toBe(3.5);
  });
});
