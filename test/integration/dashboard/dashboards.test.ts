import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { HEALTH_STATUS_CODE } from '../../../contract/metrics/definition.ts';
import { POD } from '../../../monitoring/dashboards/scope.ts';
import { type Dashboard, drawnPanels, variableQuery } from '../../monitoring/dashboards/dashboard-model.ts';
import type { FoundRange } from '../stack/prometheus-server.ts';
import { randomName } from '../stack/random-name.ts';
import { type ObservedRun, observeRun, SCRAPE_SECONDS, TIMELINE } from './observed-run.ts';
import { type Answer, drawPicture } from './preview.ts';

const hasPrometheus = spawnSync('prometheus', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

if (!hasPrometheus && !isRequired) {
  process.stderr.write(
    'prometheus is not installed (Debian: apt-get install prometheus): the dashboards are NOT tested\n',
  );
}

const read = (name: string): Dashboard => JSON.parse(readFileSync(`dist/grafana/${name}.json`, 'utf8')) as Dashboard;

/** What a person chose at the top of each dashboard, as Grafana puts it into queries. */
const DASHBOARDS = [
  { dashboard: read('stream-consumer'), consumer: 'orders-consumer' },
  { dashboard: read('stream-consumers'), consumer: '(orders-consumer|refunds-consumer)' },
] as const;

/** Set by npm run dashboards:preview alone: nothing else needs chromium. */
const isPreview = process.env['STREAM_CONSUMER_DASHBOARDS_PREVIEW'] === 'true';

const LARGEST_PICTURE = 300_000;

const CAPTION = `Query results of a real run: a second Pod comes after ${TIMELINE.secondPodComes} s, PostgreSQL is away from ${TIMELINE.postgresStops} s to ${TIMELINE.postgresIsBack} s. Drawn with uPlot in the dashboard's layout; it is not Grafana's drawing.`;

/** The pictures in docs/images: what a person sees first, the rest of it, and all consumers. */
const PICTURES = [
  { file: 'stream-consumer.png', shown: 0, until: 32 },
  { file: 'stream-consumer-on-call.png', shown: 0, from: 32 },
  { file: 'stream-consumers.png', shown: 1 },
] as const;

/** Troubles that the run has not, or only between two scrapes. */
const NOT_SEEN = [
  'Prometheus has no Pod to scrape',
  `${POD} could not be scraped`,
  '{{topic}}: the lag of some partitions is not known',
  '{{topic}} waits alone',
  'nothing that is known',
];

let run: ObservedRun;

/** A query as Grafana would send it, with four scrapes for a rate. */
const filledIn = (query: string, consumer: string): string =>
  query
    .replaceAll('$namespace', 'stream-consumer')
    .replaceAll('$consumer', consumer)
    .replaceAll('$pod', '.*')
    .replaceAll('$topic', '.*')
    .replaceAll('$__rate_interval', `${4 * SCRAPE_SECONDS}s`)
    .replaceAll('$__range', `${TIMELINE.ends}s`);

const found = (query: string, consumer: string): Promise<readonly FoundRange[]> =>
  run.prometheus.queryRange(filledIn(query, consumer), run.range);

const numbers = (series: readonly FoundRange[]): number[] =>
  series.flatMap(({ values }) => values.map(([, value]) => Number(value))).filter((value) => !Number.isNaN(value));

(hasPrometheus || isRequired ? describe : describe.skip)('a Prometheus that has seen a minute with an outage', () => {
  beforeAll(async () => {
    run = await observeRun();
  });

  describe.each(DASHBOARDS)('the dashboard $dashboard.title', ({ dashboard, consumer }) => {
    test.each(drawnPanels(dashboard).map((panel) => [panel.title, panel] as const))(
      'the panel "%s" finds data by each of its queries',
      async (_title, panel) => {
        for (const { expr, legendFormat } of panel.targets.filter(
          (target) => !NOT_SEEN.includes(target.legendFormat),
        )) {
          const hasData = numbers(await found(expr, consumer)).length > 0;
          expect([legendFormat, hasData]).toEqual([legendFormat, true]);
        }
      },
    );

    test.each(dashboard.templating.list.slice(1).map((variable) => [variable.name, variable] as const))(
      'the variable %s has values',
      async (_name, variable) => {
        const [, asked = '', label = ''] =
          /^query_result\((group by \((\w+)\) .*)\)$/.exec(variableQuery(variable)) ?? [];
        const values = (await found(asked, consumer)).map(({ metric }) => metric[label]);
        expect([variable.name, values.filter((value) => value === undefined), values.length > 0]).toEqual([
          variable.name,
          [],
          true,
        ]);
      },
    );
  });

  test('the outage shows where a person would look', async () => {
    const shown = async (title: string, legend: string) => {
      const [{ dashboard, consumer }] = DASHBOARDS;
      const target = drawnPanels(dashboard)
        .find((panel) => panel.title === title)
        ?.targets.find(({ legendFormat }) => legendFormat === legend);
      return numbers(await found(target?.expr ?? '', consumer));
    };
    const highest = async (title: string, legend: string) => Math.max(...(await shown(title, legend)));
    expect(await highest('Consumer lag', '{{topic}}')).toBeGreaterThan(1_000);
    expect(await highest('Error rates', '{{reason}}')).toBeGreaterThan(0);
    expect(await highest('Error rates', 'dead letters')).toBeGreaterThan(0);
    expect(await highest('Connections that failed within 5 minutes', POD)).toBeGreaterThan(0);
    expect(await highest('Time at a standstill', POD)).toBeGreaterThan(0.5);
    expect(await highest('Health checks failed in a row', `${POD} not UP`)).toBeGreaterThan(0);
    expect(Math.min(...(await shown('Health by component', '{{component}}')))).toBe(HEALTH_STATUS_CODE.DOWN);
    expect(await highest('What is wrong', '{{component}} is not UP')).toBeGreaterThan(0);
    expect(await highest('What is wrong', '{{topic}}: dead letters within 5 minutes')).toBeGreaterThan(0);
    expect(await highest('Lag', 'lag')).toBeGreaterThan(1_000);
    expect(await highest('Rate', 'rate')).toBeGreaterThan(0);
    expect(await highest('Alerts firing', '{{alertname}} {{severity}}')).toBeGreaterThan(0);
    expect(await highest('Partitions by Pod', POD)).toBe(6);
    expect(await highest('Schemas known', POD)).toBe(1);
  });

  if (isPreview) {
    test.each(PICTURES)('draws docs/images/$file', async ({ file, shown, ...part }) => {
      const { dashboard, consumer } = DASHBOARDS[shown];
      const answers = new Map<number, readonly Answer[]>();
      for (const { id, targets } of drawnPanels(dashboard)) {
        const asked = targets.map(async ({ expr, legendFormat }) => ({
          legendFormat,
          series: await found(expr, consumer),
        }));
        answers.set(id, await Promise.all(asked));
      }
      const picture = { path: `docs/images/${file}`, dashboard, answers, range: run.range, caption: CAPTION, ...part };
      expect(drawPicture(picture)).toBeLessThan(LARGEST_PICTURE);
    });
  }
});

test('a preview without a browser says what is missing', () => {
  const [{ dashboard }] = DASHBOARDS;
  const picture = { path: join(tmpdir(), randomName('picture')), dashboard, answers: new Map(), caption: CAPTION };
  expect(() => drawPicture({ ...picture, range: { start: 0, end: 1, step: 1 } }, 'no-such-browser')).toThrow(
    'no-such-browser cannot be started (Debian: apt-get install chromium)',
  );
});
