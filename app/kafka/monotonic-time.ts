import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';

const require = createRequire(import.meta.url);

/** kafkajs's modules that measure durations by `Date.now()`, and use `Date` for nothing else. Each comes before those that load it. */
export const MEASURING_MODULES = [
  'kafkajs/src/network/requestQueue/socketRequest.js',
  'kafkajs/src/network/requestQueue/index.js',
  'kafkajs/src/cluster/brokerPool.js',
  'kafkajs/src/consumer/offsetManager/index.js',
  'kafkajs/src/consumer/consumerGroup.js',
  'kafkajs/src/consumer/runner.js',
] as const;

/** Milliseconds of a clock that never goes back, in the place of `Date`. */
const MONOTONIC_DATE = { now: (): number => Math.floor(performance.now()) };

/**
 * Lets kafkajs measure by a clock that is never set: when heartbeats are due, requests overdue, metadata stale, brokers to be
 * left alone. As shipped it asks for the time of day: a clock set back by an hour silences the heartbeats for an hour, and
 * one that is set forward spends all patience at once. Timestamps of records stay the time of day.
 *
 * @param replace puts a module in the place of another; called in the order in which the modules load each other
 */
export function measureMonotonically(replace: (path: string, exports: unknown) => void): void {
  for (const path of MEASURING_MODULES) {
    const file = require.resolve(path);
    const run = compileFunction(
      readFileSync(file, 'utf8'),
      ['exports', 'require', 'module', '__filename', '__dirname', 'Date'],
      { filename: file },
    );
    const module = { exports: {} };
    run(module.exports, createRequire(file), module, file, dirname(file), MONOTONIC_DATE);
    replace(path, module.exports);
  }
}
