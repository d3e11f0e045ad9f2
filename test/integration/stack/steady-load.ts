import { setTimeout as delay } from 'node:timers/promises';
import { type AtBroker, kafkaClient } from './kafka-client.ts';
import { testRun } from './test-run.ts';

/** A producer that goes on until it is stopped. */
export interface SteadyLoad {
  /** Resolves when the broker has acknowledged `count` more records than now. */
  more(count: number): Promise<void>;
  /** Produces no more, and answers with how many records the topic holds. */
  stop(): Promise<number>;
}

const BATCH = 100;
/** What nobody waits for would cost the consumers, the servers and the other tests their time. */
const PAUSE_MS = 40;

/**
 * Produces to the partitions in turn, at most 2,500 records a second, over any restart of the broker. A request whose
 * answer was lost is sent again, so only the topic itself knows in the end how many records it holds.
 *
 * @param options.partitions of the topic
 */
export async function startSteadyLoad(
  topic: string,
  options: AtBroker & { readonly partitions: number },
): Promise<SteadyLoad> {
  const producer = kafkaClient(options).producer();
  await producer.connect();
  let isStopped = false;
  let sent = 0;
  const waiting = new Set<{ readonly goal: number; readonly resolve: () => void }>();
  const run = (async () => {
    while (!isStopped) {
      const messages = Array.from({ length: BATCH }, (_, index) => ({
        partition: index % options.partitions,
        value: `{"id":${sent + index}}`,
      }));
      const isSent = await producer.send({ topic, messages }).then(
        () => true,
        () => false,
      );
      sent += isSent ? BATCH : 0;
      for (const waiter of [...waiting].filter(({ goal }) => goal <= sent)) {
        waiting.delete(waiter);
        waiter.resolve();
      }
      await delay(PAUSE_MS);
    }
  })();
  const end = async (): Promise<void> => {
    isStopped = true;
    await run;
    await producer.disconnect();
  };
  // A test that failed stops nothing.
  (await testRun()).beforeClose(end);
  return {
    more: (count) => Promise.race([new Promise<void>((resolve) => waiting.add({ goal: sent + count, resolve })), run]),
    async stop() {
      await end();
      return recordsIn(topic, options);
    },
  };
}

/** Offsets between the start and the end of a topic's logs: its records, where none was compacted or transactional. */
export async function recordsIn(topic: string, options: AtBroker = {}): Promise<number> {
  const admin = kafkaClient(options).admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(topic);
    return offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
  } finally {
    await admin.disconnect();
  }
}
