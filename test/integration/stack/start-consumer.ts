import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type ConsumerProcess, startConsumerProcess } from '../../../dev/run/consumer-process.ts';
import { randomName } from './random-name.ts';
import { sharedBroker, sharedDatabaseUrl } from './shared-stack.ts';
import { testRun } from './test-run.ts';

/** What a test may choose. */
export interface ConsumerUnderTest {
  readonly topics: readonly string[];
  /** @default the shared Kafka */
  readonly brokers?: readonly string[];
  /** @default a random group */
  readonly groupId?: string;
  /** @default the shared PostgreSQL */
  readonly databaseUrl?: string;
  /** @default a random schema */
  readonly schema?: string;
  /** Port of the HTTP interface. @default a free one, that the system chooses */
  readonly port?: number;
  /** Further sections of `application.yml`, such as `{ consumer: { maxValueBytes: 100 } }`. @default none */
  readonly settings?: Readonly<Record<string, object>>;
  /** Environment variables, which win over `application.yml`. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** @default 'compiled', which starts sooner; the source is for what looks at its files. */
  readonly program?: 'source' | 'compiled';
  /** Shell commands that end with `exec "$@"`, which becomes the consumer. @default none */
  readonly shell?: string;
}

/** A running consumer, and what it was told. */
export interface StartedConsumer extends ConsumerProcess {
  readonly groupId: string;
  readonly schema: string;
  /** Its `application.yml`. */
  readonly configFile: string;
}

/** Writes the `application.yml` of a consumer. */
export async function writeConfiguration(
  chosen: ConsumerUnderTest,
): Promise<Pick<StartedConsumer, 'groupId' | 'schema' | 'configFile'>> {
  const run = await testRun();
  const groupId = chosen.groupId ?? randomName('group');
  const schema = chosen.schema ?? randomName('schema');
  const { kafka, database, ...others } = chosen.settings ?? {};
  const configFile = join(await mkdtemp(join(run.path, 'consumer-')), 'application.yml');
  const settings = {
    kafka: { brokers: chosen.brokers ?? [sharedBroker()], topics: chosen.topics, groupId, ...kafka },
    database: { url: chosen.databaseUrl ?? sharedDatabaseUrl(), schema, ...database },
    ...others,
  };
  await writeFile(configFile, stringify(settings), { mode: 0o600 });
  return { groupId, schema, configFile };
}

/**
 * Starts the consumer as a separate process with an `application.yml` for it alone. It is killed after the last test of
 * the file at the latest; `waitForHealth()` resolves once it works.
 */
export async function startConsumer(chosen: ConsumerUnderTest): Promise<StartedConsumer> {
  const run = await testRun();
  const configuration = await writeConfiguration(chosen);
  const started = await startConsumerProcess(run, {
    configFile: configuration.configFile,
    env: chosen.env ?? {},
    program: chosen.program ?? 'compiled',
    ...(chosen.port === undefined ? {} : { port: chosen.port }),
    ...(chosen.shell === undefined ? {} : { shell: chosen.shell }),
  });
  return { ...started, ...configuration };
}
