import { expect, test } from '@jest/globals';
import { METRICS } from '../../contract/metrics.ts';
import { createTopic, produce } from './stack/kafka-client.ts';
import { REQUEST, startProxiedKafka } from './stack/kafka-proxy.ts';
import { longTest } from './stack/long-test.ts';
import { startConsumer } from './stack/start-consumer.ts';
import { awaitRoot, lagOf, values } from './stack/told-health.ts';
import { until } from './stack/until.ts';

/** Of two topics that were read the broker tells the log's end of one alone. */
async function blindForOne() {
  const { broker, letThrough } = await startProxiedKafka();
  const [told, silent] = [await createTopic({ broker }), await createTopic({ broker })];
  for (const topic of [told, silent]) await produce(topic, [{ value: '{}' }], { broker });
  const consumer = await startConsumer({ topics: [told, silent], brokers: [broker] });
  await awaitRoot(consumer, 'a lag of 0', (health) => lagOf(health) === 0);
  letThrough(({ kind, bytes }) => kind !== REQUEST.listOffsets || !bytes.includes(silent));
  const ages = async () => {
    const [ofTold = Number.NaN] = await values(consumer, METRICS.logEndAge, told);
    const [ofSilent = Number.NaN] = await values(consumer, METRICS.logEndAge, silent);
    return { ofTold, ofSilent };
  };
  return { consumer, told, silent, ages, letThrough };
}

test("a topic whose log's end no broker tells leaves that of another one known", async () => {
  const { ages } = await blindForOne();
  let oldest = 0;
  await until("the silent topic's log end to be old", async () => {
    const { ofTold, ofSilent } = await ages();
    oldest = Math.max(oldest, ofTold);
    return ofSilent > 15 ? true : undefined;
  });
  expect(oldest).toBeLessThan(10);
});

longTest("a log's end that no broker tells is in the log once, and once when it is told again", async () => {
  const { consumer, silent, ages, letThrough } = await blindForOne();
  const lines = (text: string) => consumer.logs.all.filter((line) => line.includes(text) && line.includes(silent));
  // The answer is waited for twice, for 30 s each.
  await until(
    "the silent topic's series to be gone",
    async () => ((await ages()).ofSilent > 75 ? true : undefined),
    90_000,
  );
  expect(lines('the end of the log is not known')).toHaveLength(1);
  expect(await values(consumer, METRICS.recordsLag, silent)).toEqual([]);
  letThrough(() => true);
  await until('the end to be known', async () => ((await ages()).ofSilent < 10 ? true : undefined));
  expect(lines('the end of the log is known again')).toHaveLength(1);
});
