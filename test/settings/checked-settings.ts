import { checkSettings, type Settings } from '../../settings/settings.ts';

const NO_KAFKA = { brokers: ['unused:9092'], topics: ['unused'], groupId: 'unused' };

/**
 * The settings of a test that starts no consumer.
 *
 * @param given beside those of a Kafka that nothing connects to; what it has of `kafka` wins over these
 * @throws Error with all problems when they are refused
 */
export function checkedSettings({ kafka, ...given }: Readonly<Record<string, unknown>>): Settings {
  const checked = checkSettings({ ...given, kafka: { ...NO_KAFKA, ...(kafka as object) } });
  if (!checked.ok) {
    throw new Error(JSON.stringify(checked.problems));
  }
  return checked.value;
}
