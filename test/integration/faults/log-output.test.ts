import { expect, test } from '@jest/globals';
import { freePort } from '../../../dev/run/free-port.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

/** Standard output of the consumer's process, by what is wrong with it. */
const OUTPUT = {
  'is full': 'exec "$@" > /dev/full',
  'has no reader any more': 'exec "$@" > >(true)',
  'has a reader that does not read': 'exec "$@" > >(exec tail -f /dev/null --pid=$$)',
};

/** A line of the log for each request, long enough to fill a pipe and all that may wait for it. */
async function fillLog({ get, endpoint }: StartedConsumer): Promise<void> {
  for (let request = 0; request < 200; request += 1) {
    await (await get(`${endpoint.healthPath}?${'x'.repeat(10_000)}`)).body?.cancel();
  }
}

async function droppedLines({ get }: StartedConsumer): Promise<number> {
  const text = await (await get('/actuator/prometheus?includedNames=log_lines_dropped')).text();
  return Number(/^log_lines_dropped_total\{[^}]*\} (\S+)$/m.exec(text)?.[1]);
}

test.each(someCases(1, Object.entries(OUTPUT)))(
  'standard output that %s stops neither records nor the end',
  async (_what, shell) => {
    const topic = await createTopic();
    const settings = { logging: { level: 'debug' } };
    const consumer = await startConsumer({ topics: [topic], port: await freePort(), settings, shell });
    await consumer.waitForHealth();
    await fillLog(consumer);
    await produce(topic, [{ value: '1' }]);
    await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
    await until('lines that were dropped', async () => ((await droppedLines(consumer)) > 0 ? true : undefined));
    const began = Date.now();
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
    expect(Date.now() - began).toBeLessThan(10_000);
  },
);
