import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConsumerFleet } from '../../../../dev/chaos/consumer-fleet.ts';
import { RunFolder } from '../../../../dev/run/run-folder.ts';
import { sharedRunFolder } from '../../stack/shared-stack.ts';
import { until } from '../../stack/until.ts';

/** Nothing listens there: the consumer waits for both, and can be killed, frozen and removed meanwhile. */
const WAITING = {
  KAFKA_BROKERS: '127.0.0.1:1',
  DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/postgres',
} as const;

const LISTENING = /"listening"/;
const HOUR_MS = 3_600_000;

/** Reserved for documentation (RFC 5737): no process can listen there. */
const NOT_OF_THIS_MACHINE = '192.0.2.1';

/** `T` is a process that a signal has stopped. */
const stateOf = (pid: number): string | undefined => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];

describe('the fleet of consumers', () => {
  let run: RunFolder;
  beforeEach(async () => {
    run = await RunFolder.create(sharedRunFolder());
  });
  afterEach(() => run.close());

  const fleetOfOne = async (env: Readonly<Record<string, string>> = WAITING) => {
    const fleet = new ConsumerFleet(run, env, [LISTENING]);
    await fleet.add(1);
    return fleet;
  };

  test('starts another consumer in the place of one that it killed, and that is no problem', async () => {
    const fleet = await fleetOfOne();
    const [killed] = fleet.processes;
    await fleet.kill(1);
    const [next] = fleet.processes;
    expect(next?.pid).not.toBe(killed?.pid);
    expect(await killed?.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(fleet.problems).toEqual([]);
    expect(fleet.leftover()).toEqual([next?.pid]);
  });

  test('ends a removed consumer in order and starts no other one', async () => {
    const fleet = await fleetOfOne();
    await fleet.remove(1);
    expect([fleet.processes, fleet.problems, fleet.leftover()]).toEqual([[], [], []]);
    expect(fleet.counted(LISTENING)).toBe(1);
  });

  test('stops the clock of a frozen consumer, and lets it go on', async () => {
    const fleet = await fleetOfOne();
    const pid = fleet.processes[0]?.pid ?? 0;
    const frozen = fleet.freeze(1, 5_000);
    await until('the process to be stopped', async () => stateOf(pid) === 'T' || undefined, 4_900);
    await frozen;
    expect(stateOf(pid)).not.toBe('T');
  });

  test('sets the clock of one consumer, and sets it right again', async () => {
    const fleet = await fleetOfOne();
    const consumer = fleet.processes[0];
    await consumer?.logs.waitFor(LISTENING);
    const hoursOff = async (): Promise<number> => {
      const answer = await consumer?.get(consumer.endpoint.infoPath);
      return Math.round((Date.parse(answer?.headers.get('date') ?? '') - Date.now()) / HOUR_MS);
    };
    const set = fleet.setClock(1, -7, 10_000);
    await until('the other time', async () => (await hoursOff()) === -7 || undefined, 9_900);
    await set;
    await until('the right time', async () => (await hoursOff()) === 0 || undefined);
  });

  test('leaves nothing of the clock of a consumer that was killed in shared memory', async () => {
    const fleet = await fleetOfOne();
    const { pid = 0, logs } = fleet.processes[0] ?? {};
    await logs?.waitFor(LISTENING);
    const own = () => readdirSync('/dev/shm').filter((name) => name.endsWith(`_${pid}`));
    expect(own()).toHaveLength(2);
    await fleet.kill(1);
    expect(own()).toEqual([]);
  });

  test('fills the output of a consumer until lines are dropped, and reads it again', async () => {
    const fleet = await fleetOfOne({ ...WAITING, LOGGING_LEVEL: 'debug' });
    const consumer = fleet.processes[0];
    await consumer?.logs.waitFor(LISTENING);
    await fleet.fillOutput(1, 0);
    const metrics = await (await consumer?.get('/actuator/prometheus?includedNames=log_lines_dropped'))?.text();
    expect(Number(/^log_lines_dropped_total\{[^}]*\} (\S+)$/m.exec(metrics ?? '')?.[1])).toBeGreaterThan(0);
    await consumer?.get(`${consumer.endpoint.infoPath}?read-again`);
    await consumer?.logs.waitFor(/read-again/);
  });

  test('reports a consumer that ends by itself, with its last words, and starts it again', async () => {
    const fleet = await fleetOfOne({ ...WAITING, SERVER_ADDRESS: NOT_OF_THIS_MACHINE });
    const problem = await until('a problem', async () => fleet.problems[0]);
    expect(problem).toMatch(/^consumer 1 ended by itself with exit code 1: ./);
    await until('another process', async () => fleet.started > 1 || undefined);
  });
});
