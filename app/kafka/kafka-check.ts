import type { Admin, Kafka } from 'kafkajs';

/** What the brokers say of themselves. */
export interface KafkaCheck {
  readonly clusterId: string;
  readonly brokers: number;
}

/**
 * Asks the brokers who they are, on a connection of its own that is opened anew after a failure.
 *
 * @param createClient makes a client that gives up fast, since its retries delay the verdict; called at the first check
 */
export function createKafkaCheck(createClient: () => Kafka): { check(): Promise<KafkaCheck>; close(): Promise<void> } {
  let admin: Admin | null = null;
  return {
    async check() {
      const asked = admin ?? createClient().admin();
      try {
        if (admin === null) {
          await asked.connect();
          admin = asked;
        }
        const { clusterId, brokers } = await asked.describeCluster();
        return { clusterId, brokers: brokers.length };
      } catch (error) {
        admin = null;
        await asked.disconnect().catch(() => undefined);
        throw error;
      }
    },
    async close() {
      await admin?.disconnect().catch(() => undefined);
    },
  };
}
