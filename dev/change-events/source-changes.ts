import { pick, type RandomSource, randomSource } from '../orders/random-source.ts';
import { NAMES } from '../orders/sample-record.ts';

/**
 * A change of the shop as SQL, run as one transaction: with what it is about at random, by the number of the change.
 */
type Change = (random: RandomSource, index: number) => string;

const STATES = ['new', 'paid', 'shipped'];
const MOVED = 1_000_000_000;
/** One of so many values is NULL. */
const NULL_EVERY = 6;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const orNull = (random: RandomSource, value: string): string => (random.below(NULL_EVERY) === 0 ? 'NULL' : value);

/**
 * A row that is there at the time, where the table has one: the first one from a random number on, or the first one of
 * all.
 */
const anId = (random: RandomSource, table: string, upTo: number): string => {
  const from = random.below(Math.max(1, upTo));
  return `coalesce((SELECT id FROM ${table} WHERE id >= ${from} ORDER BY id LIMIT 1), (SELECT min(id) FROM ${table}))`;
};

const instant = (random: RandomSource): string => {
  const microseconds = String(random.below(1_000_000)).padStart(6, '0');
  return `timestamp '2026-01-01' + interval '${random.below(30_000_000)}.${microseconds} seconds'`;
};

/** What changes in an order, beside its number. */
const ORDER_VALUES: Readonly<Record<string, (random: RandomSource) => string>> = {
  customer: (random) => quoted(`${pick(random, NAMES)} ${random.below(100)}`),
  amount: (random) =>
    orNull(random, `${random.below(2) === 0 ? '' : '-'}${random.below(1_000_000)}.${random.below(100)}`),
  state: (random) => orNull(random, quoted(pick(random, STATES))),
  gift: (random) => String(random.below(2) === 0),
  placed_at: (random) => orNull(random, `(${instant(random)}) AT TIME ZONE 'UTC'`),
  due: (random) => orNull(random, `date '2026-01-01' + ${random.below(1_000)}`),
  changed_at: (random) => orNull(random, instant(random)),
  note: (random) => orNull(random, quoted(`line\none\t"${random.below(1_000)}" \\ 'ü' 😀`)),
};

const insertOrder: Change = (random, index) => {
  const values = Object.values(ORDER_VALUES).map((value) => value(random));
  const lines = Array.from(
    { length: 1 + random.below(3) },
    (_, nth) =>
      `(${index}, ${nth + 1}, 'S-${random.below(1_000)}', ${orNull(random, String(random.below(9)))}, ${orNull(random, `${random.below(1_000)}.${random.below(1_000)}${1 + random.below(9)}`)})`,
  );
  return `INSERT INTO orders (id, ${Object.keys(ORDER_VALUES).join(', ')}) VALUES (${index}, ${values.join(', ')});
    INSERT INTO order_lines VALUES ${lines.join(', ')}`;
};

const updateOrder: Change = (random, index) => {
  const changes = Object.entries(ORDER_VALUES)
    .filter(() => random.below(3) === 0)
    .map(([column, value]) => `${column} = ${value(random)}`);
  return `UPDATE orders SET ${['gift = NOT gift', ...changes.filter((change) => !change.startsWith('gift'))].join(', ')}
    WHERE id = ${anId(random, 'orders', index)}`;
};

const deleteOrder: Change = (random, index) => `DELETE FROM orders WHERE id = ${anId(random, 'orders', index)}`;

/** Deleted and made again under the same number, in one transaction. */
const renewOrder: Change = (random, index) =>
  `WITH gone AS (DELETE FROM orders WHERE id = ${anId(random, 'orders', index)} RETURNING id)
   SELECT id INTO TEMP renewed FROM gone;
   INSERT INTO orders (id, customer) SELECT id, ${quoted(pick(random, NAMES))} FROM renewed; DROP TABLE renewed`;

const moveOrder: Change = (random, index) =>
  `UPDATE orders SET id = ${MOVED + index} WHERE id = ${anId(random, 'orders', index)}`;

/**
 * By a third number: Debezium may send the rows of a swap in one statement in an order in which one of them is lost.
 */
const swapOrders: Change = (random, index) => `
  DO $$ DECLARE one integer := ${anId(random, 'orders', index)}; other integer; BEGIN
    SELECT min(id) INTO other FROM orders WHERE id > one;
    IF other IS NOT NULL THEN
      UPDATE orders SET id = -1 WHERE id = one; UPDATE orders SET id = one WHERE id = other; UPDATE orders SET id = other WHERE id = -1;
    END IF;
  END $$`;

const ofLines = (random: RandomSource, index: number): string =>
  `WHERE order_id = (SELECT order_id FROM order_lines WHERE order_id >= ${random.below(Math.max(1, index))} ORDER BY 1 LIMIT 1)`;

const updateLines: Change = (random, index) =>
  `UPDATE order_lines SET quantity = ${orNull(random, String(random.below(9)))} ${ofLines(random, index)}`;

const moveLines: Change = (random, index) => `UPDATE order_lines SET line = line + 10 ${ofLines(random, index)}`;

const deleteLines: Change = (random, index) =>
  `DELETE FROM order_lines ${ofLines(random, index)} AND line % 2 = ${random.below(2)}`;

/** More than 2 kB, which PostgreSQL keeps apart from the row. */
const large = (random: RandomSource): string =>
  `(SELECT string_agg(md5(${random.below(2 ** 30)} || '.' || i), '') FROM generate_series(1, 80) AS i)`;

const list = (random: RandomSource, element: string): string =>
  `(SELECT array_agg(${element} ORDER BY i) FROM generate_series(${1 + random.below(9)}, 700) AS i)`;

/** New values of the large columns of documents, by their names. */
const LARGE_VALUES: Readonly<Record<string, (random: RandomSource) => string>> = {
  body: large,
  data: (random) => `jsonb_build_object('text', ${large(random)}, 'number', ${random.below(1_000)}.50)`,
  raw: (random) => `decode(${large(random)} || ${large(random)}, 'hex')`,
  tags: (random) => list(random, `CASE i % 50 WHEN 0 THEN NULL ELSE 'tag "' || i || '"' END`),
  pages: (random) => list(random, 'i'),
  readers: (random) => list(random, `md5(${random.below(1_000)} || '.' || i)::uuid`),
};

const largeValues = (random: RandomSource): Record<string, string> =>
  Object.fromEntries(Object.entries(LARGE_VALUES).map(([column, value]) => [column, orNull(random, value(random))]));

const assignments = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ');

const title = (random: RandomSource): string => quoted(`title ${random.below(10_000)}`);

/** The changes of a table of documents; they differ in which large values change with the row. */
const documentChanges = (table: string) => {
  const one = (random: RandomSource, index: number) => `WHERE id = ${anId(random, table, index)}`;
  const insert: Change = (random, index) => {
    const values = largeValues(random);
    return `INSERT INTO ${table} (id, title, ${Object.keys(values).join(', ')})
      VALUES (${index}, ${title(random)}, ${Object.values(values).join(', ')})`;
  };
  const retitle: Change = (random, index) => `UPDATE ${table} SET title = ${title(random)} ${one(random, index)}`;
  const changeSome: Change = (random, index) => {
    const some = Object.entries(largeValues(random)).filter(() => random.below(3) === 0);
    const values = Object.fromEntries([['title', title(random)], ...some]);
    return `UPDATE ${table} SET ${assignments(values)} ${one(random, index)}`;
  };
  const remove: Change = (random, index) => `DELETE FROM ${table} ${one(random, index)}`;
  return { insert, retitle, changeSome, remove, one };
};

const documents = documentChanges('documents');
const contracts = documentChanges('contracts');

/** All large values change with the key: Debezium sends none of the others, and their row is gone. */
const moveDocument: Change = (random, index) =>
  `UPDATE documents SET id = ${MOVED + index}, ${assignments(largeValues(random))} ${documents.one(random, index)}`;

/** With the old row in the log Debezium sends what did not change, too. */
const moveContract: Change = (random, index) =>
  `UPDATE contracts SET id = ${MOVED + index} ${contracts.one(random, index)}`;

/** How many of a hundred changes are of each kind. */
const MIX: readonly (readonly [number, Change])[] = [
  [22, insertOrder],
  [18, updateOrder],
  [6, deleteOrder],
  [3, renewOrder],
  [4, moveOrder],
  [4, swapOrders],
  [5, updateLines],
  [3, moveLines],
  [3, deleteLines],
  [8, documents.insert],
  [6, documents.retitle],
  [5, documents.changeSome],
  [3, documents.remove],
  [2, moveDocument],
  [3, contracts.insert],
  [2, contracts.retitle],
  [1, contracts.changeSome],
  [1, contracts.remove],
  [1, moveContract],
];
const DECK = MIX.flatMap(([weight, change]) => Array.from({ length: weight }, () => change));

/**
 * The change at an index of the stream of a shop's changes: the statements of one transaction, the same for the same
 * seed. What a change is about has to be there: where it is not, it changes nothing.
 */
export function shopChange(seed: number, index: number): string {
  const random = randomSource(seed, index);
  const change = DECK[random.below(DECK.length)] ?? insertOrder;
  return change(random, index);
}
