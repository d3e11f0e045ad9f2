import { beforeAll, describe, expect, test } from '@jest/globals';
import { SMALLEST_MEMORY_LIMIT } from '../../../deployment/sections/resources.ts';
import { withDatabase } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { produceLoad } from '../stack/memory-load.ts';
import { freezePostgres, startPrivateKafka, startPrivatePostgres } from '../stack/private-servers.ts';
import { type ConsumerUnderTest, type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';
import type { Notification } from './alertmanager.ts';
import { canWatch, Watch } from './watched-jobs.ts';

const describeWatched = canWatch ? describe : describe.skip;

/** A consumer that works, of a topic of its own unless it is told another one. */
async function working(chosen: Partial<ConsumerUnderTest> = {}): Promise<StartedConsumer> {
  const consumer = await startConsumer({ ...chosen, topics: chosen.topics ?? [await createTopic()] });
  await consumer.waitForHealth();
  return consumer;
}

/** Journeys are made all at once, each by a trouble of its own; what fails is told by the test that awaits it. */
async function settled<T extends Readonly<Record<string, Promise<unknown>>>>(journeys: T): Promise<T> {
  await Promise.allSettled(Object.values(journeys));
  return journeys;
}

/** Pending, firing at the receiver, and resolved there when the trouble is over; gives what fired. */
async function outage(watch: Watch, job: string, alert: string, end: () => unknown): Promise<Notification> {
  await watch.is('pending', job, alert);
  const fired = await watch.tells('firing', job, alert);
  await end();
  await watch.tells('resolved', job, alert);
  return fired;
}

describeWatched('a live Prometheus and Alertmanager', () => {
  let watch: Watch;
  let postgres: Awaited<ReturnType<typeof startPrivatePostgres>>;
  let kafka: Awaited<ReturnType<typeof startPrivateKafka>>;
  let behind: StartedConsumer;
  let topic: string;
  let journeys: Readonly<Record<'postgres' | 'kafka' | 'lag', Promise<Notification>>>;

  async function stopPostgres(): Promise<Notification> {
    await postgres.stop();
    const fired = await watch.tells('firing', 'without-postgres', 'DatabaseConnectionFailures');
    await watch.is('firing', 'without-postgres', 'HealthCheckFailing');
    await postgres.start();
    await watch.tells('resolved', 'without-postgres', 'DatabaseConnectionFailures');
    return fired;
  }

  async function freezeKafka(): Promise<Notification> {
    process.kill(kafka.pid, 'SIGSTOP');
    return outage(watch, 'without-kafka', 'KafkaUnreachable', () => process.kill(kafka.pid, 'SIGCONT'));
  }

  async function lockTable(): Promise<Notification> {
    const records = Array.from({ length: 12_000 }, () => ({ value: '{}' }));
    const fired = await withDatabase(async ({ client }) => {
      await client.query('BEGIN');
      await client.query(`LOCK TABLE ${behind.schema}.records IN SHARE MODE`);
      await produce(topic, records);
      await watch.is('pending', 'behind', 'ConsumerLagHigh');
      const told = await watch.tells('firing', 'behind', 'ConsumerLagHigh', 'warning');
      await client.query('COMMIT');
      return told;
    });
    await awaitEachOnce({ schema: behind.schema, topic, records: records.length });
    await watch.tells('resolved', 'behind', 'ConsumerLagHigh', 'warning');
    return fired;
  }

  beforeAll(async () => {
    [postgres, kafka, topic] = await Promise.all([startPrivatePostgres(), startPrivateKafka(), createTopic()]);
    const { broker } = kafka;
    const [withoutPostgres, withoutKafka, locked] = await Promise.all([
      working({ databaseUrl: postgres.urlWithPassword }),
      createTopic(kafka).then((own) => working({ topics: [own], brokers: [broker] })),
      working({ topics: [topic] }),
    ]);
    behind = locked;
    watch = await Watch.start([
      { name: 'without-postgres', port: withoutPostgres.port },
      { name: 'without-kafka', port: withoutKafka.port },
      { name: 'behind', port: behind.port },
    ]);
    journeys = await settled({ postgres: stopPostgres(), kafka: freezeKafka(), lag: lockTable() });
  });

  test('PostgreSQL stopped: told at once with its text and its Pod, resolved when it is back', async () => {
    const { annotations, labels } = await journeys.postgres;
    expect(annotations['description']).toMatch(/^without-postgres in stream-consumer .*: failed connections .* \d+\.$/);
    expect(labels['instance']).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test('while PostgreSQL is away its own alert is told, not that of the health which fails with it', async () => {
    await journeys.postgres;
    expect(watch.told('without-postgres', 'HealthCheckFailing')).toBeUndefined();
  });

  test('Kafka frozen: pending, then firing for its topic, resolved when it goes on', async () => {
    const { annotations } = await journeys.kafka;
    expect(annotations['description']).toMatch(/for 1m \d+s no broker has reported the end of topic \S+ to any Pod\.$/);
  });

  test('lag behind a locked table: pending, then firing with its number, resolved once it is written', async () => {
    const { annotations } = await journeys.lag;
    const text = `behind in stream-consumer is 12k records behind the end of topic ${topic}.`;
    expect(annotations['description']).toBe(text);
  });
});

/** The whole of it takes about four minutes, however many troubles there are. */
const LONG_MS = 600_000;

const STARTED = 'process_start_time_seconds{job="restarting"}';
const RESTARTS = 3;

/** An eighth of what a process without a control group takes for its limit waits in it; that is more than this rule's. */
const SMALL_MEMORY = SMALLEST_MEMORY_LIMIT;
const LOAD = { partitions: 12, recordBytes: 10_000, totalBytes: 80 * 2 ** 20, lockMs: 0 };

const PER_ROUND = 20;

describeWatched('a live Prometheus and Alertmanager, in the troubles that take longer', () => {
  let watch: Watch;
  let postgres: Awaited<ReturnType<typeof startPrivatePostgres>>;
  let kafka: Awaited<ReturnType<typeof startPrivateKafka>>;
  let consumers: Readonly<Record<Job, StartedConsumer>>;
  let topics: Readonly<Record<Job, string>>;
  let journeys: Promise<Readonly<Record<Journey, Promise<Notification>>>> | undefined;
  type Job = 'frozen-postgres' | 'without-kafka' | 'dead-letters' | 'restarting' | 'frozen' | 'absent' | 'memory';
  type Journey = Exclude<Job, 'without-kafka'> | 'kafka';

  /** The same consumer again: its group, its schema, and its place at Prometheus. */
  async function again(job: Job, killedBy: NodeJS.Signals): Promise<StartedConsumer> {
    const { groupId, schema, port, kill, exited } = consumers[job];
    kill(killedBy);
    await exited;
    const started = await startConsumer({ topics: [topics[job]], groupId, schema, port });
    consumers = { ...consumers, [job]: started };
    return started;
  }

  async function freezePostgresql(): Promise<Notification> {
    const topic = topics['frozen-postgres'];
    const { schema } = consumers['frozen-postgres'];
    const thaw = await freezePostgres(postgres);
    await produce(topic, [{ value: '{}' }]);
    const fired = await watch.tells('firing', 'frozen-postgres', 'DatabaseConnectionFailures');
    thaw();
    await awaitEachOnce({ schema, topic, records: 1, url: postgres.urlWithPassword });
    await watch.tells('resolved', 'frozen-postgres', 'DatabaseConnectionFailures');
    return fired;
  }

  async function stopKafka(): Promise<Notification> {
    await kafka.stop();
    return outage(watch, 'without-kafka', 'KafkaUnreachable', () => kafka.start());
  }

  /** Every other record is none, until the alert is told. */
  async function produceRubbish(): Promise<Notification> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    const values = Array.from({ length: PER_ROUND }, (_, id) => ({ value: id % 2 === 0 ? '{}' : '{' }));
    const topic = topics['dead-letters'];
    const rounds = async () => {
      for (let records = PER_ROUND; !isOver; records += PER_ROUND) {
        await produce(topic, values);
        await awaitEachOnce({ schema: consumers['dead-letters'].schema, topic, records });
      }
    };
    const told = outage(watch, 'dead-letters', 'DeadLettersHigh', end).finally(end);
    const [fired] = await Promise.all([told, rounds()]);
    return fired;
  }

  /** Each start is one that Prometheus has seen. */
  async function restart(): Promise<Notification> {
    const seen = async () => (await watch.prometheus.query(STARTED))[0]?.value[1];
    for (let nth = 0; nth < RESTARTS; nth += 1) {
      const before = await seen();
      await again('restarting', 'SIGKILL');
      await until('another start at Prometheus', async () => {
        const now = await seen();
        return now === undefined || now === before ? undefined : true;
      });
    }
    const fired = await watch.tells('firing', 'restarting', 'ConsumerRestarting', 'warning');
    await watch.tells('resolved', 'restarting', 'ConsumerRestarting', 'warning');
    return fired;
  }

  async function freeze(): Promise<Notification> {
    consumers.frozen.kill('SIGSTOP');
    const fired = await watch.tells('firing', 'frozen', 'HealthCheckFailing');
    consumers.frozen.kill('SIGCONT');
    await watch.tells('resolved', 'frozen', 'HealthCheckFailing');
    return fired;
  }

  async function takeAway(): Promise<Notification> {
    consumers.absent.kill('SIGKILL');
    await watch.hasTarget('absent', false);
    return outage(watch, 'absent', 'ConsumerAbsent', async () => {
      await again('absent', 'SIGKILL');
      await watch.hasTarget('absent', true);
    });
  }

  async function fillMemory(): Promise<Notification> {
    const { schema } = consumers.memory;
    const topic = topics.memory;
    const { fired, records } = await withDatabase(async ({ client }) => {
      await client.query('BEGIN');
      await client.query(`LOCK TABLE ${schema}.records IN SHARE MODE`);
      const produced = await produceLoad(topic, LOAD, LOAD.totalBytes);
      await watch.is('pending', 'memory', 'MemoryHigh');
      const told = await watch.tells('firing', 'memory', 'MemoryHigh');
      await client.query('COMMIT');
      return { fired: told, records: produced };
    });
    await awaitEachOnce({ schema, topic, records });
    await again('memory', 'SIGTERM');
    await watch.tells('resolved', 'memory', 'MemoryHigh');
    return fired;
  }

  /** The first of the tests starts it all: without `test:long` there is none. */
  async function makeAll(): Promise<Readonly<Record<Journey, Promise<Notification>>>> {
    [postgres, kafka] = await Promise.all([startPrivatePostgres(), startPrivateKafka()]);
    topics = {
      'frozen-postgres': await createTopic(),
      'without-kafka': await createTopic(kafka),
      'dead-letters': await createTopic(),
      restarting: await createTopic(),
      frozen: await createTopic(),
      absent: await createTopic(),
      memory: await createTopic({ partitions: LOAD.partitions }),
    };
    const of = (job: Job, chosen: Partial<ConsumerUnderTest> = {}) => working({ ...chosen, topics: [topics[job]] });
    consumers = {
      'frozen-postgres': await of('frozen-postgres', { databaseUrl: postgres.urlWithPassword }),
      'without-kafka': await of('without-kafka', { brokers: [kafka.broker] }),
      'dead-letters': await of('dead-letters', { settings: { deadLetters: { maxRatio: 1 } } }),
      restarting: await of('restarting'),
      frozen: await of('frozen'),
      absent: await of('absent'),
      memory: await of('memory'),
    };
    const file = { resources: { limits: { memory: SMALL_MEMORY }, requests: { memory: SMALL_MEMORY } } };
    watch = await Watch.start(
      Object.entries(consumers).map(([name, { port }]) => ({ name, port, ...(name === 'memory' && { file }) })),
    );
    return settled({
      'frozen-postgres': freezePostgresql(),
      kafka: stopKafka(),
      'dead-letters': produceRubbish(),
      restarting: restart(),
      frozen: freeze(),
      absent: takeAway(),
      memory: fillMemory(),
    });
  }

  const troubles: readonly (readonly [trouble: string, Journey, text: RegExp])[] = [
    ['PostgreSQL frozen', 'frozen-postgres', /: failed connections to PostgreSQL within 5m: \d+\.$/],
    ['Kafka stopped', 'kafka', /: for 1m \d+s no broker has reported the end of topic \S+ to any Pod\.$/],
    [
      'every other record a dead letter',
      'dead-letters',
      /: [45]\d(\.\d+)?% of the records of topic \S+ became dead letters \(within 10m\)\.$/,
    ],
    ['the consumer killed three times', 'restarting', /\(127.0.0.1:\d+\) started 3 times again within 15 minutes\.$/],
    ['the consumer frozen', 'frozen', /\(127.0.0.1:\d+\) could not be scraped the last times\.$/],
    ['no Pod left', 'absent', /: there is no Pod, or none that Prometheus finds; every other alert of it is silent\.$/],
    [
      'more memory than its small limit',
      'memory',
      new RegExp(`\\d{2,3}(\\.\\d+)?% of its memory limit of ${SMALL_MEMORY} \\(resident memory of the process\\)\\.$`),
    ],
  ];
  for (const [trouble, journey, text] of troubles) {
    const name = `${trouble}: firing at the receiver with its text, resolved when it is over`;
    const look = async () => {
      journeys ??= makeAll();
      const { annotations } = await (await journeys)[journey];
      expect(annotations['description']).toMatch(text);
    };
    longTest(name, look, LONG_MS);
  }
});
