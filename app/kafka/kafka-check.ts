import type { Kafka } from 'kafkajs';

/** What the brokers say of themselves. */
export interface KafkaCheck {
  readonly clusterId: string;
  readonly brokers: number;
}

/**
 * Asks the brokers who they are, on a connection of its own that is opened anew after a failure.
 *
 * @param kafka a client that gives up fast: its retries delay the verdict
 */
export function createKafkaCheck(kafka: Kafka): { check(): Promise<KafkaCheck>; close(): Promise<void> } {
  let admin = kafka.admin();
  let isConnected = false;
  return {
    async check() {
      try {
        if (!isConnected) {
          await admin.connect();
          isConnected = true;
        }
        const { clusterId, brokers } = await admin.describeCluster();
        return { clusterId, brokers: brokers.length };
      } catch (error) {
        isConnected = false;
        await admin.disconnect().catch(() => undefined);
        admin = kafka.admin();
        throw error;
      }
    },
    async close() {
      await admin.disconnect().catch(() => undefined);
    },
  };
}
