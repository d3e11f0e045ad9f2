import { describe, expect, test } from '@jest/globals';
import { GroupClaim } from '../../../app/kafka/group-claim.ts';
import type { GroupOffset } from '../../../app/kafka/kafka-admin.ts';
import type { TopicPartition } from '../../../app/records/record.ts';
import type { WritePlace } from '../../../app/stream/ports/record-sink.ts';
import type { PartitionLog, Position } from '../../../app/stream/ports/record-source.ts';
import { FatalError } from '../../../app/stream/ports/stream-errors.ts';

const HERE: WritePlace = { schema: 'orders', database: 'shop', systemIdentifier: '1' };
const ELSEWHERE: WritePlace = { ...HERE, schema: 'copy' };
const SESSION_TIMEOUT_MS = 10_000;

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };

/** What a group has committed, and the clock of all its members, which goes on while one of them waits. */
class Group {
  readonly partition = { topic: 'orders', partition: 0 };
  readonly commits: { readonly at: number; readonly [field: string]: unknown }[] = [];
  assigned: readonly TopicPartition[] = [this.partition];
  logs: PartitionLog[] = [{ ...this.partition, start: 7n, end: 9n }];
  /** Commits that the brokers refuse before they take one. */
  refusals = 0;
  topics: readonly string[] = [this.partition.topic];
  readonly forbidden = new Map<string, { readonly of: 'commit' | 'logRanges'; readonly error: FatalError }>();
  onAsked: () => void = nothing;
  #at = 0;
  #committed: GroupOffset | null;

  constructor(committed: Omit<GroupOffset, 'topic' | 'partition'> | null = null) {
    this.#committed = committed && { ...this.partition, ...committed };
  }

  async commit(offset: bigint, metadata: string, partition = 0): Promise<void> {
    if (this.refusals > 0) {
      this.refusals -= 1;
      throw new Error('the group is rebalancing');
    }
    this.#committed = { ...this.partition, offset, metadata };
    this.commits.push({ at: this.#at, partition, offset, claim: JSON.parse(metadata)['stream-consumer'] });
  }

  claimFor(place: WritePlace): GroupClaim {
    const clock = {
      now: () => new Date(this.#at),
      steady: () => new Date(this.#at),
      wait: async (ms: number) => {
        this.#at += ms;
      },
    };
    const groupOffsets = async () => {
      this.onAsked();
      return this.#committed ? [this.#committed] : [];
    };
    const logRanges = async (topic: string) => {
      this.#requireAllowed('logRanges', topic);
      return this.logs.filter((log) => log.topic === topic);
    };
    const ports = { groupId: 'group', sessionTimeoutMs: SESSION_TIMEOUT_MS, admin: { groupOffsets, logRanges } };
    return new GroupClaim({ ...ports, clock, logger, place: async () => place });
  }

  async hold(
    place: WritePlace,
    isLeader: boolean | null,
    signal = new AbortController().signal,
    claim = this.claimFor(place),
  ): Promise<number> {
    const commit = async ({ topic, partition, offset }: Position, metadata: string) => {
      this.#requireAllowed('commit', topic);
      await this.commit(offset, metadata, partition);
    };
    const member = { isLeader, assigned: this.assigned, topics: this.topics, commit };
    await claim.hold(member, signal);
    return this.#at;
  }

  #requireAllowed(of: 'commit' | 'logRanges', topic: string): void {
    const forbidden = this.forbidden.get(topic);
    if (forbidden?.of === of) throw forbidden.error;
  }
}

const claimed = (place: object) => JSON.stringify({ 'stream-consumer': place });

test('the leader of a group without a claim makes one, at the start of the log', async () => {
  const group = new Group();
  await group.hold(HERE, true);
  expect(group.commits).toEqual([{ at: 0, partition: 0, offset: 7n, claim: HERE }]);
});

test('an offset that was committed before keeps its value', async () => {
  const group = new Group({ offset: 123n, metadata: 'of another program' });
  await group.hold(HERE, true);
  expect(group.commits).toMatchObject([{ offset: 123n }]);
});

describe('where the assigned partition has no leader', () => {
  const leaderless = { topic: 'orders', partition: 0, isLeaderless: true } as const;
  const led = { topic: 'orders', partition: 1, start: 5n, end: 9n };

  test('the claim is made at the start of another one, for an offset below the log would be read as a gap', async () => {
    const group = new Group();
    group.logs = [leaderless, led];
    await group.hold(HERE, true);
    expect(group.commits).toMatchObject([{ partition: 1, offset: 5n, claim: HERE }]);
  });

  test('its committed offset still keeps its value', async () => {
    const group = new Group({ offset: 123n, metadata: null });
    group.logs = [leaderless, led];
    await group.hold(HERE, true);
    expect(group.commits).toMatchObject([{ partition: 0, offset: 123n }]);
  });

  test('and no other one has, none is made: there is nothing that could be read', async () => {
    const group = new Group();
    group.logs = [leaderless];
    await expect(group.hold(HERE, true)).rejects.toMatchObject({ name: 'OutageError', reason: 'kafka_away' });
    expect(group.commits).toEqual([]);
  });
});

describe('where Kafka forbids a topic', () => {
  const other = { topic: 'items', partition: 1, start: 3n, end: 9n };

  /** A group of two topics, some of which Kafka forbids by its answer to a request. */
  function forbidding(of: 'commit' | 'logRanges', topics: readonly string[]) {
    const group = new Group(of === 'commit' ? { offset: 123n, metadata: null } : null);
    group.topics = ['orders', 'items'];
    group.logs = [...group.logs, other];
    for (const topic of topics) {
      group.forbidden.set(topic, { of, error: new FatalError('TOPIC_FORBIDDEN', 'forbidden', { topic }) });
    }
    return group;
  }

  test.each(['commit', 'logRanges'] as const)('by its answer to %s, another one holds the claim', async (of) => {
    const group = forbidding(of, ['orders']);
    await group.hold(HERE, true);
    expect(group.commits).toMatchObject([{ partition: 1, offset: 3n, claim: HERE }]);
  });

  test('and all that it was to look at, one that is assigned holds it', async () => {
    const group = forbidding('commit', ['orders']);
    [group.topics, group.assigned] = [['orders'], [group.partition, other]];
    await group.hold(HERE, true);
    expect(group.commits).toMatchObject([{ partition: 1, offset: 3n, claim: HERE }]);
  });
  test('and all others, that is an error of one that is assigned', async () => {
    const group = forbidding('commit', ['orders', 'items']);
    group.assigned = [other];
    await expect(group.hold(HERE, null)).rejects.toMatchObject({ code: 'TOPIC_FORBIDDEN', topic: 'items' });
  });
});

test('a leader without a partition takes a committed offset, and none is set back', async () => {
  const group = new Group({ offset: 123n, metadata: 'of another program' });
  group.assigned = [];
  await group.hold(HERE, true);
  expect(group.commits).toMatchObject([{ partition: 0, offset: 123n }]);
});

test('a claim of the same place is not made again', async () => {
  const group = new Group({ offset: 123n, metadata: claimed(HERE) });
  expect(await group.hold(HERE, true)).toBe(0);
  expect(await group.hold(HERE, false)).toBe(0);
  expect(group.commits).toEqual([]);
});

test.each<[string, object]>([
  ['schema', ELSEWHERE],
  ['database', { ...HERE, database: 'copy' }],
  ['server', { ...HERE, systemIdentifier: '2' }],
  ['schema, not looked over yet', { ...ELSEWHERE, isTentative: true }],
])('a claim of another %s is fatal for the leader and for the others', async (_, other) => {
  for (const isLeader of [true, false]) {
    const group = new Group({ offset: 1n, metadata: claimed(other) });
    await expect(group.hold(HERE, isLeader)).rejects.toMatchObject({ code: 'GROUP_WRITES_ELSEWHERE' });
    expect(group.commits).toEqual([]);
  }
});

test('a server that does not tell its identifier is told by the names alone', async () => {
  const metadata = claimed({ ...HERE, systemIdentifier: null });
  expect(await new Group({ offset: 1n, metadata }).hold(HERE, false)).toBe(0);
  const known = new Group({ offset: 1n, metadata: claimed(HERE) });
  expect(await known.hold({ ...HERE, systemIdentifier: null }, false)).toBe(0);
  await expect(known.hold({ ...ELSEWHERE, systemIdentifier: null }, false)).rejects.toMatchObject({
    name: 'FatalError',
  });
});

test.each([null, '', 'text', '7', '{}', '{"stream-consumer":7}', '{"stream-consumer":{"schema":1}}'])(
  'the metadata %j is no claim',
  async (metadata) => {
    const group = new Group({ offset: 1n, metadata });
    await group.hold(HERE, true);
    expect(group.commits).toMatchObject([{ claim: HERE }]);
  },
);

test('a member waits for the claim of the leader and makes none', async () => {
  const group = new Group();
  let asked = 0;
  group.onAsked = () => {
    asked += 1;
    if (asked === 20) void group.commit(7n, claimed(HERE));
  };
  await group.hold(HERE, false);
  expect(group.commits).toHaveLength(1);
});

test('a member whose leader claims nothing does it when each other member has committed or left, and looks again after as long', async () => {
  const group = new Group();
  const heldAt = await group.hold(HERE, false);
  const [tentative, final] = group.commits;
  expect(tentative).toMatchObject({ claim: { ...HERE, isTentative: true } });
  expect(tentative?.at).toBeGreaterThan(SESSION_TIMEOUT_MS);
  expect(final).toMatchObject({ claim: HERE });
  expect((final?.at ?? 0) - (tentative?.at ?? 0)).toBeGreaterThan(SESSION_TIMEOUT_MS);
  expect(heldAt).toBeGreaterThanOrEqual(final?.at ?? 0);
});

describe('where nobody leads', () => {
  test('a member claims at once, and looks again when each other one has committed or left', async () => {
    const group = new Group();
    const heldAt = await group.hold(HERE, null);
    const [tentative, final] = group.commits;
    expect(tentative).toMatchObject({ at: 0, claim: { ...HERE, isTentative: true } });
    expect(final).toMatchObject({ claim: HERE });
    expect(final?.at).toBeGreaterThan(SESSION_TIMEOUT_MS);
    expect(heldAt).toBeGreaterThanOrEqual(final?.at ?? 0);
    expect(group.commits).toHaveLength(2);
  });

  test('a member that is assigned anew meanwhile does not wait anew', async () => {
    const group = new Group();
    const claim = group.claimFor(HERE);
    const assignment = new AbortController();
    let asked = 0;
    group.onAsked = () => {
      asked += 1;
      if (asked === 100) assignment.abort();
    };
    const abortedAt = await group.hold(HERE, null, assignment.signal, claim);
    expect(abortedAt).toBeGreaterThan(SESSION_TIMEOUT_MS / 4);
    const heldAt = await group.hold(HERE, null, undefined, claim);
    expect(heldAt).toBeLessThan(SESSION_TIMEOUT_MS * 1.3);
    expect(group.commits).toHaveLength(2);
  });

  test('two that write into different places do not both begin', async () => {
    const group = new Group();
    group.onAsked = () => {
      if (group.commits.length === 1) void group.commit(7n, claimed({ ...ELSEWHERE, isTentative: true }));
    };
    await expect(group.hold(HERE, null)).rejects.toMatchObject({ code: 'GROUP_WRITES_ELSEWHERE' });
  });

  test('a claim that is there already is waited for by none', async () => {
    expect(await new Group({ offset: 123n, metadata: claimed(HERE) }).hold(HERE, null)).toBe(0);
  });
});

test('a tentative claim that another member wrote over is given up', async () => {
  const group = new Group();
  group.onAsked = () => {
    if (group.commits.length === 1) void group.commit(7n, claimed(ELSEWHERE));
  };
  await expect(group.hold(HERE, false)).rejects.toMatchObject({ code: 'GROUP_WRITES_ELSEWHERE' });
});

test('what was found in one generation is not committed in the next one', async () => {
  const group = new Group();
  const generation = new AbortController();
  group.onAsked = () => generation.abort();
  await group.hold(HERE, true, generation.signal);
  expect(group.commits).toEqual([]);
});

test('a commit that the brokers refuse while the join is not through is made again', async () => {
  const group = new Group();
  group.refusals = 3;
  await group.hold(HERE, true);
  expect(group.commits).toMatchObject([{ claim: HERE }]);
});

test('a commit that they refuse for longer than a join lasts is an error', async () => {
  const group = new Group();
  group.refusals = 10_000;
  await expect(group.hold(HERE, true)).rejects.toThrow('rebalancing');
});

test('offsets are committed with the place that was found last, and with nothing before one was', async () => {
  const claim = new Group().claimFor(HERE);
  expect(claim.metadata).toBeNull();
  await claim.check();
  expect(claim.metadata).toBe(claimed(HERE));
});
