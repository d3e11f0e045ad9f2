import { type Static, Type } from 'typebox';
import { CONTAINER_PATH } from '../../contract/container.ts';
import type { Rule } from '../../settings/schema/check.ts';
import { isSection, type Section, sectionOf, valueAt } from '../../settings/schema/document.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { closed, section } from '../../settings/schema/schema.ts';
import { objectName, secretKey } from './object-names.ts';

const authority = Type.Object(
  {
    existingSecret: Type.Optional(
      Type.String({
        ...objectName,
        description: 'Secret in the same namespace that holds the authorities. Left out: existingConfigMap.',
      }),
    ),
    existingConfigMap: Type.Optional(
      Type.String({
        ...objectName,
        description: 'ConfigMap in the same namespace that holds them. Left out: existingSecret.',
      }),
    ),
    key: secretKey('ca.crt'),
  },
  { ...closed, description: 'Authorities to trust, as PEM. Left out: those of Node.js.' },
);

const clientCertificate = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret in the same namespace, such as one of the type kubernetes.io/tls.',
    }),
    keys: Type.Object({ certificate: secretKey('tls.crt'), privateKey: secretKey('tls.key') }, section),
  },
  { ...closed, description: "The client's certificate and its key, as PEM. Left out: none." },
);

/** Where the certificates for one server come from. */
export const tlsFiles = (whose: string) =>
  Type.Optional(
    Type.Object(
      { ca: Type.Optional(authority), clientCertificate: Type.Optional(clientCertificate) },
      {
        ...closed,
        description: `Authorities and client certificate for ${whose}, mounted as folders and read at each connection. Left out: none.`,
      },
    ),
  );

/** The section, as it was checked. */
type TlsFiles = Static<ReturnType<typeof tlsFiles>>;

/** What of consumer.yaml names certificates. */
export interface CertificateSources {
  readonly kafka?: { readonly tls?: TlsFiles };
  readonly database?: { readonly tls?: TlsFiles };
  readonly schemaRegistry?: { readonly tls?: TlsFiles };
}

/** A Secret or ConfigMap whose keys become files of a folder. */
export interface CertificateMount {
  /** In {@link CONTAINER_PATH} and among the names of volumes. */
  readonly place: `${Server}${'Authority' | 'Certificate'}`;
  readonly secret?: string;
  readonly configMap?: string;
  readonly keys: readonly string[];
}

const PLACES = {
  kafka: { authority: 'kafkaAuthority', certificate: 'kafkaCertificate' },
  database: { authority: 'databaseAuthority', certificate: 'databaseCertificate' },
  schemaRegistry: { authority: 'schemaRegistryAuthority', certificate: 'schemaRegistryCertificate' },
} as const;

type Server = keyof typeof PLACES;

const SERVERS = ['kafka', 'database', 'schemaRegistry'] as const;

function mountsOf(server: Server, { ca, clientCertificate }: TlsFiles): CertificateMount[] {
  const { authority, certificate } = PLACES[server];
  const { existingSecret: secret, existingConfigMap: configMap } = ca ?? {};
  return [
    ...(ca === undefined
      ? []
      : [
          {
            place: authority,
            ...(secret !== undefined && { secret }),
            ...(configMap !== undefined && { configMap }),
            keys: [ca.key],
          },
        ]),
    ...(clientCertificate === undefined
      ? []
      : [
          {
            place: certificate,
            secret: clientCertificate.existingSecret,
            keys: Object.values(clientCertificate.keys),
          },
        ]),
  ];
}

/** What is mounted for TLS to Kafka, PostgreSQL and the schema registry. */
export const certificateMounts = (file: CertificateSources): CertificateMount[] =>
  SERVERS.flatMap((server) => mountsOf(server, file[server]?.tls ?? {}));

/** `tls` of a server's settings: where the mounted files are. */
function tlsSettings(server: Server, { ca, clientCertificate }: TlsFiles): Section {
  const { authority, certificate } = PLACES[server];
  const keys = clientCertificate?.keys;
  return {
    ...(ca && { ca: `${CONTAINER_PATH[authority]}/${ca.key}` }),
    ...(keys && {
      certificate: `${CONTAINER_PATH[certificate]}/${keys.certificate}`,
      privateKey: `${CONTAINER_PATH[certificate]}/${keys.privateKey}`,
    }),
  };
}

/** Whether the value of a key is something else than a section. */
const isNoSection = (section: Section, key: string): boolean => key in section && !isSection(section[key]);

/** `application` with the paths of the mounted certificates. A section that is none stays, as what is wrong. */
export function withCertificates(application: Section, file: CertificateSources): Section {
  const added = SERVERS.flatMap((server): [string, Section][] => {
    const tls = file[server]?.tls;
    const own = sectionOf(application, server);
    return tls === undefined || isNoSection(application, server) || isNoSection(own, 'tls')
      ? []
      : [[server, { ...own, tls: { ...sectionOf(own, 'tls'), ...tlsSettings(server, tls) } }]];
  });
  return { ...application, ...Object.fromEntries(added) };
}

interface CertificatesPart extends CertificateSources {
  readonly application: unknown;
}

const authorityHasOneSource = (server: Server): Rule<CertificatesPart> => ({
  reads: [`${server}.tls.ca`],
  find: (file) => {
    const ca = file[server]?.tls?.ca;
    const given = [ca?.existingSecret, ca?.existingConfigMap].filter((each) => each !== undefined);
    return problemIf(ca !== undefined && given.length !== 1, {
      path: `${server}.tls.ca`,
      message: given.length === 0 ? 'names nothing that holds the authorities' : 'names both a Secret and a ConfigMap',
      allowed: 'existingSecret or existingConfigMap, with key for what it is called there',
    });
  },
});

/** What `application` has would win, or lose, without a word. */
const pathsAreOurs = (server: Server): Rule<CertificatesPart> => ({
  reads: [`${server}.tls`, `application.${server}.tls`],
  find: (file) =>
    Object.keys(tlsSettings(server, file[server]?.tls ?? {})).flatMap((key) =>
      problemIf(valueAt(file.application, [server, 'tls', key]) !== undefined, {
        path: `application.${server}.tls.${key}`,
        message: `is said by ${server}.tls of consumer.yaml already, which mounts the file`,
        allowed: `nothing here, or ${server}.tls without ${key === 'ca' ? 'ca' : 'clientCertificate'}`,
      }),
    ),
});

const certificatesWantTls: Rule<CertificatesPart> = {
  reads: ['kafka.tls', 'application.kafka.ssl'],
  find: ({ kafka, application }) =>
    problemIf(kafka?.tls !== undefined && valueAt(application, ['kafka', 'ssl']) !== true, {
      path: 'application.kafka.ssl',
      message: 'is off, and kafka.tls has certificates for it',
      given: valueAt(application, ['kafka', 'ssl']),
      allowed: 'true',
    }),
};

/** What must hold for certificates that are mounted. */
export const CERTIFICATE_RULES: readonly Rule<CertificatesPart>[] = [
  ...SERVERS.flatMap((server) => [authorityHasOneSource(server), pathsAreOurs(server)]),
  certificatesWantTls,
];
