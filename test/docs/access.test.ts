import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { mergeValues } from '../../app/configuration/merge-values.ts';
import { readYaml } from '../../app/configuration/read-yaml.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import type { SchemaNode } from '../../settings/schema.ts';
import { checkSettings, SettingsSchema } from '../../settings/settings.ts';
import { consumerDocument } from '../charts/example-consumer.ts';

const text = readFileSync('docs/access.md', 'utf8');
const examples = (file: string): readonly string[] =>
  [...text.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```/gm)].flatMap(([, name, yaml = '']) =>
    name === file ? [yaml] : [],
  );

const REQUIRED = `
kafka: { brokers: [b:1], topics: [t], group-id: g }
database: { url: postgresql://h/d }
`;

test.each(examples('application.yml'))('an example of application.yml is right: %s', (example) => {
  const { values } = readYaml({
    text: `${REQUIRED}\n---\n${example}`,
    name: 'application.yml',
    schema: SettingsSchema as SchemaNode,
    lookup: (name) => ({ ACTUATOR_TOKEN: 'b-7f3a', ACTUATOR_PASSWORD: 'hunter2' })[name],
  });
  expect(checkSettings(mergeValues(values).document)).toMatchObject({ ok: true });
});

test.each(examples('consumer.yaml'))('an example of consumer.yaml is right: %s', (example) => {
  expect(checkConsumerFile(consumerDocument(parse(example)))).toMatchObject({ ok: true });
});

test('there are examples of both', () => {
  expect([examples('application.yml').length, examples('consumer.yaml').length]).toEqual([4, 2]);
});
