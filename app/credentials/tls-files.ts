import { createPrivateKey, type X509Certificate } from 'node:crypto';
import type { Rule } from '../../settings/schema/check.ts';
import { type Problem, problemIf } from '../../settings/schema/problem.ts';
import { readDatabaseUrl } from '../../settings/sections/database-url.ts';
import type { Settings } from '../../settings/settings.ts';
import { type PemReading, pemCertificates, readCertificate, readPem } from './certificate.ts';
import { shownFile } from './named-file.ts';

/** A section `tls` of a client: each value is the path of a PEM file, or the PEM itself. */
export interface TlsSection {
  readonly ca?: string;
  readonly certificate?: string;
  readonly privateKey?: string;
}

/** What Node.js's TLS takes, as PEM. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** All certificates of a bundle. @throws Error when there are none, or one of them is none */
function parseCertificates(pem: string): readonly X509Certificate[] {
  const certificates = pemCertificates(pem);
  if (certificates.length === 0) {
    throw new TypeError('there is no certificate');
  }
  return certificates;
}

/**
 * Whether a value is the PEM itself, and no path. Text may be before the first block, between two and behind the
 * last (RFC 7468, section 2): `openssl pkcs12` writes the attributes of each bag there.
 */
const isInline = (value: string): boolean => value.includes('-----BEGIN ');

/** Reads a PEM file, or the PEM itself; the failure is the end of a sentence that begins with the setting. */
export function readPemOrFile<T>(value: string, parse: (pem: string) => T): PemReading<T> {
  if (!isInline(value)) {
    const reading = readPem(value, parse);
    return reading.failure === undefined ? reading : { failure: `names a file that ${reading.failure}` };
  }
  try {
    return { pem: value, parsed: parse(value) };
  } catch {
    return { failure: 'is not the PEM that belongs there' };
  }
}

const CERTIFICATE_FILE = 'a PEM file with -----BEGIN CERTIFICATE-----';
const PEM_OR_PATH = 'PEM with -----BEGIN CERTIFICATE-----, or the path of such a file';

const PARTS = {
  ca: { parse: parseCertificates, as: 'ca', allowed: PEM_OR_PATH },
  certificate: { parse: parseCertificates, as: 'cert', allowed: PEM_OR_PATH },
  privateKey: {
    parse: createPrivateKey,
    as: 'key',
    allowed: 'PEM with a private key that is not encrypted, such as openssl genpkey writes, or the path of such a file',
  },
} as const;

type TlsPart = keyof typeof PARTS;

const partsOf = (tls: TlsSection) =>
  (Object.keys(PARTS) as TlsPart[]).flatMap((part) => {
    const value = tls[part];
    return value === undefined ? [] : [{ part, value, ...PARTS[part] }];
  });

/** What is shown of a value: of a PEM, and at the place of a key, nothing. */
const given = (part: TlsPart, value: string) =>
  part === 'privateKey' || isInline(value) ? {} : { given: shownFile(value, process.cwd()) };

function partProblems(path: string, part: TlsPart, value: string | undefined): readonly Problem[] {
  const { parse, allowed } = PARTS[part];
  const failure = value === undefined ? undefined : readPemOrFile<unknown>(value, parse).failure;
  return value === undefined || failure === undefined
    ? []
    : [{ path: `${path}.${part}`, message: failure, ...given(part, value), allowed }];
}

/** Whether both can be read, and the first certificate was made for another key. */
function isOtherKey({ certificate = '', privateKey = '' }: TlsSection): boolean {
  const chain = readPemOrFile(certificate, parseCertificates);
  const key = readPemOrFile(privateKey, createPrivateKey);
  const isRead = chain.failure === undefined && key.failure === undefined;
  return isRead && chain.parsed[0]?.checkPrivateKey(key.parsed) === false;
}

/** What a section names can be read, is PEM of its kind, and the key is that of the certificate. */
const tlsRules = (path: string, read: (settings: Settings) => TlsSection | undefined): readonly Rule<Settings>[] => [
  ...(Object.keys(PARTS) as TlsPart[]).map((part) => ({
    reads: [`${path}.${part}`],
    masksItself: true,
    find: (settings: Settings) => partProblems(path, part, read(settings)?.[part]),
  })),
  {
    reads: [`${path}.certificate`, `${path}.privateKey`],
    find: (settings) =>
      problemIf(isOtherKey(read(settings) ?? {}), {
        path: `${path}.privateKey`,
        message: 'is the key of another certificate',
        allowed: `the key that the certificate in ${path}.certificate was made for`,
      }),
  },
];

const URL_FILES = {
  sslrootcert: {
    ...PARTS.ca,
    allowed: `${CERTIFICATE_FILE}; a URL without sslrootcert trusts the certificate authorities that Node.js trusts`,
  },
  sslcert: { ...PARTS.certificate, allowed: CERTIFICATE_FILE },
  sslkey: { ...PARTS.privateKey, allowed: 'a PEM file with a private key that is not encrypted' },
} as const;

/** The files for TLS that the database's URL names. Their names are not shown: a key itself may be written there. */
const urlFiles: Rule<Settings> = {
  reads: ['database.url'],
  find: ({ database: { url } }) => {
    const parameters = readDatabaseUrl(url)[0]?.searchParams;
    const problems = Object.entries(URL_FILES).flatMap(([name, { parse, allowed }]): readonly Problem[] => {
      const file = parameters?.get(name);
      const failure = file ? readPem<unknown>(file, parse).failure : undefined;
      return problemIf(failure !== undefined, {
        path: 'database.url',
        message: `names by ${name} a file that ${failure}`,
        allowed,
      });
    });
    const pair = { certificate: parameters?.get('sslcert') ?? '', privateKey: parameters?.get('sslkey') ?? '' };
    return [
      ...problems,
      ...problemIf(isOtherKey(pair), {
        path: 'database.url',
        message: 'names by sslkey the key of another certificate',
        allowed: 'the key that the certificate of sslcert was made for',
      }),
    ];
  },
};

/** The certificate of the HTTP interface and its key. */
const serverFiles: Rule<Settings> = {
  reads: ['server.ssl'],
  masksItself: true,
  find: ({ server: { ssl } }) => (ssl === undefined ? [] : readCertificate(ssl).problems),
};

/** What must hold for the files that settings of the database name. */
export const DATABASE_FILE_RULES: readonly Rule<Settings>[] = [
  urlFiles,
  ...tlsRules('database.tls', ({ database }) => database.tls),
];

/** The same for the files that settings of all servers name which the consumer asks. */
export const CLIENT_FILE_RULES: readonly Rule<Settings>[] = [
  ...DATABASE_FILE_RULES,
  ...tlsRules('kafka.tls', ({ kafka }) => kafka.tls),
  ...tlsRules('schemaRegistry.tls', ({ schemaRegistry }) => schemaRegistry?.tls),
];

/** The same for all files that settings name. */
export const FILE_RULES: readonly Rule<Settings>[] = [...CLIENT_FILE_RULES, serverFiles];

/**
 * What a section names, as it is now.
 *
 * @param path of the section, for the message
 * @throws Error when a part cannot be read; the check of the configuration has usually found it before.
 */
export function readTls(path: string, tls: TlsSection = {}): TlsMaterial {
  const read = partsOf(tls).map(({ part, value, parse, as }) => {
    const reading = readPemOrFile<unknown>(value, parse);
    if (reading.failure !== undefined) {
      throw new Error(`${path}.${part} ${reading.failure}`);
    }
    return [as, reading.pem] as const;
  });
  return Object.fromEntries(read);
}
