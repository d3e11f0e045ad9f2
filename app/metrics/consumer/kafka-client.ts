import { type ClientListener, FETCH_REQUEST, type LogEnds } from '../../kafka/client/client-listener.ts';
import type { ConsumerReport } from '../../stream/partition/consumer-state.ts';
import {
  type Labels,
  type MetricSource,
  type MetricSources,
  type Sample,
  single,
  TopicSeries,
} from '../exposition/metric-source.ts';
import { RecentSum, TimeWindowMax } from '../exposition/time-windows.ts';
import { PerPartition } from './partition-lag.ts';

/** Kafka's own client looks back over two windows of 30 s. */
const WINDOW_MS = 60_000;

/** What a fetch reported of the end of a log counts as unknown after this time. */
const KNOWN_MS = 60_000;

/** Kafka's own client gives this for a time that never was. */
const NEVER = -1;

type ClientMetricKey = Extract<keyof MetricSources, `client${string}`> | 'recordsBeyondStable';

/** What open transactions hide of a partition, and when a fetch reported it. */
interface Hidden {
  readonly labels: Labels;
  records: number;
  reportedAt: number | null;
}

/** Records and bytes fetched of a topic. */
class TopicFetches {
  readonly topic: string;
  records = 0;
  bytes = 0;
  readonly recentRecords: RecentSum;
  readonly recentBytes: RecentSum;

  constructor(topic: string, now: () => number) {
    this.topic = topic;
    this.recentRecords = new RecentSum(WINDOW_MS, now);
    this.recentBytes = new RecentSum(WINDOW_MS, now);
  }
}

/** The client's labels and its subscription. */
export interface ClientIdentity {
  readonly clientId: string;
  /** The client library and its version. */
  readonly version: string;
  /** Those that are read now, another list each time that they change. */
  readonly topics: () => readonly string[];
}

/** Polls, fetches, requests and rebalances of the Kafka client, under the names of Kafka's own client. */
export class KafkaClientMetrics implements ClientListener {
  readonly #report: () => ConsumerReport;
  readonly #onFailure: (reason: 'kafka_away' | 'kafka_client') => void;
  readonly #now: () => number;
  readonly #client: Labels;
  readonly #partitions: PerPartition<{ readonly labels: Labels; readonly largestLag: TimeWindowMax }>;
  readonly #hidden = new PerPartition<Hidden>((topic, partition) => {
    return { labels: { partition: String(partition), topic }, records: 0, reportedAt: null };
  });
  readonly #topics: TopicSeries<TopicFetches>;
  readonly #fetches: RecentSum;
  readonly #joins: RecentSum;
  #fetchCount = 0;
  #requestCount = 0;
  #incomingBytes = 0;
  #heartbeatCount = 0;
  #joinCount = 0;
  #failedJoinCount = 0;
  #polledAt: number | null = null;
  #heartbeatAt: number | null = null;
  #joinedAt: number | null = null;

  /**
   * @param onFailure called when the brokers did not answer, and when the client crashed though they do
   * @param now Milliseconds of a clock that never goes back. @default performance.now()
   */
  constructor(
    identity: ClientIdentity,
    report: () => ConsumerReport,
    onFailure: (reason: 'kafka_away' | 'kafka_client') => void,
    now: () => number = () => performance.now(),
  ) {
    this.#onFailure = onFailure;
    this.#report = report;
    this.#now = now;
    this.#client = { client_id: identity.clientId, kafka_version: identity.version };
    this.#partitions = new PerPartition((topic, partition) => ({
      labels: { ...this.#client, partition: String(partition), topic },
      largestLag: new TimeWindowMax(now),
    }));
    this.#topics = new TopicSeries(identity.topics, (topic) => new TopicFetches(topic, now));
    this.#fetches = new RecentSum(WINDOW_MS, now);
    this.#joins = new RecentSum(WINDOW_MS, now);
  }

  onPoll(): void {
    this.#polledAt = this.#now();
  }

  onAnswer({ kind, milliseconds, bytes }: { kind: string; milliseconds: number; bytes: number }): void {
    this.#requestCount += 1;
    this.#incomingBytes += bytes;
    if (kind === FETCH_REQUEST) {
      this.#fetchCount += 1;
      this.#fetches.add(milliseconds);
    }
  }

  onDelivered({ topic, records, bytes }: { topic: string; records: number; bytes: number }): void {
    const figures = this.#topics.of(topic);
    if (figures !== undefined) {
      figures.records += records;
      figures.bytes += bytes;
      figures.recentRecords.add(records);
      figures.recentBytes.add(bytes);
    }
  }

  /** A broker that knows no last stable offset reports -1. */
  onLogEnds({ topic, partition, highWatermark, lastStableOffset }: LogEnds): void {
    if (lastStableOffset >= 0n) {
      const hidden = this.#hidden.of({ topic, partition });
      hidden.records = Number(highWatermark - lastStableOffset);
      hidden.reportedAt = this.#now();
    }
  }

  onHeartbeat(): void {
    this.#heartbeatCount += 1;
    this.#heartbeatAt = this.#now();
  }

  onJoined({ milliseconds }: { milliseconds: number }): void {
    this.#joinCount += 1;
    this.#joinedAt = this.#now();
    this.#joins.add(milliseconds);
  }

  onCrashed({ wasJoining, isOutage }: { wasJoining: boolean; isOutage: boolean }): void {
    this.#failedJoinCount += wasJoining ? 1 : 0;
    if (!isOutage) {
      this.#onFailure('kafka_client');
    }
  }

  onAway(): void {
    this.#onFailure('kafka_away');
  }

  get sources(): Pick<MetricSources, ClientMetricKey> {
    const client = (read: () => number) => single(read, this.#client);
    return {
      clientRecordsLag: this.#perLag((_, lag) => lag),
      clientRecordsLagMax: this.#perLag((max, lag) => {
        max.record(lag);
        return max.value;
      }),
      recordsBeyondStable: () => this.#beyondStable(),
      clientRecordsConsumed: this.#perTopic(({ records }) => records),
      clientRecordsRate: this.#perTopic(({ recentRecords }) => recentRecords.perSecond),
      clientBytesConsumed: this.#perTopic(({ bytes }) => bytes),
      clientBytesRate: this.#perTopic(({ recentBytes }) => recentBytes.perSecond),
      clientFetches: client(() => this.#fetchCount),
      clientFetchRate: client(() => this.#fetches.countPerSecond),
      clientFetchLatencyAvg: client(() => this.#fetches.average),
      clientFetchLatencyMax: client(() => this.#fetches.max),
      clientRequests: client(() => this.#requestCount),
      clientIncomingBytes: client(() => this.#incomingBytes),
      clientLastPoll: client(() => this.#secondsSince(this.#polledAt)),
      clientAssigned: client(() => this.#report().partitions.length),
      clientRebalances: client(() => this.#joinCount),
      clientFailedRebalances: client(() => this.#failedJoinCount),
      clientRebalanceLatencyAvg: client(() => this.#joins.average),
      clientRebalanceLatencyMax: client(() => this.#joins.max),
      clientLastRebalance: client(() => this.#secondsSince(this.#joinedAt)),
      clientHeartbeats: client(() => this.#heartbeatCount),
      clientLastHeartbeat: client(() => this.#secondsSince(this.#heartbeatAt)),
    };
  }

  /** A series for each owned partition of which it is known. */
  #beyondStable(): Sample[] {
    const samples: Sample[] = [];
    for (const owned of this.#report().partitions) {
      const { labels, records, reportedAt } = this.#hidden.of(owned);
      if (reportedAt !== null && this.#now() - reportedAt <= KNOWN_MS) {
        samples.push({ labels, value: records });
      }
    }
    return samples;
  }

  #secondsSince(moment: number | null): number {
    return moment === null ? NEVER : (this.#now() - moment) / 1_000;
  }

  #perTopic(read: (figures: TopicFetches) => number): MetricSource {
    return () => this.#topics.all.map((of) => ({ labels: { ...this.#client, topic: of.topic }, value: read(of) }));
  }

  /** A series for each partition whose lag is known. */
  #perLag(read: (largestLag: TimeWindowMax, lag: number) => number): MetricSource {
    return () => {
      const samples: Sample[] = [];
      for (const owned of this.#report().partitions) {
        if (owned.lag !== null) {
          const { labels, largestLag } = this.#partitions.of(owned);
          samples.push({ labels, value: read(largestLag, Number(owned.lag)) });
        }
      }
      return samples;
    };
  }
}
