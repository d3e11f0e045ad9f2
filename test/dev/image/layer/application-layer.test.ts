import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { configure } from '../../../../app/commands/configure.ts';

const RIGHT = `
kafka: { brokers: ['localhost:9092'], topics: [orders], groupId: g, sasl: { mechanism: plain, username: u, password: p } }
database: { url: 'postgres://u:p@localhost/orders' }
management: { metrics: { tags: { region: eu } }, endpoint: { health: { group: { mine: { include: [db] } } } } }
spring: { boot: { admin: { client: { url: ['https://admin.example.com'] } } } }
info: { team: { name: orders } }
`;

/** A problem of each kind that a schema can find: type, range, choice, union, pattern, length, unknown and missing key, twice the same. */
const WRONG = `
server: { port: 70000, adress: 0.0.0.0 }
kafka: { brokers: [], topics: [a, a, 'b b'], sasl: { mechanism: plain }, ssl: perhaps }
database: { url: 'mysql://u:secret@localhost/orders', schema: '1', poolSize: 0, statementTimeout: 3 parsecs }
consumer: { onGap: jump, maxValueBytes: many }
management: { metrics: { tags: { '1-a': x } }, security: { username: u } }
logging: loud
`;

let folder = '';
const bundle = (): string => join(folder, 'layer', 'build', 'app');
const program = (): string => join(bundle(), 'main.js');
const bundled = (): readonly string[] =>
  readdirSync(bundle()).map((file) => readFileSync(join(bundle(), file), 'utf8'));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'layer-'));
  const args = ['--import', 'tsx', resolve('dev/image/layer/application-layer.ts'), join(folder, 'layer')];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stderr }).toMatchObject({ status: 0 });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('the bundle', () => {
  test.each([
    ['right ones', RIGHT, 0],
    ['wrong ones', WRONG, 78],
    ['none', '', 78],
  ])('checks settings by the validator it holds as the sources do: %s', (_name, text, code) => {
    const file = join(folder, 'application.yml');
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync(process.execPath, [program(), '--check', '--config', file], {
      env: {},
      encoding: 'utf8',
    });
    const decision = configure(['--check', '--config', file], {}, folder);
    expect(status).toBe(code);
    expect({ kind: 'exit', code: status, stdout, stderr }).toEqual({ stdout: '', stderr: '', ...decision });
  });

  test('is ASCII: V8 stores a file with another character twice as large', () => {
    expect(bundled().flatMap((text) => text.match(/^.*\P{ASCII}.*$/gmu) ?? [])).toEqual([]);
  });

  test("imports of Node's own modules only the one that gives it require: an import would load more than is used", () => {
    const imported = bundled().flatMap((text) => [...text.matchAll(/^import .*? from ["'](?!\.)([^"']*)["']/gm)]);
    expect(new Set(imported.map(([, name]) => name))).toEqual(new Set(['node:module']));
  });

  test('leaves out what compiles schemas', () => {
    const licenses = readFileSync(join(folder, 'layer', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    expect(licenses).toMatch(/^fastify \d/m);
    // json-schema-traverse is what ajv reads a schema with.
    expect(licenses).not.toMatch(
      /^(@fastify\/ajv-compiler|@fastify\/fast-json-stringify-compiler|json-schema-traverse) /m,
    );
  });
});

describe('what the build knows of its commit', () => {
  const COMMIT = '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182';

  test.each([
    [COMMIT, { commit: COMMIT }],
    [`${COMMIT}-dirty`, { commit: COMMIT, dirty: true }],
    ['unknown', {}],
    ['', {}],
  ])('is written for /actuator/info, of files that differ from it, too: %j', (revision, expected) => {
    const args = ['--import', 'tsx', resolve('dev/image/layer/build-info.ts'), folder];
    const { status, stderr } = spawnSync(process.execPath, args, { env: { REVISION: revision }, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(readFileSync(join(folder, 'build-info.json'), 'utf8'))).toEqual(expected);
  });
});
