import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';

/** `consumer.maxValueBytes` in dev/application.yml: low, so that a record over it still fits into a Kafka batch. */
export const MAX_VALUE_BYTES = 262_144;

const NESTING = 50_000;

/** What replaces parts of a good record, and why the consumer must not take it. */
export interface Poison {
  readonly reason: DeadLetterReason;
  /** Left out: the good key stays. */
  readonly key?: Buffer;
  /** Left out: the good value stays. */
  readonly value?: Buffer;
}

/** One of each kind that a producer can send to a broker with default settings. */
export const POISON_KINDS: readonly Poison[] = [
  { reason: 'invalid_json', value: Buffer.from('{"orderId": 17, "customer": {"name": "cut o') },
  { reason: 'nul_character', value: Buffer.from('{"note": "an escaped NUL: \\u0000"}') },
  { reason: 'nul_character', value: Buffer.from('{"note": "a raw NUL: \0"}') },
  {
    reason: 'invalid_utf8',
    value: Buffer.concat([Buffer.from('{"note": "'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
  },
  { reason: 'number_out_of_range', value: Buffer.from('{"total": 1e200000}') },
  { reason: 'nesting_too_deep', value: Buffer.from('['.repeat(NESTING) + ']'.repeat(NESTING)) },
  { reason: 'value_too_large', value: Buffer.from(JSON.stringify({ note: 'x'.repeat(MAX_VALUE_BYTES) })) },
  { reason: 'key_not_text', key: Buffer.from([0xff, 0xfe, 0xfd]) },
];
