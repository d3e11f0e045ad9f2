import { randomBytes } from 'node:crypto';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import type { StartOptions } from './options.ts';

/** Topic, group and schema of one run. */
export interface RunNames {
  readonly topic: string;
  readonly group: string;
  readonly schema: string;
}

/**
 * Names that are free: plain ones where Kafka and PostgreSQL were made for this run, ones with a random part where they
 * are the user's. A position is stored by group, topic and partition, so a group is as lasting as the database.
 *
 * @param random letters and digits. @default eight random ones
 */
export function runNames(options: StartOptions, random: string = randomBytes(4).toString('hex')): RunNames {
  const ownKafka = options.kafka === undefined;
  const ownDatabase = options.database === undefined;
  return {
    topic: options.topic ?? (ownKafka ? 'orders' : `orders-${random}`),
    group: options.group ?? (ownKafka && ownDatabase ? PRODUCT_NAME : `${PRODUCT_NAME}-${random}`),
    schema: options.schema ?? (ownDatabase ? 'stream_consumer' : `stream_consumer_${random}`),
  };
}
