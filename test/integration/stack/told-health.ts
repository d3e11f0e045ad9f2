import { isDeepStrictEqual } from 'node:util';
import type { StartedConsumer } from './start-consumer.ts';
import { until } from './until.ts';

/** The answer of the health endpoint. */
export interface Root {
  readonly status: string;
  readonly components: Readonly<Record<string, { status: string; details?: Readonly<Record<string, unknown>> }>>;
}

/** What the health endpoint answers now, with whatever status. */
export async function root(consumer: StartedConsumer): Promise<Root> {
  return (await (await consumer.get(consumer.endpoint.healthPath)).json()) as Root;
}

/** Waits for an answer that is so, and gives it. */
export const awaitRoot = (consumer: StartedConsumer, what: string, isSo: (health: Root) => boolean): Promise<Root> =>
  until(what, async () => {
    const health = await root(consumer);
    return isSo(health) ? health : undefined;
  });

/** Waits until exactly these topics wait, each with its code. */
export const awaitWaits = (consumer: StartedConsumer, wanted: Readonly<Record<string, string>>): Promise<true> =>
  until(`${JSON.stringify(wanted)} to wait`, async () => {
    const details = (await root(consumer)).components['consumer']?.details;
    const waiting = (details?.['waitingTopics'] ?? []) as readonly { readonly topic: string; readonly code: string }[];
    const found = Object.fromEntries(waiting.map(({ topic, code }) => [topic, code]));
    return isDeepStrictEqual(found, wanted) ? true : undefined;
  });

/** The lag as the component `consumer` tells it. */
export const lagOf = ({ components }: Root): unknown => components['consumer']?.details?.['lag'];

/**
 * The values of a family's series, one for each partition or topic.
 *
 * @param topic takes the series of this topic alone
 */
export async function values(
  consumer: StartedConsumer,
  { name }: { readonly name: string },
  topic?: string,
): Promise<number[]> {
  const scrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  const lines = scrape.split('\n').filter((line) => line.startsWith(`${name}{`));
  const chosen = topic === undefined ? lines : lines.filter((line) => line.includes(`topic="${topic}"`));
  return chosen.map((line) => Number(line.split(' ').at(-1)));
}
