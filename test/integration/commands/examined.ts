import { expect } from '@jest/globals';
import type { Finding } from '../../../app/commands/doctor/finding.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { type ConsumerUnderTest, startConsumer, writeConfiguration } from '../stack/start-consumer.ts';

/** What `doctor` found with the settings of a consumer. */
export interface Examined {
  readonly code: number;
  readonly findings: readonly Finding[];
  /** Those that are not OK. */
  readonly troubles: readonly Finding[];
}

/** Runs `doctor --json` with the settings that a consumer would have. */
export async function examine(chosen: ConsumerUnderTest, ...args: readonly string[]): Promise<Examined> {
  const { configFile } = await writeConfiguration(chosen);
  const env = { SERVER_PORT: String(chosen.port ?? 0), ...chosen.env };
  const { stdout, stderr, code } = await runCommand(['doctor', '--json', '--config', configFile, ...args], { env });
  expect(stderr).toBe('');
  const lines = stdout.split('\n').filter((line) => line !== '');
  const findings = lines.map((line) => JSON.parse(line) as Finding);
  return { code, findings, troubles: findings.filter(({ status }) => status !== 'ok') };
}

/** A line of the page that is not OK. */
export interface Trouble extends Pick<Finding, 'check' | 'status'> {
  readonly name?: string;
  readonly code?: string | null;
  readonly message?: unknown;
  readonly mend?: unknown;
}

/** `doctor` finds these troubles, among others that were skipped for them, and exits with the code. */
export async function expectTroubles(
  chosen: ConsumerUnderTest,
  code: number,
  ...expected: readonly Trouble[]
): Promise<void> {
  const { code: exitCode, troubles } = await examine(chosen);
  const found = troubles.filter(({ status }) => status !== 'skipped');
  expect(found).toEqual(expected.map((each) => expect.objectContaining(each)));
  expect(exitCode).toBe(code);
}

/** The code that a consumer ends with by itself. */
async function endOf(chosen: ConsumerUnderTest): Promise<string> {
  const consumer = await startConsumer(chosen);
  await consumer.exited;
  const line = consumer.logs.all.find((each) => each.includes('"level":"fatal"')) ?? '{}';
  return (JSON.parse(line) as { readonly code?: string }).code ?? 'none';
}

/** `doctor` finds what is wrong, and a consumer with the same settings ends with the same code. */
export async function expectSameEnd(chosen: ConsumerUnderTest, ...expected: readonly Trouble[]): Promise<void> {
  // Both are of the same group, and write into the same schema.
  const same = { groupId: randomName('group'), schema: randomName('schema'), ...chosen };
  await expectTroubles(same, 78, ...expected);
  const codes = expected.map(({ code }) => code).filter((code) => code !== null);
  expect(codes).toContain(await endOf(same));
}
