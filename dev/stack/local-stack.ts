import { RunFolder, removeLeftoverRuns } from '../run/run-folder.ts';
import { type LocalKafka, startLocalKafka } from './local-kafka.ts';
import { type LocalPostgres, type LocalPostgresOptions, startLocalPostgres } from './local-postgres.ts';

/** Where Kafka and PostgreSQL listen by convention. */
export const USUAL_PORT = { kafka: 9092, postgres: 5432 } as const;

export type StackPart = 'kafka' | 'postgres';

export interface StackOptions {
  /** Parts to start. @default both */
  readonly parts?: readonly StackPart[];
  /** Whether to take {@link USUAL_PORT} where it is free. @default false: random ports */
  readonly usualPorts?: boolean;
  /** Called before each step that takes long. @default never */
  readonly onProgress?: (part: StackPart, message: string) => void;
  /** Called when a part takes connections. @default never */
  readonly onReady?: (part: StackPart, address: string) => void;
  /** The run that the parts end with. @default a new one, closed by {@link Stack.stop} */
  readonly run?: RunFolder;
  /** Settings of PostgreSQL, and what it begins as. @default those of {@link startLocalPostgres} */
  readonly postgres?: Pick<LocalPostgresOptions, 'settings' | 'copyOf'>;
}

/** A running Kafka and PostgreSQL. */
export interface Stack {
  readonly run: RunFolder;
  /** Undefined when it was not among the parts. */
  readonly kafka: LocalKafka | undefined;
  /** Undefined when it was not among the parts. */
  readonly postgres: LocalPostgres | undefined;
  /** Ends all processes of the run and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts the local stack, both parts at once, after the cleanup of crashed runs.
 *
 * @throws ExplainedError when a part does not start; nothing is left running then.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  await removeLeftoverRuns();
  const run = options.run ?? (await RunFolder.create());
  const parts = options.parts ?? ['kafka', 'postgres'];
  try {
    const [postgres, kafka] = await settleAll(
      parts.includes('postgres') ? startPostgresPart(run, options) : undefined,
      parts.includes('kafka') ? startKafkaPart(run, options) : undefined,
    );
    run.beforeClose(async () => {
      await kafka?.stop();
      await postgres?.stop();
    });
    return { run, kafka, postgres, stop: () => run.close() };
  } catch (error) {
    await run.close();
    throw error;
  }
}

/**
 * As Promise.all, but a failure waits for the other start, too: a server that is still starting could not be stopped.
 */
async function settleAll<A, B>(a: Promise<A> | undefined, b: Promise<B> | undefined) {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

async function startKafkaPart(run: RunFolder, options: StackOptions): Promise<LocalKafka> {
  const kafka = await startLocalKafka(run, {
    ...(options.usualPorts ? { port: USUAL_PORT.kafka } : {}),
    onProgress: (message) => options.onProgress?.('kafka', message),
  });
  options.onReady?.('kafka', kafka.broker);
  return kafka;
}

async function startPostgresPart(run: RunFolder, options: StackOptions): Promise<LocalPostgres> {
  const postgres = await startLocalPostgres(run, {
    ...(options.usualPorts ? { port: USUAL_PORT.postgres } : {}),
    ...options.postgres,
  });
  options.onReady?.('postgres', postgres.url);
  return postgres;
}
