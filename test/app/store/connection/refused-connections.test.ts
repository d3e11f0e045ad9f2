import { expect, test } from '@jest/globals';
import { RefusedConnections } from '../../../../app/store/connection/refused-connections.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';

const REFUSAL = new FatalError('DATABASE_REFUSED', 'PostgreSQL refused');

const OLD = { password: 'old' };

test('a server is not asked between two attempts, until settings that have changed are worth one', () => {
  const refusals = new RefusedConnections(() => [1_000, 60_000]);
  refusals.requireTurn(0, OLD);
  expect(refusals.refused(REFUSAL, 0, 10)).toBeInstanceOf(OutageError);
  expect(() => refusals.requireTurn(1_009, { ...OLD })).toThrow('attempt 1 of 3');
  refusals.requireTurn(1_010, OLD);
  expect(refusals.refused(REFUSAL, 1_010, 1_020)).toBeInstanceOf(OutageError);
  expect(() => refusals.requireTurn(2_000, OLD)).toThrow('attempt 2 of 3');
  refusals.requireTurn(2_000, { password: 'new' });
  expect(refusals.refused(REFUSAL, 2_000, 2_010)).toBe(REFUSAL);
});

test('those that were begun together count once, and a connection that came about ends the row', () => {
  const refusals = new RefusedConnections(() => [1_000]);
  for (const beganAt of [0, 1, 2]) {
    refusals.requireTurn(beganAt, OLD);
  }
  for (const beganAt of [0, 1, 2]) {
    expect(refusals.refused(REFUSAL, beganAt, 10)).toBeInstanceOf(OutageError);
  }
  refusals.ended();
  refusals.requireTurn(20, OLD);
  expect(refusals.refused(REFUSAL, 20, 30)).toBeInstanceOf(OutageError);
});

test('the time that a refusal may take is that of the moment: longer once a login has succeeded', () => {
  let pauses: readonly number[] = [];
  const refusals = new RefusedConnections(() => pauses);
  expect(refusals.refused(REFUSAL, 0, 1)).toBe(REFUSAL);
  pauses = [1_000];
  refusals.ended();
  expect(refusals.refused(REFUSAL, 2, 3)).toBeInstanceOf(OutageError);
});
