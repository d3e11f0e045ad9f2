/** The part of kafkajs's runner that fetches and keeps the membership. */
interface Runner {
  readonly heartbeatInterval: number;
  fetch(nodeId: number): Promise<unknown[]>;
  heartbeat(): Promise<void>;
}

/**
 * Sends heartbeats while a fetch is under way. As shipped a fetch is followed by one, and a broker that holds a fetch
 * back over a quota, for 20 s where the quota is small, costs the membership.
 *
 * What these heartbeats are answered is left to the one behind the fetch: it gets the same answer, and rejoins.
 */
export function beatWhileFetching(prototype: Runner): void {
  const { fetch } = prototype;
  prototype.fetch = async function fetchAndBeat(this: Runner, nodeId) {
    const beats = setInterval(() => void this.heartbeat().catch(() => undefined), this.heartbeatInterval);
    try {
      return await fetch.call(this, nodeId);
    } finally {
      clearInterval(beats);
    }
  };
}
