import { describe, expect, test } from '@jest/globals';
import { aclCommand, topicFindings } from '../../../../app/commands/doctor/check-topics.ts';
import type { DescribedTopic } from '../../../../app/kafka/kafkajs/admin-requests.ts';
import { load } from '../../configuration/loading.ts';

const SETTINGS = load({});
const LEADER_NOT_AVAILABLE = 5;

const found = (changed: Partial<DescribedTopic>) =>
  topicFindings({
    settings: SETTINGS,
    described: new Map([['orders', { ...TOPIC, ...changed }]]),
    names: [],
    stored: null,
  });

const TOPIC: DescribedTopic = {
  ...{ topic: 'orders', topicErrorCode: 0, id: 'id', partitions: 3, leaderless: [] },
  ...{ mayRead: true, mayWrite: false },
};

describe('a topic', () => {
  test('with partitions that no broker leads is away, by their numbers', () => {
    expect(found({ leaderless: [0, 2] })).toEqual([
      expect.objectContaining({ status: 'away', message: 'no broker leads 2 of its 3 partitions (0, 2)' }),
    ]);
  });

  test('that the brokers cannot describe for now is away', () => {
    expect(found({ topicErrorCode: LEADER_NOT_AVAILABLE })).toEqual([expect.objectContaining({ status: 'away' })]);
  });

  test('of a broker that says nothing of rights is OK, and the line says that they are not known', () => {
    expect(found({ mayRead: null, partitions: 0 })).toEqual([
      expect.objectContaining({ status: 'ok', message: 'it is there, whether it may be read is not known' }),
    ]);
  });
});

test('a command for a user whose name the settings do not have leaves room for it', () => {
  expect(aclCommand(SETTINGS, 'Read', '--topic orders')).toBe(
    'kafka-acls.sh --bootstrap-server localhost:9092 --add --allow-principal "User:<the user that the consumer logs in as>" ' +
      '--operation Read --topic orders; or take away what denies it',
  );
});
