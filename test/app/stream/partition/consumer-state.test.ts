import { expect, test } from '@jest/globals';
import { Lifecycle, oldestSchemaWait } from '../../../../app/stream/partition/consumer-state.ts';

test('a consumer starts, is assigned, runs, pauses, runs on, drains and stops', () => {
  const lifecycle = new Lifecycle();
  for (const state of [
    'assigning',
    'running',
    'paused',
    'running',
    'assigning',
    'running',
    'draining',
    'stopped',
  ] as const) {
    lifecycle.to(state);
    expect(lifecycle.state).toBe(state);
  }
});

test('staying in a state is no change', () => {
  const lifecycle = new Lifecycle();
  lifecycle.to('starting');
  expect(lifecycle.state).toBe('starting');
});

test.each([
  ['starting', 'running'],
  ['draining', 'running'],
  ['failed', 'draining'],
  ['stopped', 'failed'],
] as const)('there is no way from %s to %s', (from, to) => {
  const lifecycle = new Lifecycle();
  const path = { starting: [], draining: ['draining'], failed: ['failed'], stopped: ['draining', 'stopped'] } as const;
  for (const state of path[from]) {
    lifecycle.to(state);
  }
  expect(() => lifecycle.to(to)).toThrow(`no way from ${from} to ${to}`);
});

test.each(['draining', 'failed'] as const)('%s is an ending', (state) => {
  const lifecycle = new Lifecycle();
  expect(lifecycle.isEnding).toBe(false);
  lifecycle.to(state);
  expect(lifecycle.isEnding).toBe(true);
});

test('a state lasts since it was reached, and reaching it again is no new beginning', () => {
  let now = 1_000;
  const lifecycle = new Lifecycle(() => new Date(now));
  expect(lifecycle.since).toEqual(new Date(1_000));
  now = 2_000;
  lifecycle.to('assigning');
  now = 3_000;
  lifecycle.to('assigning');
  expect(lifecycle.since).toEqual(new Date(2_000));
  expect(() => lifecycle.to('starting')).toThrow('no way');
  expect(lifecycle.since).toEqual(new Date(2_000));
});

test('the oldest wait for schemas is that of the first partition that began', () => {
  const waiting = (ms: number) => ({ schemasAwaited: { since: new Date(ms), reason: null } }) as never;
  expect(oldestSchemaWait([])).toBeNull();
  expect(oldestSchemaWait([{} as never])).toBeNull();
  expect(oldestSchemaWait([waiting(7), {} as never, waiting(5), waiting(6)])).toEqual(new Date(5));
});
