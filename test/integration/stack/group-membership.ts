import { type AtBroker, kafkaClient } from './kafka-client.ts';
import type { StartedConsumer } from './start-consumer.ts';

/** Settings under which a consumer's log tells each time that it joined its group. */
export const TELLS_JOINS = { logging: { level: 'debug' } } as const;

/** What would change in any rebalance. */
export interface Membership {
  /** Ids of the members as the group's coordinator sees them. */
  readonly members: readonly string[];
  /** How often the consumer joined, by its own log. */
  readonly joins: number;
}

/** Ids of the members that the group's coordinator knows, in order. */
export async function groupMembers(groupId: string, options: AtBroker = {}): Promise<readonly string[]> {
  const admin = kafkaClient(options).admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([groupId]);
    return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId)).sort();
  } finally {
    await admin.disconnect();
  }
}

/** How often the consumer joined its group since it was started with {@link TELLS_JOINS}. */
const joinsOf = (consumer: StartedConsumer): number =>
  consumer.logs.all.filter((line) => line.includes('"msg":"assigned"')).length;

/** Who is in the group of a consumer that was started with {@link TELLS_JOINS}. */
export const membership = async (consumer: StartedConsumer, options: AtBroker = {}): Promise<Membership> => ({
  members: await groupMembers(consumer.groupId, options),
  joins: joinsOf(consumer),
});
