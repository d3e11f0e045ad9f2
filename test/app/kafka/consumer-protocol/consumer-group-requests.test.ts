import { describe, expect, test } from '@jest/globals';
import {
  consumerGroupHeartbeat,
  type Heartbeat,
} from '../../../../app/kafka/consumer-protocol/consumer-group-heartbeat.ts';
import {
  consumerGroupDescribe,
  type EpochCommit,
  offsetCommit,
} from '../../../../app/kafka/consumer-protocol/consumer-group-requests.ts';
import type { ProtocolRequest } from '../../../../app/kafka/kafkajs/classes.ts';

/** All bytes here went over the wire between this code and Kafka 4.3.1. */
const TOPIC_ID = 'fnJI36uzTyyq8pKgmaIggw';
const ID = '7e7248dfabb34f2caaf292a099a22083';
/** The group golden, the member member-1. */
const GROUP = '07676f6c64656e';
const MEMBER = '096d656d6265722d31';
const POD = '06706f642d31';

const BOTH = new Map([[TOPIC_ID, [0, 1]]]);
const MINE = { groupId: 'golden', memberId: 'member-1', instanceId: 'pod-1' } as const;

async function bytesOf({ request }: Pick<ProtocolRequest<never>, 'request'>): Promise<string> {
  const { buffer } = (await request.encode()) as { readonly buffer: Buffer };
  return buffer.toString('hex');
}

const answerOf = <T>({ response }: ProtocolRequest<T>, hex: string): Promise<T> =>
  response.decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

const joined = (hex: string): string => hex.replaceAll(' ', '');

describe('a heartbeat', () => {
  test.each<[string, Heartbeat, string]>([
    [
      'that joins has the topics and an empty list of what is owned',
      { ...MINE, memberEpoch: 0, rebalanceTimeoutMs: 60_000, topics: ['orders'], owned: new Map() },
      `00 ${GROUP} ${MEMBER} 00000000 ${POD} 00 0000ea60 02 076f7264657273 00 00 01 00`,
    ],
    [
      'that acknowledges has what is owned',
      { ...MINE, memberEpoch: 2, owned: BOTH },
      `00 ${GROUP} ${MEMBER} 00000002 ${POD} 00 ffffffff 00 00 00 02 ${ID} 03 00000000 00000001 00 00`,
    ],
    [
      'without news has null for everything',
      { ...MINE, memberEpoch: 2 },
      `00 ${GROUP} ${MEMBER} 00000002 ${POD} 00 ffffffff 00 00 00 00 00`,
    ],
    [
      'that leaves has the epoch -1',
      { ...MINE, memberEpoch: -1 },
      `00 ${GROUP} ${MEMBER} ffffffff ${POD} 00 ffffffff 00 00 00 00 00`,
    ],
    [
      'of a member without an instance id has null for it',
      { groupId: 'golden', memberId: 'member-1', memberEpoch: 2 },
      `00 ${GROUP} ${MEMBER} 00000002 00 00 ffffffff 00 00 00 00 00`,
    ],
  ])('%s', async (_what, beat, hex) => {
    expect(await bytesOf(consumerGroupHeartbeat(beat))).toBe(joined(hex));
  });

  test('goes out as ConsumerGroupHeartbeat 1', () => {
    const { request } = consumerGroupHeartbeat({ ...MINE, memberEpoch: 0 });
    expect(request).toMatchObject({ apiKey: 68, apiVersion: 1, apiName: 'ConsumerGroupHeartbeat' });
  });

  const beat = consumerGroupHeartbeat({ ...MINE, memberEpoch: 2 });

  test('is answered with everything that the member may own', async () => {
    const hex = `00 00000000 0000 00 ${MEMBER} 00000002 00001388 01 02 ${ID} 03 00000000 00000001 00 00 00`;
    expect(await answerOf(beat, hex)).toEqual({
      ...{ errorCode: 0, errorMessage: null, memberId: 'member-1', memberEpoch: 2, intervalMs: 5_000 },
      assignment: BOTH,
    });
  });

  test('is answered without an assignment where that is as before, and with an empty one where all is taken', async () => {
    const head = `00 00000000 0000 00 ${MEMBER} 00000002 00001388`;
    expect(await answerOf(beat, `${head} ff 00`)).toMatchObject({ memberEpoch: 2, assignment: null });
    expect(await answerOf(beat, `${head} 01 01 00 00`)).toMatchObject({ memberEpoch: 2, assignment: new Map() });
  });

  test('is answered with an error and its words', async () => {
    const words = Buffer.from('The member must abandon all its partitions and rejoin.');
    const hex = `00 00000000 006e ${(words.length + 1).toString(16)} ${words.toString('hex')} 00 00000000 00000000 ff 00`;
    expect(await answerOf(beat, hex)).toMatchObject({
      ...{ errorCode: 110, errorMessage: words.toString(), memberId: null, assignment: null },
    });
  });
});

describe('a description', () => {
  test('asks for one group, without what is allowed to the user', async () => {
    expect(await bytesOf(consumerGroupDescribe('golden'))).toBe(joined(`00 02 ${GROUP} 00 00`));
  });

  test('has the members, and what each was told to own', async () => {
    const partitions = `02 ${ID} 076f7264657273`;
    const hex =
      `00 00000000 02 0000 00 ${GROUP} 07537461626c65 00000002 00000002 08756e69666f726d 02 ${MEMBER} ${POD} 00 00000002 ` +
      `07676f6c64656e 0b2f3132372e302e302e31 02076f7264657273 01 ${partitions} 02 00000000 00 00 ` +
      `${partitions} 03 00000000 00000001 00 00 00 80000000 00 00`;
    expect(await answerOf(consumerGroupDescribe('golden'), hex)).toEqual([
      { memberId: 'member-1', instanceId: 'pod-1', assigned: new Map([[TOPIC_ID, [0]]]) },
    ]);
  });

  test('has no members where there is no such group', async () => {
    const hex =
      '00 00000000 02 0045 1a47726f7570206e6f2d67726f7570206e6f7420666f756e642e 096e6f2d67726f7570 01 ' +
      '00000000 00000000 01 01 80000000 00 00';
    expect(await answerOf(consumerGroupDescribe('no-group'), hex)).toEqual([]);
  });
});

describe('a commit', () => {
  const commit: EpochCommit = {
    ...{ groupId: 'golden', memberId: 'member-1', memberEpoch: 2, metadata: 'hint' },
    positions: [
      { topic: 'orders', partition: 0, offset: 5_000_000_000n },
      { topic: 'orders', partition: 1, offset: 7n },
    ],
  };

  test('goes out at the epoch of the member, with all partitions of a topic together', async () => {
    expect(offsetCommit(commit).request).toMatchObject({ apiKey: 8, apiVersion: 9 });
    expect(await bytesOf(offsetCommit(commit))).toBe(
      joined(
        `00 ${GROUP} 00000002 ${MEMBER} 00 02 076f7264657273 03 00000000 000000012a05f200 ffffffff 0568696e74 00 ` +
          '00000001 0000000000000007 ffffffff 0568696e74 00 00 00',
      ),
    );
  });

  test.each([
    ['was taken', '0000', '0000', 0],
    ['has an epoch of before', '0071', '0071', 113],
    ['fails for one partition alone', '0000', '001d', 29],
  ])('that %s is answered by its first error', async (_what, first, second, errorCode) => {
    const hex = `00 00000000 02 076f7264657273 03 00000000 ${first} 00 00000001 ${second} 00 00 00`;
    expect(await answerOf(offsetCommit(commit), hex)).toBe(errorCode);
  });
});
