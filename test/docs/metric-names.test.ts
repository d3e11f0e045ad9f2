import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import { UNFOLLOWED_PARAMETERS } from '../../settings/sections/database-url.ts';

const CATALOGUE = Object.values<MetricDefinition>(METRICS);

const ENDINGS: Partial<Record<MetricDefinition['type'], readonly string[]>> = {
  summary: ['', '_count', '_sum'],
  histogram: ['', '_bucket', '_count', '_sum'],
};

const NAMES = CATALOGUE.flatMap(({ name, type }) => (ENDINGS[type] ?? ['']).map((ending) => name + ending));
const LABELS = new Set(CATALOGUE.flatMap(({ labels }) => labels));

/** Words that begin as a metric does; what goes on with `*` or ends in `_` stands for several. */
const FIRST_WORDS = new Set(NAMES.map((name) => name.split('_')[0]));
const NAMED = new RegExp(`(?<![\\w./:$-])(?:${[...FIRST_WORDS].join('|')})_[a-z0-9_]*[a-z0-9]\\b(?!\\*)`, 'g');

/** Settings of PostgreSQL's server that begin as a metric does. */
const OF_POSTGRESQL = new Set(['ssl_ca_file', 'log_min_duration_statement', 'log_parameter_max_length']);

const DOCUMENTS = [
  'README.md',
  ...['docs', 'docs/runbooks'].flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${folder}/${file}`),
  ),
];

test.each(DOCUMENTS)('every metric that %s names, or the beginning of one, is in the catalogue', (path) => {
  const named = [...readFileSync(path, 'utf8').matchAll(NAMED)].map(([name]) => name);
  const known = (word: string) =>
    LABELS.has(word) ||
    OF_POSTGRESQL.has(word) ||
    Object.hasOwn(UNFOLLOWED_PARAMETERS, word) ||
    NAMES.some((name) => name.startsWith(word));
  expect(named.filter((word) => !known(word))).toEqual([]);
});

test.each(DOCUMENTS)('no query in %s takes the speed from the counter that leaves with its partition', (path) => {
  const speed = /(rate|increase|sum)\((sum by \(.*\) \()?kafka_consumer_records_consumed_total/;
  expect(readFileSync(path, 'utf8')).not.toMatch(speed);
});

test('documents name metrics', () => {
  const metrics = readFileSync('docs/metrics.md', 'utf8');
  expect(metrics.match(NAMED)?.length).toBeGreaterThan(CATALOGUE.length);
});
