import type pg from 'pg';
import type { Written } from '../verdict/compare-tables.ts';
import type { Finding } from '../verdict/finding.ts';
import { findingOfNumbers } from './finding-of-numbers.ts';

/** Looks for rows at places that are not in the table `expected` of the connection: no record stands behind them. */
export async function unexpectedRows(client: pg.Client, { schema, topic, group }: Written): Promise<Finding> {
  const { rows } = await client.query<{ place: string }>(
    `SELECT t.topic || '/' || t.partition || '/' || t."offset" AS place
     FROM (SELECT topic, partition, "offset" FROM "${schema}".records
           UNION ALL SELECT topic, partition, "offset" FROM "${schema}".dead_letters WHERE group_id = $2) AS t
     LEFT JOIN expected e ON t.topic = $1 AND e.partition = t.partition AND e."offset" = t."offset"
     WHERE e."offset" IS NULL ORDER BY place`,
    [topic, group],
  );
  const places = rows.map(({ place }) => place);
  return findingOfNumbers('rows that no record stands behind', 0, places.length, places);
}
