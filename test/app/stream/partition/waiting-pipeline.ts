import type { TopicPartition } from '../../../../app/records/record.ts';
import type { WaitingTopic } from '../../../../app/stream/partition/consumer-state.ts';
import type { WriteRequest } from '../../../../app/stream/ports/record-sink.ts';
import { FatalError, type OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { PARTITION } from '../records.ts';
import { SimulatedSink } from '../simulated-sink.ts';
import { assignAnew, settle, setUp } from '../simulation.ts';

export const WAITING = { topic: 'shop.public.orders', partition: 0 };
export const OTHER = { topic: WAITING.topic, partition: 1 };
export const MISFIT = new FatalError('TABLES_DO_NOT_FIT', 'there is no table public.orders');
const LOOK_AGAIN_MS = 10_000;

/** The pipeline, and what it said of topics that wait. */
interface WaitingPipeline extends ReturnType<typeof setUp> {
  readonly waits: WaitingTopic[];
  readonly goesOn: string[];
  /** @returns how many topics were looked at again */
  lookAgain(): Promise<number>;
  /** @returns whether there was something to deliver */
  deliver(partition?: TopicPartition, length?: number): Promise<boolean>;
}

/** A pipeline of a named topic and one with two partitions that may wait; time passes when the test says so. */
export function setUpWaiting(sink = new SimulatedSink([PARTITION, WAITING, OTHER])): WaitingPipeline {
  const waits: WaitingTopic[] = [];
  const goesOn: string[] = [];
  const waiting = {
    mayWait: (topic: string) => topic === WAITING.topic,
    onWaits: (topic: WaitingTopic) => waits.push(topic),
    onGoesOn: (topic: string, seconds: number) => goesOn.push(`${topic} after ${seconds} s`),
  };
  const topics = [PARTITION.topic, WAITING.topic];
  const parts = setUp(6n, sink, 'fail', { topics: () => topics, waiting });
  parts.clock.holdWaits();
  const lookAgain = async () => {
    parts.clock.pass(LOOK_AGAIN_MS);
    const looks = parts.clock.endWaits((ms) => ms === LOOK_AGAIN_MS);
    await settle();
    return looks.length;
  };
  const deliver = async (partition = WAITING, length = 3) => {
    const fetched = parts.source.fetch(length, partition);
    if (fetched !== null) {
      parts.pipeline.onFetched(fetched);
    }
    await settle();
    return fetched !== null;
  };
  return { ...parts, waits, goesOn, lookAgain, deliver };
}

export async function setUpAssigned(sink?: SimulatedSink): Promise<WaitingPipeline> {
  const parts = setUpWaiting(sink);
  assignAnew(parts.pipeline, [PARTITION, WAITING, OTHER]);
  await settle();
  return parts;
}

/** Refuses the writes of a topic with an error, while there is one. */
class RefusingSink extends SimulatedSink {
  refusal: FatalError | OutageError | null = null;

  override write(request: WriteRequest): ReturnType<SimulatedSink['write']> {
    return request.topic === WAITING.topic && this.refusal ? Promise.reject(this.refusal) : super.write(request);
  }
}

export const refusingSink = () => new RefusingSink([PARTITION, WAITING, OTHER]);
