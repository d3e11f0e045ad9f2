import type { FastifyInstance } from 'fastify';

const PERIOD_MS = 60_000;

/**
 * A warning of what clients may cause many times a second. The first is logged at once; those after it once a minute,
 * as a line with how many there were, and at the end of the server. Without any, no timer runs.
 *
 * @param message stands behind the fields `count` and `peer`, the address that the last one came from
 * @returns counts one more
 */
export function minuteWarning(
  app: Pick<FastifyInstance, 'log' | 'addHook'>,
  message: string,
): (peer: string | undefined) => void {
  let count = 0;
  let last: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer = undefined;
    if (count > 0) {
      app.log.warn({ count, peer: last }, message);
      count = 0;
      timer = setTimeout(tell, PERIOD_MS).unref();
    }
  };
  app.addHook('onClose', async () => {
    clearTimeout(timer);
    tell();
    clearTimeout(timer);
  });
  return (peer) => {
    count += 1;
    last = peer;
    if (timer === undefined) {
      tell();
    }
  };
}
