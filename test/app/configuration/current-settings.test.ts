// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { followSettings, watchSettings } from '../../../app/configuration/current-settings.ts';
import { settingsReloading } from '../../../app/configuration/load-settings.ts';
import { ClientCertificates } from '../../../app/credentials/certificates-in-use.ts';
import type { Settings } from '../../../settings/settings.ts';
import { folderWith } from './folder.ts';
import { REQUIRED } from './loading.ts';
import { mountSecret } from './mounted-secret.ts';

const SASL = 'sasl: { mechanism: scram-sha-256, username: kafka-1, password: "${kafka-password}" }';
const URL = 'postgresql://role-1:url-hunter1@db/orders?sslmode=verify-full';

let files: string;
let tree: string;
let nowMs: number;
let lines: { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> }[];

beforeEach(() => {
  files = folderWith({ 'application.yml': `kafka: { ${SASL} }\n` });
  tree = folderWith({});
  nowMs = 0;
  lines = [];
});

const mount = (secret: Readonly<Record<string, string>>) => mountSecret(tree, secret);

const SECRET = {
  'database.user': 'role-1',
  'database.password': 'hunter1',
  'kafka-password': 'k-hunter1',
  'management.security.token': 't-hunter1',
  'spring.boot.admin.client.password': 'a-hunter1',
};

const { 'database.user': _user, 'database.password': _password, ...WITHOUT_ROLE } = SECRET;

const clock = {
  steady: () => new Date(nowMs),
  now: () => new Date(nowMs),
  wait: async (ms: number) => {
    nowMs += ms;
  },
};

const told = (level: string) => (fields: object, message: string) =>
  lines.push({ level, fields: { ...fields }, message });

const logger = { info: told('info'), warn: told('warn'), error: told('error') };

function follow(secret: Readonly<Record<string, string>> = SECRET, url = 'postgresql://db/orders') {
  mount(secret);
  const env = { ...REQUIRED, DATABASE_URL: undefined, SPRING_BOOT_ADMIN_CLIENT_USERNAME: 'admin' };
  writeFileSync(join(files, 'application.yml'), `kafka: { ${SASL} }\ndatabase.url: ${url}\n`);
  const certificates = new ClientCertificates(logger);
  const load = settingsReloading({ env, cwd: files, configTree: tree });
  const loaded = load();
  if (!loaded.ok) {
    throw new Error(JSON.stringify(loaded.problems));
  }
  return { start: loaded.value, current: followSettings(loaded.value, { load, logger, clock, certificates }) };
}

const credentials = ({ database, kafka, management, spring }: Settings) => [
  database.user,
  database.password,
  kafka.sasl?.password,
  management.security.token,
  spring.boot.admin.client.password,
];

describe('credentials of the config tree', () => {
  test('are those of the files a second later, also by a placeholder, and the log names the settings alone', () => {
    const { current } = follow();
    mount({
      'database.user': 'role-2',
      'database.password': 'hunter2',
      'kafka-password': 'k-hunter2',
      'management.security.token': 't-hunter2',
      'spring.boot.admin.client.password': 'a-hunter2',
    });
    nowMs = 999;
    expect(credentials(current())).toEqual(Object.values(SECRET));
    nowMs = 1_000;
    expect(credentials(current())).toEqual(['role-2', 'hunter2', 'k-hunter2', 't-hunter2', 'a-hunter2']);
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'settings changed: new connections and requests follow them',
        fields: {
          settings: [
            'kafka.sasl.password',
            'database.password',
            'database.user',
            'management.security.token',
            'spring.boot.admin.client.password',
          ],
        },
      },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/hunter|role-/);
  });

  test('are read every 10 s by themselves, until the end', async () => {
    const { current } = follow();
    mount({ ...SECRET, 'database.password': 'hunter2' });
    const ending = new AbortController();
    const { wait } = clock;
    await watchSettings(current, { ...clock, wait: (ms) => wait(ms).then(() => ending.abort()) }, ending.signal);
    expect([nowMs, lines.map(({ fields }) => fields)]).toEqual([10_000, [{ settings: ['database.password'] }]]);
  });

  test.each([
    ['is gone', () => rmSync(tree, { recursive: true })],
    ['holds a file that cannot be read', () => mount({ ...SECRET, 'database.password': 'hunter2'.repeat(200_000) })],
    ['holds a value that is wrong', () => mount({ ...SECRET, 'management.security.token': 'hunter 2' })],
    ['lacks what a placeholder names', () => rmSync(join(tree, 'kafka-password'))],
  ])('stay where the tree %s, and one line says why', (_what, damage) => {
    const { current } = follow();
    damage();
    for (nowMs of [1_000, 2_000, 3_000]) {
      expect(credentials(current())).toEqual(Object.values(SECRET));
    }
    expect(lines).toMatchObject([
      { level: 'error', message: 'settings cannot be read again: those in use stay', fields: { reason: /./ } },
    ]);
    expect(JSON.stringify(lines)).not.toContain('hunter');
    mount({ ...SECRET, 'database.password': 'hunter3' });
    nowMs = 4_000;
    expect(current().database.password).toBe('hunter3');
  });
});

test.each(['database', 'kafka'])(
  'a file with %s.tls as text leaves the settings in use, and one line says why',
  (section) => {
    const { current } = follow();
    const text = `kafka: { ${SASL} }\ndatabase.url: postgresql://db/orders\n${section}.tls: |\n  Bag\n  hunter2hunter2\n`;
    writeFileSync(join(files, 'application.yml'), text);
    for (nowMs of [1_000, 2_000]) {
      expect(credentials(current())).toEqual(Object.values(SECRET));
    }
    const reason = expect.stringMatching(new RegExp(`^${section}[.]tls has the wrong type: "[*]{6}"`));
    expect(lines).toMatchObject([{ level: 'error', fields: { reason } }]);
    expect(JSON.stringify(lines)).not.toContain('hunter');
  },
);

test('an error of the program while it reads again leaves the settings in use, and its message is not logged', () => {
  const { start } = follow();
  const load = () => {
    throw new TypeError("Cannot use 'in' operator to search for 'ca' in hunter2");
  };
  const current = followSettings(start, { load, logger, clock, certificates: new ClientCertificates(logger) });
  for (nowMs of [1_000, 2_000]) {
    expect(current()).toEqual(start);
  }
  expect(lines).toEqual([
    {
      level: 'error',
      message: 'settings cannot be read again: those in use stay',
      fields: { reason: 'the document cannot be read or checked' },
    },
  ]);
});

test('and where it is at a setting, its path is logged', () => {
  const { start } = follow();
  const registry = { ...start.schemaRegistry };
  Object.defineProperty(registry, 'url', {
    get: () => {
      throw new TypeError('hunter2');
    },
  });
  const load = () =>
    ({ ok: true, value: { ...start, schemaRegistry: registry } }) as unknown as ReturnType<
      ReturnType<typeof settingsReloading>
    >;
  const current = followSettings(start, { load, logger, clock, certificates: new ClientCertificates(logger) });
  nowMs = 1_000;
  expect(current()).toEqual(start);
  expect(lines).toMatchObject([{ level: 'error', fields: { reason: 'schemaRegistry cannot be read or checked' } }]);
});

describe("user and password of the database's URL", () => {
  test('are followed where the rest of it is the same', () => {
    const { current } = follow(WITHOUT_ROLE, URL);
    const url = URL.replace('role-1:url-hunter1', 'role-2:url-hunter2');
    writeFileSync(join(files, 'application.yml'), `kafka: { ${SASL} }\ndatabase.url: ${url}\n`);
    nowMs = 1_000;
    expect(current().database.url).toBe(url);
  });

  test('of another server wait for the start with it, as do those beside it', () => {
    const { start, current } = follow(SECRET, URL);
    const url = 'postgresql://role-2:url-hunter2@other/orders?sslmode=verify-full';
    writeFileSync(join(files, 'application.yml'), `kafka: { ${SASL} }\ndatabase.url: ${url}\n`);
    mount({ ...SECRET, 'database.password': 'hunter2' });
    nowMs = 1_000;
    expect(current().database).toEqual(start.database);
    expect(lines).toMatchObject([{ level: 'warn', fields: { settings: ['database.url', 'database.password'] } }]);
  });
});

test('any other change waits for the next start, and is told once', () => {
  const { start, current } = follow();
  const yaml = `kafka: { ${SASL.replace('256', '512')}, sessionTimeout: 20s }\ndatabase.url: postgresql://db/orders\n`;
  writeFileSync(join(files, 'application.yml'), `${yaml}info: { hunter2: { password: hunter2 } }`);
  mount({ ...SECRET, 'kafka-password': 'k-hunter2' });
  for (nowMs of [1_000, 2_000]) {
    expect(current()).toEqual(start);
  }
  const settings = [
    'kafka.sasl.mechanism',
    'kafka.sasl.password',
    'kafka.sessionTimeout',
    expect.stringMatching(/^info\./),
  ];
  expect(lines).toEqual([
    {
      level: 'warn',
      message: 'settings changed that take effect at the next start',
      fields: { settings: expect.arrayContaining(settings) },
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain('hunter');
});

test('the HTTP interface does not become open when the file of its only credential is lost', () => {
  const { current } = follow();
  rmSync(join(tree, 'management.security.token'));
  nowMs = 1_000;
  expect(current().management.security).toEqual({ token: 't-hunter1' });
});
