import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { configure, printSettings } from '../../../app/commands/configure.ts';
import { springEnvironmentName } from '../../../settings/schema/setting-list.ts';
import { IS_LONG_RUN, longTest } from '../../integration/stack/long-test.ts';
import { canary, mutate, plantedDocument, randomNumbers, SETTINGS, told } from './canaries.ts';
import { folderWith } from './folder.ts';
import { REQUIRED } from './loading.ts';

const warnings: string[] = [];
const warned = (warning: Error): void => void warnings.push(String(warning));
beforeAll(() => void process.on('warning', warned));
afterAll(() => void process.off('warning', warned));

type Env = Readonly<Record<string, string>>;

/** All that the process prints for these arguments, and whether the configuration was right. */
function printed(argv: readonly string[], env: Env, cwd: string): { readonly text: string; readonly isRight: boolean } {
  const decision = configure([...argv], env, cwd);
  return decision.kind === 'exit'
    ? { text: `${decision.stdout ?? ''}${decision.stderr ?? ''}`, isRight: decision.code === 0 }
    : { text: printSettings(decision.settings), isRight: true };
}

/** Texts that people put into a wrong setting; the secret in each is recognized wherever it stands. */
const FORMS: readonly ((secret: string) => string)[] = [
  (secret) => `app:${secret}@db.example:5432`,
  (secret) => `https://app:${secret}@admin.example/x`,
  (secret) => `https://admin.example/x?token=${secret}`,
  (secret) => `host=db password=${secret}`,
  (secret) => `-----BEGIN PRIVATE KEY-----\n${secret}\n${secret}\n-----END PRIVATE KEY-----\n`,
  (secret) => `{"password": "${secret}"}`,
  (secret) => `Bearer ${secret}`,
];

/** Texts in which nothing marks the secret: they may be shown where they are right values, as any name may. */
const PLAIN_FORMS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `postgres:/app:${secret}`,
  (secret) => `\${${secret}}`,
];

const isSecret = ({ schema }: (typeof SETTINGS)[number]): boolean => (schema['x-secret'] ?? false) !== false;

/** Of the pairs of a setting and a form each way to give a secret takes one in so many, `npm run test:long` all. */
const SHARES = IS_LONG_RUN ? 1 : 9;

/** Each setting with a secret in forms of this share; the shares have each setting with each form together. */
function plantings(share: number) {
  const random = randomNumbers(7);
  return SETTINGS.flatMap((setting, nth) => {
    const secret = canary(random);
    const forms = [...PLAIN_FORMS, ...FORMS].filter((_, form) => (nth + form) % SHARES === share % SHARES);
    return forms.map((form) => ({
      setting,
      secret,
      value: form(secret),
      mayBeRight: PLAIN_FORMS.includes(form) && !isSecret(setting),
    }));
  });
}

/** @returns what shows a secret where it must not */
function leaks(
  share: number,
  give: (planting: ReturnType<typeof plantings>[number]) => ReturnType<typeof printed>,
): string[] {
  return plantings(share).flatMap((planting) => {
    const { text, isRight } = give(planting);
    const mayShow = planting.mayBeRight && isRight;
    return !mayShow && told(text, [planting.secret]).length > 0
      ? [`${planting.setting.path} = ${planting.value}\n${text}`]
      : [];
  });
}

describe('a secret in any setting shows nowhere', () => {
  test('when an environment variable gives it, whichever of its names', () => {
    const cwd = folderWith({});
    const names = ({ path, environmentName }: (typeof SETTINGS)[number]) =>
      [environmentName, springEnvironmentName(path), `${environmentName}_0`].map((name) =>
        name.replace('<NAME>', 'CUSTOM'),
      );
    for (const index of [0, 1, 2]) {
      expect(
        leaks(index, ({ setting, value }) => {
          const name = names(setting)[index] ?? '';
          const { [setting.environmentName as 'DATABASE_URL']: _replaced, ...required } = REQUIRED;
          return printed(['--check'], { ...required, [name]: value }, cwd);
        }),
      ).toEqual([]);
    }
  });

  test('when a file of the config tree gives it', () => {
    const cwd = folderWith({});
    let count = 0;
    expect(
      leaks(0, ({ setting, value }) => {
        count += 1;
        const tree = join(cwd, `tree${count}`);
        const file = join(tree, ...setting.segments.map((key) => key.replace('<name>', 'custom')));
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, value);
        const { [setting.environmentName as 'DATABASE_URL']: _replaced, ...required } = REQUIRED;
        return printed(['--check', '--config-tree', tree], required, cwd);
      }),
    ).toEqual([]);
  });

  test.each([
    ['as its value', 0],
    ['as a key below it', 1],
    ['as a list in its place', 2],
    ['as a text of several lines', 0],
  ] as const)('when the YAML file has it %s', (how, share) => {
    const cwd = folderWith({});
    const shaped: Readonly<Record<string, (text: string) => unknown>> = {
      'as its value': (text) => text,
      'as a key below it': (text) => ({ [text]: 1 }),
      'as a list in its place': (text) => [text, [text]],
      'as a text of several lines': (text) => `a\n  password: ${text}`,
    };
    expect(
      leaks(share, ({ setting, value }) => {
        const { [setting.environmentName as 'DATABASE_URL']: _replaced, ...required } = REQUIRED;
        const key = setting.path.replace('<name>', 'custom');
        writeFileSync(join(cwd, 'application.yml'), stringify({ [key]: shaped[how]?.(value) }));
        return printed(['--check'], required, cwd);
      }),
    ).toEqual([]);
  });
});

test('a secret on the command line, or as the name of a file, shows nowhere', () => {
  const cwd = folderWith({});
  const secret = canary(randomNumbers(11));
  const lines = [
    ...[[secret], [`--${secret}`], [`--${secret}=x`], [`-${secret}`], [`-p${secret}`], [`--password=${secret}`]],
    ...[['--config', secret], [`--config=${secret}`], [`--config-tree=${secret}/x`], [`--check=${secret}`]],
    ...[
      ['migrate', secret],
      ['dead-letters', secret],
      ['dead-letters', 'list', secret],
      ['dead-letters', secret, 'x'],
      ['offsets', secret],
      ['offsets', 'begin-again', 'x', secret],
    ],
    ...[
      ['dead-letters', 'list', '--reason', secret],
      ['dead-letters', 'list', `--limit=${secret}`],
    ],
  ];
  const all = [...lines, ...[...PLAIN_FORMS, ...FORMS].flatMap((form) => [[form(secret)], ['--config', form(secret)]])];
  expect(all.filter((argv) => told(printed(argv, REQUIRED, cwd).text, [secret]).length > 0)).toEqual([]);
  const files = [...PLAIN_FORMS, ...FORMS].map((form) => form(secret));
  for (const name of ['CONFIG_FILE', 'CONFIG_TREE']) {
    const found = files.filter(
      (file) => told(printed([], { ...REQUIRED, [name]: file }, cwd).text, [secret]).length > 0,
    );
    expect(found).toEqual([]);
  }
});

function showsNoSecretAfterSlips(runs: number): void {
  const random = randomNumbers(20_261_122);
  const { document, secrets } = plantedDocument(random);
  const cwd = folderWith({});
  const files = [
    stringify(document),
    stringify(document, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' }),
    stringify(document).replace('@db.example:5432', '@a.example:5432,b.example:5433'),
  ];
  const check = (text: string) => {
    writeFileSync(join(cwd, 'application.yml'), text);
    return printed(['--check'], {}, cwd);
  };
  expect(files.map((text) => check(text).isRight)).toEqual([true, true, true]);
  const counts = { right: 0, wrong: 0 };
  for (let run = 0; run < runs; run += 1) {
    let text = files[run % files.length] ?? '';
    for (let slips = 1 + Math.floor(random() * 3); slips > 0; slips -= 1) {
      text = mutate(text, random);
    }
    const { text: output, isRight } = check(text);
    counts[isRight ? 'right' : 'wrong'] += 1;
    const found = told(output, secrets);
    if (found.length > 0) {
      throw new Error(`run ${run} shows ${found.join()}:\n${text}\n\n${output}`);
    }
  }
  expect(Math.min(counts.right, counts.wrong)).toBeGreaterThan(runs / 20);
  expect(told(warnings.join('\n'), secrets)).toEqual([]);
}

const NO_SLIP = 'no slip in the YAML file makes a message, or --check, show a secret';

test(NO_SLIP, () => showsNoSecretAfterSlips(200));

// The same slips and more of them.
longTest(`${NO_SLIP}, in 3,000 files`, async () => showsNoSecretAfterSlips(3_000));

test('no line of the log of a start shows a secret', async () => {
  const { document, secrets } = plantedDocument(randomNumbers(5));
  const url = `postgresql://app:${secrets[0]}@127.0.0.1:1/orders?password=${secrets[1]}`;
  const env = { PATH: process.env['PATH'], DATABASE_URL: url, KAFKA_BROKERS: '127.0.0.1:1' };
  const own = { ...env, SERVER_ADDRESS: '127.0.0.1', SERVER_PORT: '0', MANAGEMENT_SERVER_ADDRESS: '127.0.0.1' };
  const started = {
    ...own,
    MANAGEMENT_SERVER_PORT: '0',
    SPRING_BOOT_ADMIN_CLIENT_URL: 'http://127.0.0.1:1',
    LOGGING_LEVEL: 'trace',
  };
  const cwd = folderWith({ 'application.yml': stringify(document) });
  const main = join(import.meta.dirname, '../../../app/main.ts');
  const tsx = import.meta.resolve('tsx');
  const consumer = spawn(process.execPath, ['--import', tsx, main], { cwd, env: started });
  let output = '';
  const isSeen = (word: string) => output.includes(word);
  const seen = new Promise<void>((resolve) => {
    const take = (chunk: Buffer): void => {
      output += String(chunk);
      if (['"listening"', 'waiting for PostgreSQL', 'does not register'].every(isSeen)) {
        resolve();
      }
    };
    consumer.stdout.on('data', take);
    consumer.stderr.on('data', take);
  });
  const closed = once(consumer, 'close');
  await Promise.race([seen, closed]);
  consumer.kill();
  await closed;
  expect(output).toContain('waiting for PostgreSQL');
  expect(told(output, secrets)).toEqual([]);
}, 60_000);
