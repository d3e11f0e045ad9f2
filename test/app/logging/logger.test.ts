import { expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { createLogger } from '../../../app/logging/logger.ts';
import type { Settings } from '../../../settings/settings.ts';

/** The lines that are logged at a level. */
function logAt(level: Settings['logging']['level'], write: (log: FastifyInstance['log']) => void) {
  const lines: Record<string, unknown>[] = [];
  write(createLogger({ level }, { write: (line) => lines.push(JSON.parse(line)) }));
  return lines;
}

test('a line is JSON with the name of the level, the time and the message', () => {
  const [line] = logAt('info', (log) => log.info({ partition: 3 }, 'partition assigned'));
  expect(line).toMatchObject({ level: 'info', partition: 3, msg: 'partition assigned' });
  expect(line?.['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('what is less severe than the level is not logged', () => {
  expect(logAt('warn', (log) => log.info('hello'))).toEqual([]);
  expect(logAt('silent', (log) => log.fatal('hello'))).toEqual([]);
});

test('secrets under a telling key, in a URL and in a text are masked', () => {
  const lines = logAt('info', (log) => {
    log.info({ password: 's3cr3t', database: { password: 's3cr3t' }, a: { b: { password: 's3cr3t' } } }, 'settings');
    log.info('connecting to postgres://orders:s3cr3t@db/orders with password=s3cr3t');
    log.error(new Error('no route to postgres://orders:s3cr3t@db/orders'));
    log.error({ err: new Error('password=s3cr3t', { cause: new Error('password=s3cr3t') }) }, 'failed');
  });
  expect(lines).toHaveLength(4);
  expect(JSON.stringify(lines)).not.toContain('s3cr3t');
});

test("of an error its name, message, code, stack and causes are logged, not a record's content that hangs on it", () => {
  const cause = Object.assign(new Error('invalid input syntax for type json'), {
    code: '22P02',
    detail: 'Token "4111 1111 1111 1111" is invalid.',
    where: 'COPY records, line 1, column value: "4111 1111 1111 1111"',
  });
  const lines = logAt('info', (log) => log.error({ err: new TypeError('write failed', { cause }) }, 'failed'));
  expect(lines[0]).toMatchObject({
    err: { type: 'TypeError', message: 'write failed', cause: { message: cause.message, code: '22P02' } },
  });
  expect(JSON.stringify(lines)).not.toContain('4111');
});

test('an error that is its own cause does not hang the log', () => {
  const error = new Error('round and round');
  error.cause = error;
  expect(logAt('info', (log) => log.error(error))).toHaveLength(1);
});

test.each([['a text'], [null], [42], [undefined]])('something that is no error can be logged as one: %j', (err) => {
  expect(logAt('info', (log) => log.error({ err }, 'failed'))).toHaveLength(1);
});

test('an error that no more files can be opened keeps its words beside the advice', () => {
  const [line] = logAt('info', (log) => log.error(new Error('open EMFILE'), 'failed'));
  expect(line).toMatchObject({ msg: 'failed', advice: expect.any(String), err: { message: 'open EMFILE' } });
});

test('a warning that no more files can be opened has an advice, wherever it says so', () => {
  const lines = logAt('info', (log) => {
    log.warn({ reason: 'connect EMFILE 127.0.0.1:5432' }, 'waiting for PostgreSQL');
    log.error({ err: new Error('ENFILE: file table overflow') }, 'failed');
    log.warn('open EMFILE');
    log.warn({ reason: 'connect ECONNREFUSED' }, 'waiting for PostgreSQL');
  });
  expect(lines.map(({ advice }) => advice)).toEqual([
    expect.stringContaining('ulimit -n'),
    expect.stringContaining('fs.file-max'),
    expect.stringContaining('ulimit -n'),
    undefined,
  ]);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'waiting for PostgreSQL',
    'failed',
    'open EMFILE',
    'waiting for PostgreSQL',
  ]);
});
