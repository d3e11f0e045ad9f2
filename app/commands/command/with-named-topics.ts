import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { type NamedTopics, settingsOfTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import { isTemplate } from '../../../settings/sections/tables/topic-template.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { KafkaAdmin } from '../../kafka/kafka-admin.ts';
import { createKafkaClient, shareByClients } from '../../kafka/kafka-client.ts';
import { SILENT } from '../../kafka/topic-reader.ts';
import { FatalError, OF_CONFIGURATION, OutageError } from '../../stream/ports/stream-errors.ts';
import type { OutputStreams } from './command.ts';

/** A list that fails is asked for once more. */
const RETRIES = 1;

/** The texts of templates in the settings. */
export const templatesOf = (settings: Settings): readonly string[] => topicsOf(settings).filter(isTemplate);

/**
 * The settings with a name for each topic that the cluster has and that a template takes. Without templates the
 * settings themselves: then Kafka is not asked.
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
    return settingsOfTopics(settings, await admin.listTopics());
  } finally {
    await admin.disconnect();
  }
}

/**
 * Runs the work of a command with a name for each topic that templates take.
 *
 * @param command its words, which the line about an error begins with
 * @returns the exit code of `work`; 1 or 78, with a line on standard error, when the topics could not be listed
 */
export async function withNamedTopics(
  command: string,
  settings: Settings,
  { err }: Pick<OutputStreams, 'err'>,
  work: (named: NamedTopics<Settings>) => Promise<number>,
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
  return work(named);
}
