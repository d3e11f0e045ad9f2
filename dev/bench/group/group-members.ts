import { setTimeout as delay } from 'node:timers/promises';
import { METRICS } from '../../../contract/metrics.ts';
import { type ConsumerProcess, startConsumerProcess } from '../../run/consumer-process.ts';
import { ExplainedError } from '../../run/explained-error.ts';
import { describeExit, terminate } from '../../run/owned-process.ts';
import type { RunFolder } from '../../run/run-folder.ts';

/** Above the consumer's own `shutdown.timeout`. */
const DRAIN_TIMEOUT_MS = 40_000;
/** Above the default session time-out, on a machine that is busy. */
const SETTLE_LIMIT_MS = 120_000;
/** Seldom: each look is work for every member. */
const POLL_MS = 250;
const TAIL_LINES = 10;

interface GroupPlace {
  readonly run: RunFolder;
  readonly configFile: string;
  /** Partitions of the group's topic. */
  readonly partitions: number;
  readonly env: Readonly<Record<string, string>>;
}

interface Member {
  readonly consumer: ConsumerProcess;
  /** Its `kafka.groupInstanceId`: a member that is started again in the same place has the same one. */
  readonly place: string;
  /** Whether its end was asked for. */
  isEnding: boolean;
}

/** Consumers of one group, as separate processes, in the order of their start. */
export class GroupMembers {
  readonly #at: GroupPlace;
  readonly #members: Member[] = [];
  #places = 0;
  #problem: string | undefined;

  constructor(at: GroupPlace) {
    this.#at = at;
  }

  /** Members that run. */
  get size(): number {
    return this.#members.length;
  }

  /** Starts members, the first one before the others, so that it leads the group; resolves when all have partitions. */
  async begin(members: number): Promise<void> {
    await this.add(1);
    await this.settled();
    await this.add(members - 1);
    await this.settled();
  }

  /** Starts members at once, each in another place; resolves when all of them listen. */
  async add(members: number): Promise<void> {
    const first = this.#places + 1;
    this.#places += members;
    await Promise.all(Array.from({ length: members }, (_, nth) => this.startIn(`place-${first + nth}`)));
  }

  /** Ends the oldest members by SIGTERM, at once; resolves when their processes are gone. */
  async stop(members: number): Promise<void> {
    const oldest = this.#members.splice(0, members);
    await Promise.all(
      oldest.map(async (member) => {
        member.isEnding = true;
        const exit = await terminate(member.consumer, 'SIGTERM', DRAIN_TIMEOUT_MS);
        if (exit.code !== 0) {
          throw new ExplainedError(`A member ended with ${describeExit(exit)} after SIGTERM. ${tailOf(member)}`);
        }
      }),
    );
  }

  /** Ends the oldest member by SIGKILL. @returns its place */
  async kill(): Promise<string> {
    const [oldest] = this.#members.splice(0, 1);
    if (oldest === undefined) {
      throw new Error('the group has no member');
    }
    oldest.isEnding = true;
    oldest.consumer.kill('SIGKILL');
    await oldest.consumer.exited;
    return oldest.place;
  }

  /**
   * Resolves when every partition belongs to one of the members, and no member is without one that could have one.
   *
   * @throws ExplainedError when a member ended by itself, or that takes two minutes
   */
  async settled(): Promise<void> {
    const { partitions } = this.#at;
    const deadline = Date.now() + SETTLE_LIMIT_MS;
    for (;;) {
      const owned = await Promise.all(this.#members.map(({ consumer }) => assignedPartitions(consumer)));
      if (this.#problem !== undefined) {
        throw new ExplainedError(this.#problem);
      }
      const busy = owned.filter((count) => count > 0).length;
      const isAll = owned.reduce((sum, count) => sum + count, 0) === partitions;
      if (isAll && busy === Math.min(owned.length, partitions)) {
        return;
      }
      if (Date.now() > deadline) {
        const shares = owned.join(', ');
        throw new ExplainedError(
          `${SETTLE_LIMIT_MS / 1_000} s on, the members have ${shares} of ${partitions} partitions.`,
        );
      }
      await delay(POLL_MS);
    }
  }

  /** Starts a member in the place of one that is gone; resolves when it listens. */
  async startIn(place: string): Promise<void> {
    const { run, configFile, env } = this.#at;
    const consumer = await startConsumerProcess(run, {
      configFile,
      env: { KAFKA_GROUP_INSTANCE_ID: place, ...env },
      program: 'compiled',
    });
    const member: Member = { consumer, place, isEnding: false };
    void consumer.exited.then((exit) => {
      if (!member.isEnding) {
        this.#problem ??= `A member ended by itself with ${describeExit(exit)}. ${tailOf(member)}`;
      }
    });
    this.#members.push(member);
  }
}

/** None for a consumer that does not answer yet. */
async function assignedPartitions({ get, endpoint }: ConsumerProcess): Promise<number> {
  const answer = await get(`${endpoint.metricsPath}/${METRICS.clientAssigned.name}`).catch(() => undefined);
  if (answer?.ok !== true) {
    return 0;
  }
  const { measurements } = (await answer.json()) as { measurements: readonly { value: number }[] };
  return measurements[0]?.value ?? 0;
}

const tailOf = ({ consumer }: Member): string =>
  ['The end of its log:', ...consumer.logs.all.slice(-TAIL_LINES)].join('\n    ');
