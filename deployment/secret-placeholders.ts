import { CONTAINER_PATH } from '../contract/container.ts';
import type { ConsumerFile } from './consumer-file.ts';

type Section = Readonly<Record<string, unknown>>;

const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sectionOf = (parent: Section, key: string): Section => (isSection(parent[key]) ? parent[key] : {});

const FROM_SECRET = 'from-secret';

const SECURITY = {
  bearer: { token: FROM_SECRET },
  basic: { username: FROM_SECRET, password: FROM_SECRET },
} as const;

/** The certificate's files where the Secret is mounted, and what stands for the credential in the other Secret. */
function access(application: Section, { tls, credentials }: ConsumerFile['monitoring']): Section {
  const ssl = tls && {
    certificate: `${CONTAINER_PATH.certificate}/${tls.keys.certificate}`,
    'certificate-private-key': `${CONTAINER_PATH.certificate}/${tls.keys.privateKey}`,
  };
  const security = credentials && SECURITY[credentials.type];
  return {
    ...(ssl && { server: { ...sectionOf(application, 'server'), ssl } }),
    ...(security && { management: { ...sectionOf(application, 'management'), security } }),
  };
}

/**
 * `application` of consumer.yaml with something in place of each value that a Secret will give, so that the consumer's own
 * check can be asked.
 *
 * @param monitoring the checked section; `undefined` when the file is wrong: then nothing is added for it.
 */
export function withPlaceholders(application: Section, monitoring: ConsumerFile['monitoring'] | undefined): Section {
  const kafka = sectionOf(application, 'kafka');
  const sasl = isSection(kafka['sasl'])
    ? { sasl: { username: FROM_SECRET, ...kafka['sasl'], password: FROM_SECRET } }
    : {};
  return {
    ...application,
    kafka: 'kafka' in application && !isSection(application['kafka']) ? application['kafka'] : { ...kafka, ...sasl },
    database: { ...sectionOf(application, 'database'), url: `postgresql://${FROM_SECRET}/${FROM_SECRET}` },
    ...(monitoring && access(application, monitoring)),
  };
}
