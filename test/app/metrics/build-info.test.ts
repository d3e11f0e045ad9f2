import { expect, test } from '@jest/globals';
import type { ExpositionFormat } from '../../../app/metrics/exposition/exposition.ts';
import type { ProductBuild } from '../../../app/metrics/process/product-build.ts';
import { managementOptions } from '../management/running-management.ts';
import { runningMetrics } from './running-metrics.ts';

const buildLine = async (
  format: ExpositionFormat,
  build: ProductBuild,
  tags: Readonly<Record<string, string>> = {},
) => {
  const { settings } = managementOptions();
  const management = { ...settings.management, metrics: { tags } };
  const metrics = runningMetrics({ build, settings: { ...settings, management } });
  return (await metrics.write(format, new Set(['consumer_build_info', 'consumer_build']))).split('\n')[2];
};

const COMMIT = '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182';

test.each<ExpositionFormat>(['text', 'openmetrics'])('the build has its version and commit (%s)', async (format) => {
  expect(await buildLine(format, { version: '1.2.3', commit: COMMIT })).toBe(
    'consumer_build_info{application="stream-consumer",commit="3a2e408",version="1.2.3"} 1',
  );
});

test.each<ExpositionFormat>(['text', 'openmetrics'])(
  'a build that does not know its commit has no label for it (%s)',
  async (format) => {
    expect(await buildLine(format, { version: '1.2.3' })).toBe(
      'consumer_build_info{application="stream-consumer",version="1.2.3"} 1',
    );
  },
);

test('the version and the commit of the build go before tags of the same name', async () => {
  const tags = { version: 'a tag', commit: 'a tag' };
  expect(await buildLine('text', { version: '1.2.3', commit: COMMIT }, tags)).toContain(
    'commit="3a2e408",version="1.2.3"',
  );
});
