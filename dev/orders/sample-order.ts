import type { RandomSource } from './random-source.ts';

const NAMES = ['Ada Okafor', 'Grace Lindqvist', 'Zoë Müller', 'Jun 田中', 'Émile Dubois', 'Sofía Rojas', 'Noah Cohen'];
const GOODS = ['kettle', 'lamp', 'notebook', 'raincoat', 'teapot', 'umbrella', 'violin strings', 'wool scarf'];
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY'];
const STATUSES = ['new', 'paid', 'packed', 'shipped'];
/** Above 2^53: a consumer that parses and prints numbers in JavaScript would change it. */
const FIRST_ORDER_ID = 9_007_199_254_740_993n;
const FIRST_ORDER_AT = Date.UTC(2026, 0, 1);
const MS_BETWEEN_ORDERS = 37;

const pick = (random: RandomSource, from: readonly string[]): string => from[random.below(from.length)] ?? '';

/** Text of a JSON order, about 200 bytes. */
export function sampleOrder(random: RandomSource, index: number, customer: number): string {
  const quantity = 1 + random.below(4);
  const cents = 199 + random.below(20_000);
  const rest = {
    customer: { id: customer, name: pick(random, NAMES) },
    items: [{ sku: `SKU-${1_000 + random.below(9_000)}`, name: pick(random, GOODS), quantity }],
    currency: pick(random, CURRENCIES),
    status: pick(random, STATUSES),
    placedAt: new Date(FIRST_ORDER_AT + index * MS_BETWEEN_ORDERS).toISOString(),
  };
  // Written by hand: two decimals and a number of 16 digits are beyond JSON.stringify.
  const total = `${Math.floor((quantity * cents) / 100)}.${String((quantity * cents) % 100).padStart(2, '0')}`;
  return `{"orderId":${FIRST_ORDER_ID + BigInt(index)},"total":${total},${JSON.stringify(rest).slice(1)}`;
}
