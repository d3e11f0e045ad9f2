import type { ClientBase } from 'pg';
import { connectionOf } from './pg-internals.ts';

/** Cuts a connection without a word to the other side, who may not be there to hear it. */
export function cut(client: ClientBase): void {
  connectionOf(client).stream.destroy();
}

/**
 * Cuts the connection when nothing was sent or received for so long. The server's own time-outs do not help against a
 * server that is frozen, or behind a network that swallows everything: without this, a write would wait for ever.
 */
export function endWhenSilent(client: ClientBase, longestSilenceMs: number): { stop(): void } {
  const socket = connectionOf(client).stream;
  const onTimeout = (): void => {
    socket.destroy(new Error(`Connection terminated: PostgreSQL has been silent for ${longestSilenceMs} ms`));
  };
  socket.setTimeout(longestSilenceMs, onTimeout);
  return {
    stop: () => {
      socket.setTimeout(0);
      socket.off('timeout', onTimeout);
    },
  };
}
