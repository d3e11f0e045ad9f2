/**
 * Loaded into a consumer ahead of its program: SIGUSR2 begins a stretch in which the event loop is watched, and the next
 * one ends it. It is no TypeScript, since the consumer's process has nothing that reads it.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;

let nth = 0;
let watched;

process.on('SIGUSR2', () => {
  if (watched === undefined) {
    nth += 1;
    watched = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    watched.enable();
    console.log(`loop-delay ${nth} begins`);
  } else {
    watched.disable();
    console.log(`loop-delay ${nth} ${(watched.max / 1e6 - RESOLUTION_MS).toFixed(1)} ms`);
    watched = undefined;
  }
});
