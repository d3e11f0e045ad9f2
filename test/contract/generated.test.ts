import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { generatedFiles, outdatedFiles } from '../../dev/generate/generated-files.ts';

const ROOT = join(import.meta.dirname, '..', '..');

function validatorOf(name: string) {
  const file = generatedFiles(ROOT).find(({ path }) => path === `contract/schemas/${name}.schema.json`);
  return new Ajv({ strict: false }).compile(JSON.parse(file?.content ?? 'false'));
}

const accepts = (name: string, yaml: string): boolean => validatorOf(name)(parse(yaml)) === true;

test('every generated file is up to date (npm run generate)', () => {
  expect(outdatedFiles(ROOT).map(({ path }) => path)).toEqual([]);
});

describe('the schema of application.yml', () => {
  const smallest = 'kafka: { brokers: [b:1], topics: [t], groupId: g }\ndatabase: { url: "postgresql://h/d" }\n';

  test('asks for nothing that has a default', () => {
    expect(accepts('application', smallest)).toBe(true);
  });

  test('takes a placeholder for a value of any type', () => {
    expect(accepts('application', `${smallest}server: { port: "\${PORT:1}" }\nconsumer: { startFrom: "\${A}" }`)).toBe(
      true,
    );
  });

  test.each(['server: { port: x }', 'server: { prt: 1 }', 'consumer: { startFrom: never }'])('refuses %s', (line) => {
    expect(accepts('application', smallest + line)).toBe(false);
  });
});

describe('the schema of an environment', () => {
  test('takes any part of consumer.yaml, and null to remove one', () => {
    expect(accepts('environment', 'replicas: 3\nimage: { tag: null }\nkafka: null')).toBe(true);
    expect(accepts('environment', 'application: { kafka: { topics: [t] } }')).toBe(true);
  });

  test.each(['replica: 3', 'replicas: many', 'application: { kafka: { topics: [] } }'])('refuses %s', (text) => {
    expect(accepts('environment', text)).toBe(false);
  });
});
