import { partitionKey, type TopicPartition } from '../records/record.ts';
import { type OpeningPorts, Openings } from './openings.ts';
import { PartitionStream } from './partition/partition-stream.ts';
import type { StartFrom } from './partition/positions.ts';
import type { StreamOptions } from './partition/stream-ports.ts';
import type { AssignedPartitions, Position, UnreadableBatch } from './ports/record-source.ts';
import { FatalError } from './ports/stream-errors.ts';

export interface OwnedStreamsOptions extends StreamOptions {
  readonly startFrom: StartFrom;
  /**
   * Whether a template alone takes the topic. Without a position it came after the template's first start, so it begins
   * at its beginning, whatever `startFrom` says; and it may be deleted. @default none
   */
  readonly isTemplated?: (topic: string) => boolean;
}

interface OwnedStreamsPorts extends OpeningPorts {
  /** Whether Kafka does not have the topic, by its last answer. */
  readonly isUnknown: (topic: string) => boolean;
}

/** The positions of streams, `null` ones left out. */
function positionsOf(streams: Iterable<PartitionStream>): Position[] {
  const positions: Position[] = [];
  for (const { partition: of, nextOffset: offset } of streams) {
    if (offset !== null) {
      positions.push({ topic: of.topic, partition: of.partition, offset });
    }
  }
  return positions;
}

/**
 * The streams of the partitions that the process owns, by what each generation of its group changes.
 *
 * Why a partition that is kept never stalls because others move:
 *
 * 1. A generation touches the stream of a kept partition in one way: its queue may have another share of the memory. It
 *    is not sought, its queue and its transaction go on, and nothing of it waits for a promise of another stream.
 * 2. What was added is opened in the background, together and apart from what was added before, so partitions that
 *    cannot be opened hold up none that are added later. Those whose former streams still write are opened apart.
 *
 * Why none is opened twice at the same time: a stream that is left stays in `closing` until nothing of it is written,
 * and the next one of its partition waits for that, for 5 s. What the old one writes later, PostgreSQL refuses.
 */
export class OwnedStreams {
  readonly #options: OwnedStreamsOptions;
  readonly #ports: OwnedStreamsPorts;
  readonly #streams = new Map<string, PartitionStream>();
  /** Partitions whose streams are left, until nothing of them is written. */
  readonly #closing = new Map<string, Promise<void>>();
  /** All that still runs of streams that are left: also searches, which write nothing. */
  readonly #left = new Set<Promise<unknown>>();
  readonly #openings: Openings;

  constructor(options: OwnedStreamsOptions, ports: OwnedStreamsPorts) {
    this.#options = options;
    this.#ports = ports;
    const { startFrom, isTemplated = () => false } = options;
    this.#openings = new Openings((topic) => (isTemplated(topic) ? 'earliest' : startFrom), ports);
  }

  get all(): readonly PartitionStream[] {
    return [...this.#streams.values()];
  }

  of(partition: TopicPartition): PartitionStream | undefined {
    return this.#streams.get(partitionKey(partition));
  }

  /** A topic that may wait does so for the right to read it. Any other batch is fetched again by its stream. */
  unreadable(batch: UnreadableBatch): void {
    const { topic, code, reason } = batch;
    const stream = this.of(batch);
    if (code !== 'TOPIC_FORBIDDEN' || this.#ports.mayWait?.(topic) !== true) {
      stream?.unreadable(batch);
    } else if (stream !== undefined && stream.nextOffset !== null) {
      this.#ports.onFatal(new FatalError(code, reason), topic);
    }
  }

  /** Positions as PostgreSQL returned them; a partition has none before its position was read. */
  positions(): Position[] {
    return positionsOf(this.#streams.values());
  }

  /**
   * Returns a function that returns the positions of the partitions that are owned now, also after these are revoked.
   */
  follow(): () => Position[] {
    const streams = this.all;
    return () => positionsOf(streams);
  }

  /**
   * A generation of the group began: opens what was added, and leaves what is not owned.
   *
   * @returns whether a partition is kept
   */
  assign({ owned, added }: AssignedPartitions): boolean {
    const begun = new Set(added.map(partitionKey));
    const kept = new Set(owned.map(partitionKey).filter((key) => !begun.has(key)));
    void this.revoke(this.all.map(({ partition }) => partition).filter((each) => !kept.has(partitionKey(each))));
    const keptStreams = this.all;
    for (const stream of keptStreams) {
      stream.kept(this.#queueShare(owned.length));
    }
    const opened = owned.filter((partition) => !this.#streams.has(partitionKey(partition)));
    this.#openings.confirm(keptStreams, opened);
    this.#open(opened, true);
    return keptStreams.length > 0;
  }

  /**
   * Writes nothing any more before the next assignment, which leaves all that is suspended and opens what is owned
   * then.
   */
  suspend(): void {
    for (const stream of this.all) {
      void stream.close();
    }
  }

  /** Begins again with the same partitions: what is queued stays ahead of the stored offsets, which are read anew. */
  reopen(): void {
    const partitions = this.all.map((stream) => {
      this.#leave(stream);
      return stream.partition;
    });
    this.#open(partitions, false);
  }

  /**
   * Reads nothing of a topic that waits before it is looked at again, and then begins anew with its partitions.
   *
   * Why nothing of it is lost, and nothing of it becomes a dead letter meanwhile:
   *
   * 1. Its streams are left: what they have queued is dropped, and stays ahead of the stored offsets. The transaction
   *    under way, if any, moves an offset with the rows of its records, or does nothing.
   * 2. The streams in their place take nothing in before they are opened, so nothing of the topic is written. They are
   *    opened at the stored offsets as they are read then, and the records from there on are fetched again.
   * 3. The partitions stay those of the process: a generation keeps, revokes and adds them like all others, and whoever
   *    owns them next begins at the same stored offsets.
   */
  wait(topic: string): void {
    for (const stream of this.all.filter(({ partition }) => partition.topic === topic)) {
      this.#ports.source.pause(stream.partition);
      this.#leave(stream);
      this.#open([stream.partition], false);
    }
  }

  /** Resolves when nothing of these partitions is written any more. Never rejects. */
  async revoke(partitions: readonly TopicPartition[]): Promise<void> {
    for (const stream of partitions.flatMap((partition) => this.of(partition) ?? [])) {
      stream.revoked();
      this.#leave(stream);
    }
    await Promise.all(partitions.map((partition) => this.#closing.get(partitionKey(partition))));
  }

  /** Takes nothing in any more. Resolves when the queues are written, and nothing of what was revoked is. */
  async drain(): Promise<void> {
    this.#openings.end();
    await Promise.all([...this.all.map((stream) => stream.drain()), ...this.#closing.values()]);
  }

  /** Gives up what still waits. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    await Promise.all([...this.all.map((stream) => stream.close()), ...this.#closing.values(), ...this.#left]);
    await this.#openings.ended();
  }

  #queueShare(partitions: number): number {
    return Math.min(this.#options.maxQueuedBytes, this.#ports.memory.share(partitions));
  }

  #leave(stream: PartitionStream): void {
    const key = partitionKey(stream.partition);
    this.#streams.delete(key);
    this.#openings.leave(stream);
    const closing = Promise.all([this.#closing.get(key), this.#end(stream)]).then(() => {
      if (this.#closing.get(key) === closing) {
        this.#closing.delete(key);
      }
    });
    this.#closing.set(key, closing);
    const left: Promise<unknown> = closing.then(stream.close).finally(() => this.#left.delete(left));
    this.#left.add(left);
  }

  /**
   * What is queued of a partition that went to another member stays ahead of the stored offset, and is read there. That
   * of a deleted topic can be read nowhere any more, so it is written first: then it is in its table, or in the dead
   * letters. Only an outage of PostgreSQL makes it go with its topic.
   */
  async #end(stream: PartitionStream): Promise<void> {
    if (this.#ports.isUnknown(stream.partition.topic)) {
      await stream.drain();
    }
    await stream.giveUp();
  }

  /** @param isWon whether the group has just given the partitions */
  #open(partitions: readonly TopicPartition[], isWon: boolean): void {
    const queueShare = this.#queueShare(this.#streams.size + partitions.length);
    const options = { ...this.#options, queueShare };
    const streams = partitions.map((partition) => new PartitionStream(partition, options, this.#ports, isWon));
    for (const stream of streams) {
      this.#streams.set(partitionKey(stream.partition), stream);
    }
    const closing = (stream: PartitionStream) => this.#closing.get(partitionKey(stream.partition));
    const isLater = ({ partition }: PartitionStream) => this.#ports.isWaiting(partition.topic);
    for (const stream of streams.filter(isLater)) {
      this.#openings.openLater(stream, closing(stream));
    }
    const now = streams.filter((stream) => !isLater(stream));
    const behindOthers = now.filter(closing);
    this.#openings.open(
      now.filter((stream) => !closing(stream)),
      [],
    );
    this.#openings.open(
      behindOthers,
      behindOthers.flatMap((stream) => closing(stream) ?? []),
    );
  }
}
