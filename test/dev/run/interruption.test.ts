import { afterEach, describe, expect, test } from '@jest/globals';
import { type Interruption, listenForInterruption } from '../../../dev/run/interruption.ts';

let interruption: Interruption | undefined;
afterEach(() => interruption?.dispose());

function listen() {
  const events: string[] = [];
  const clock = { now: 1_000 };
  interruption = listenForInterruption(
    () => events.push('first'),
    (exitCode) => events.push(`again, ${exitCode}`),
    () => clock.now,
  );
  return { events, clock, interruption };
}

describe('an interruption', () => {
  test('ends the waiting for work, and gives the exit code that a shell would see', async () => {
    const { events, interruption: waiting } = listen();
    expect(waiting.exitCode).toBeUndefined();
    const result = waiting.orInterrupted(new Promise(() => undefined));
    process.emit('SIGTERM', 'SIGTERM');
    expect(await result).toBeUndefined();
    expect({ exitCode: waiting.exitCode, events, aborted: waiting.signal.aborted }).toEqual({
      exitCode: 143,
      events: ['first'],
      aborted: true,
    });
  });

  test('takes a signal that npm hands on for the one that the terminal has sent', () => {
    const { events } = listen();
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect(events).toEqual(['first']);
  });

  test('ends all at once when a person asks again', () => {
    const { events, clock, interruption: again } = listen();
    process.emit('SIGINT', 'SIGINT');
    clock.now += 301;
    process.emit('SIGINT', 'SIGINT');
    expect(events).toEqual(['first', 'again, 130']);
    expect(again.exitCode).toBe(130);
  });

  test('can come from the program itself, once', () => {
    const { events, interruption: own } = listen();
    own.interrupt('SIGHUP');
    own.interrupt('SIGHUP');
    expect(events).toEqual(['first']);
    expect(own.exitCode).toBe(129);
  });

  test('leaves work alone that ends by itself', async () => {
    const { interruption: calm } = listen();
    expect(await calm.orInterrupted(Promise.resolve(7))).toBe(7);
  });
});
