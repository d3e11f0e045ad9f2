import type { Message } from 'kafkajs';
import { pick, randomSource } from '../../orders/random-source.ts';
import { uuid } from '../../orders/table-records.ts';
import { avroEvent, avroOrder } from './avro-orders.ts';
import { eventOf, keyOf } from './change-events.ts';
import { protobufOrder } from './protobuf-orders.ts';

const FIRST_AT = Date.UTC(2026, 0, 1);
const BROKEN_EVERY = 100;
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY'];
const STATUSES = ['new', 'paid', 'packed', 'shipped'];
const NAMES = ['Ada Okafor', 'Grace Lindqvist', 'Zoë Müller', 'Jun 田中', 'Émile Dubois', 'Sofía Rojas'];

interface OrdersTopic {
  readonly seed: number;
  readonly isBroken?: (index: number) => boolean;
  /** How the change events of the orders are written. Left out: the values are the orders. */
  readonly events?: Parameters<typeof eventOf>[2];
  /** Whether they are Avro, or Protobuf, behind the ids of their schemas. */
  readonly isAvro?: boolean;
  readonly isProtobuf?: boolean;
}

/** Topics of the same orders: another seed gives the same keys other values. */
export const TOPICS = {
  orders: { seed: 1 },
  again: { seed: 2 },
  broken: { seed: 1, isBroken: (index) => index % BROKEN_EVERY === BROKEN_EVERY / 2 },
  events: { seed: 1, events: {} },
  eventsAgain: { seed: 2, events: {} },
  eventsKept: { seed: 3, events: { isKept: true } },
  eventsWithSchema: { seed: 1, events: { hasSchema: true } },
  avro: { seed: 1, isAvro: true },
  avroEvents: { seed: 1, events: {}, isAvro: true },
  protobuf: { seed: 1, isProtobuf: true },
} as const satisfies Readonly<Record<string, OrdersTopic>>;

/** Whether the values of a topic are behind the ids of schemas. */
export const isRegistered = (topic: keyof typeof TOPICS): boolean =>
  'isAvro' in TOPICS[topic] || 'isProtobuf' in TOPICS[topic];

/** An order of about 240 bytes, as a message of its key. */
export function orderMessage(topic: keyof typeof TOPICS, index: number): Message {
  const { seed, isBroken, events, isAvro = false, isProtobuf = false }: OrdersTopic = TOPICS[topic];
  const random = randomSource(seed, index);
  const cents = String(100 + random.below(900_000));
  const total = isBroken?.(index) ? '"much"' : `${cents.slice(0, -2)}.${cents.slice(-2)}`;
  const rest = {
    placedAt: new Date(FIRST_AT + index * 37).toISOString(),
    gift: random.below(5) === 0,
    paymentId: uuid(random),
    currency: pick(random, CURRENCIES),
    status: pick(random, STATUSES),
    customerName: pick(random, NAMES),
    items: [{ sku: 1_000 + random.below(9_000), quantity: 1 + random.below(4) }],
  };
  const json = `{"id":${index},"customerId":${random.below(20_000)},"total":${total},${JSON.stringify(rest).slice(1)}`;
  return events === undefined
    ? { key: String(index), value: isAvro ? avroOrder(json) : isProtobuf ? protobufOrder(json) : json }
    : { key: keyOf(index, events), value: isAvro ? avroEvent(json, index) : eventOf(json, index, events) };
}
