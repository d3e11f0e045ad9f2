import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { managementEndpoint } from '../contract/actuator.ts';
import { ALERTS } from '../contract/alerts.ts';
import type { SchemaNode } from '../settings/schema/schema.ts';
import { listSettings } from '../settings/schema/setting-list.ts';
import { SettingsSchema } from '../settings/settings.ts';
import { exampleConsumer } from './charts/example-consumer.ts';
import { renderedConsumer } from './charts/rendered-consumer.ts';
import { VARIANTS } from './manifests/variants.ts';
import { renderedMonitoring } from './monitoring/rendered-monitoring.ts';

const file = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const readme = file('README.md');
const deploy = file('docs/deploy.md');
const dependencies = file('docs/dependencies.md');
const contributing = file('CONTRIBUTING.md');
const manifest = JSON.parse(file('package.json')) as Record<string, Record<string, string>>;

/** All kinds that some consumer.yaml renders to. */
const KINDS = [
  ...new Set(
    Object.values(VARIANTS)
      .flatMap((changes) => [...renderedConsumer(changes), ...renderedMonitoring(changes)])
      .map(({ kind }) => kind),
  ),
];

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

describe('the README', () => {
  test.each([...new Set([readme, contributing].flatMap((text) => matches(text, /npm run ([a-z][a-z0-9:-]*)/g)))])(
    'names no script that is not there: npm run %s',
    (script) => {
      expect(Object.keys(manifest['scripts'] ?? {})).toContain(script);
    },
  );

  test.each(Object.keys({ ...manifest['dependencies'], ...manifest['devDependencies'] }))(
    'has a reason for the dependency %s',
    (name) => {
      const known = matches(dependencies, /^\| (`.*?) \|/gm).join(', ');
      const isKnown = known.includes(`\`${name}\``) || (name.startsWith('@types/') && known.includes('`@types/*`'));
      expect([name, isKnown]).toEqual([name, true]);
    },
  );

  test.each(matches(file('docs/monitoring-interface.md'), /localhost:8080(\/actuator[^\s?'"{}]*)/g))(
    'asks only paths that are served: %s',
    (path) => {
      const { basePath, healthPath, infoPath, metricsPath, prometheusPath } = managementEndpoint(
        exampleConsumer().settings,
      );
      const served = [basePath, healthPath, infoPath, metricsPath, prometheusPath];
      expect(served.some((known) => path === known || path.startsWith(`${known}/`))).toBe(true);
    },
  );

  test.each(matches(file('docs/configuration.md'), /^(\| `[a-z]+\.[a-zA-Z]+` \| `[A-Z_]+` \|.*)$/gm))(
    'has the settings as they are: %s',
    (row) => {
      const [path, environment, initial] = matches(row, /\| `?([^`|]+?)`?(?= \|)/g);
      const setting = listSettings(SettingsSchema as SchemaNode).find((candidate) => candidate.path === path);
      expect(setting?.environmentName).toBe(environment);
      expect(setting?.isRequired ? 'required' : String(setting?.schema.default) || 'none').toBe(initial);
    },
  );

  test('has the thresholds of the alerts as they are', () => {
    const { ConsumerLagHigh: lag, MemoryHigh: memory } = ALERTS;
    const operate = file('docs/operate.md');
    expect(operate).toContain(`more than ${lag.warning.threshold.toLocaleString('en')} records behind`);
    expect(operate).toContain(`more than ${lag.critical.threshold.toLocaleString('en')} records behind`);
    expect(operate).toContain(
      `above ${memory.warning.threshold * 100} % of the memory limit, for ${memory.warning.for} | above ${memory.critical.threshold * 100} %`,
    );
  });

  test.each(KINDS)('says of every kind of object what it is: %s', (kind) => {
    const rows = matches(deploy, /^\| In `dist\/` \|.*\n\|.*\n((?:\|.*\n)*)/gm).join('');
    const known = matches(rows, /^\| (.+?) \| .+? \|/gm).join(', ');
    expect(known.split(/[^A-Za-z]+/)).toContain(kind);
  });

  test('patches what no prop says, in the example of the library', () => {
    const fields = matches(file('docs/library.md'), /JsonPatch\.add\('[^']*\/(\w+)'/g);
    expect(fields).not.toEqual([]);
    expect(
      fields.filter((field) => new RegExp(`\\b${field}\\??:`).test(file('deployment/generated/props.ts'))),
    ).toEqual([]);
  });

  test('marks what only works with a registry of the reader', () => {
    const blocks = matches(file('docs/image.md'), /```bash\n(.*?)```/gs).filter((block) =>
      /podman push|cosign/.test(block),
    );
    expect(blocks).not.toEqual([]);
    expect(blocks.filter((block) => !block.startsWith('# needs a registry'))).toEqual([]);
  });
});
