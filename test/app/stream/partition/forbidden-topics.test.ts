import { expect, test } from '@jest/globals';
import { WaitingTopics } from '../../../../app/stream/partition/waiting-topics.ts';
import { FatalError } from '../../../../app/stream/ports/stream-errors.ts';

const FORBIDDEN = new FatalError('TOPIC_FORBIDDEN', 'Kafka forbids it');

/** Topics of templates that Kafka forbids; what begins to wait and what goes on is noted. */
function forbiddenTopics() {
  const noted: string[] = [];
  const clock = { now: () => new Date(0), steady: () => new Date(0), wait: async () => undefined };
  const waiting = new WaitingTopics(
    {
      mayWait: () => true,
      onWaits: ({ topic, code }) => void noted.push(`${topic} waits: ${code}`),
      onGoesOn: (topic) => void noted.push(`${topic} goes on`),
    },
    clock,
  );
  const unlisted = (topics: readonly string[], gone: readonly string[] = []): readonly string[] => {
    waiting.unlisted(new Map(topics.map((topic) => [topic, FORBIDDEN])), new Set(gone));
    return noted.splice(0);
  };
  return { waiting, unlisted };
}

test('each topic that is forbidden waits, is reported once, and goes on when it is listed again', () => {
  const { waiting, unlisted } = forbiddenTopics();
  expect(unlisted(['a', 'b'])).toEqual(['a waits: TOPIC_FORBIDDEN', 'b waits: TOPIC_FORBIDDEN']);
  expect(unlisted(['a', 'b'])).toEqual([]);
  expect(unlisted(['b'])).toEqual(['a goes on']);
  expect(waiting.report().map(({ topic }) => topic)).toEqual(['b']);
});

test('one that is gone does not go on, and waits no more', () => {
  const { waiting, unlisted } = forbiddenTopics();
  unlisted(['a']);
  expect(unlisted([], ['a'])).toEqual([]);
  expect(waiting.has('a')).toBe(false);
});

test('one that waits for another reason meanwhile goes on waiting when it is listed again', () => {
  const { waiting, unlisted } = forbiddenTopics();
  unlisted(['a']);
  waiting.failed('a', new FatalError('TABLES_DO_NOT_FIT', 'no column'));
  expect(unlisted([])).toEqual(['a waits: TABLES_DO_NOT_FIT']);
  expect(waiting.has('a')).toBe(true);
});

test('one that was allowed by a fetch meanwhile has gone on, and does not do so again', () => {
  const { waiting, unlisted } = forbiddenTopics();
  unlisted(['a']);
  waiting.opened('a');
  waiting.allowed('a');
  expect(unlisted([])).toEqual(['a goes on']);
});

test('it is kept although the process owns none of its partitions, as long as it is forbidden', () => {
  const { waiting, unlisted } = forbiddenTopics();
  unlisted(['a']);
  waiting.keep(new Set());
  expect(waiting.has('a')).toBe(true);
  waiting.failed('b', FORBIDDEN);
  waiting.keep(new Set(['a']));
  expect(waiting.has('b')).toBe(false);
});
