import type { OutageWatch } from '../../logging/outage-log.ts';

/** Reasons that do not show whether a broker is there: it was silent, or closed a connection without a word. */
const WITHOUT_A_WORD = /no answer within|took no connection|timed out|closed connection|ECONNRESET|EPIPE/i;

/** Where a reason happened, as the client names it at its end. */
const PLACE = /\(([^\s()]+:\d+)\)$/;

/**
 * What each address of a broker did so far: whether it took a connection, and whether it answered by Kafka's protocol.
 * A web server or a frozen process takes connections, too.
 */
export class HeardBrokers {
  readonly #heard = new Map<string, 'connected' | 'spoke'>();

  /** It took a connection. */
  connected(broker: string): void {
    if (this.#heard.get(broker) !== 'spoke') {
      this.#heard.set(broker, 'connected');
    }
  }

  /** It answered a request as Kafka does. */
  spoke(broker: string): void {
    this.#heard.set(broker, 'spoke');
  }

  /**
   * The reason of an outage, and for one without a word what speaks there.
   *
   * @param bootstrap addresses that the reason is about where it names none
   */
  explain(reason: string, bootstrap: readonly string[]): string {
    if (!WITHOUT_A_WORD.test(reason)) {
      return reason;
    }
    const [, place] = PLACE.exec(reason) ?? [];
    const brokers = place === undefined ? bootstrap : [place];
    return `${reason}: ${brokers.map((broker) => this.#wordsOf(broker)).join('; ')}`;
  }

  /** A watch whose reasons are {@link explain explained}. */
  watch(outages: OutageWatch, bootstrap: () => readonly string[]): OutageWatch {
    return {
      failed: (reason) => outages.failed(this.explain(reason, bootstrap())),
      worked: () => outages.worked(),
    };
  }

  #wordsOf(broker: string): string {
    switch (this.#heard.get(broker)) {
      case 'spoke':
        return `${broker} spoke Kafka's protocol before`;
      case 'connected':
        return `${broker} takes connections, and has answered nothing by Kafka's protocol`;
      default:
        return `${broker} has taken no connection`;
    }
  }
}
