import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { type NamedTopics, settingsOfTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import { isTemplate } from '../../../settings/sections/tables/topic-template.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { KafkaAdmin } from '../../kafka/kafka-admin.ts';
import { createKafkaClient, shareByClients } from '../../kafka/kafka-client.ts';
import { SILENT } from '../../kafka/topic-reader.ts';
import { FatalError, OF_CONFIGURATION, OutageError } from '../../stream/ports/stream-errors.ts';
import { type AskedTable, askedTable } from './asked-table.ts';
import type { OutputStreams } from './command.ts';

/** A list that fails is asked for once more. */
const RETRIES = 1;

/** The texts of templates in the settings. */
export const templatesOf = (settings: Settings): readonly string[] => topicsOf(settings).filter(isTemplate);

/**
 * The settings with a name for each topic that the cluster has and that a template takes, in the order of the alphabet.
 * Without templates the settings themselves: then Kafka is not asked.
 *
 * @throws OutageError while the brokers are away
 */
export async function namedTopics(settings: Settings): Promise<NamedTopics<Settings>> {
  if (templatesOf(settings).length === 0) {
    return { settings, waiting: new Map() };
  }
  const shared = shareByClients(
    () => settings.kafka,
    SILENT,
    () => undefined,
  );
  const admin = new KafkaAdmin(createKafkaClient(shared, RETRIES));
  try {
    return settingsOfTopics(settings, (await admin.listTopics()).toSorted());
  } finally {
    await admin.disconnect();
  }
}

/** What a command does with a name for each topic. @param asked the table that it is limited to, if to one */
type NamedWork = (named: NamedTopics<Settings>, asked: AskedTable | undefined) => Promise<number>;

/** A command, and the table that it is limited to. */
interface NamedCommand {
  /** Its words, which the line about an error begins with. */
  readonly words: string;
  /** @default all tables */
  readonly table: string | undefined;
}

/**
 * Runs the work of a command with a name for each topic that templates take.
 *
 * @returns the exit code of `work`. With a line on standard error: 1 or 78 when the topics could not be listed, and 78
 * when the settings have no such table.
 */
export async function withNamedTopics(
  { words: command, table }: NamedCommand,
  settings: Settings,
  { err }: Pick<OutputStreams, 'err'>,
  work: NamedWork,
): Promise<number> {
  const named = await namedTopics(settings).catch((error: unknown) => {
    if (error instanceof OutageError || error instanceof FatalError) {
      return error;
    }
    throw error;
  });
  if (named instanceof Error) {
    err.write(`${PRODUCT_NAME} ${command}: ${named.message}\n`);
    const isWrong = named instanceof FatalError && OF_CONFIGURATION.has(named.code);
    return isWrong ? EXIT_CODE.configuration : EXIT_CODE.failed;
  }
  const asked = table === undefined ? undefined : askedTable(named, table);
  if (asked !== undefined && 'path' in asked) {
    err.write(`${PRODUCT_NAME} ${command}: nothing was read.\n\n${describeProblem(asked)}\n`);
    return EXIT_CODE.configuration;
  }
  return work(named, asked);
}
