/** What somebody who watches the Kafka client is told, in no client library's words. A listener must not throw. */
export interface ClientListener {
  /** The client begins to ask for records. */
  onPoll(): void;
  /** A broker answered a request. */
  onAnswer(request: { readonly kind: string; readonly milliseconds: number; readonly bytes: number }): void;
  /** Records were handed over to the pipeline. */
  onDelivered(delivery: { readonly topic: string; readonly records: number; readonly bytes: number }): void;
  /** The group coordinator answered a heartbeat. */
  onHeartbeat(): void;
  /** The group gave partitions. */
  onJoined(join: { readonly milliseconds: number; readonly partitions: number }): void;
  /** The client crashed and begins anew, if it can; a join that was under way has failed. */
  onCrashed(crash: { readonly wasJoining: boolean }): void;
}

/** The kind of request by which records are fetched. */
export const FETCH_REQUEST = 'Fetch';
