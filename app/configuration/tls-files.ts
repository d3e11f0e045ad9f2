import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Problem, problemIf } from '../../settings/problem.ts';
import { type PemReading, readPem } from '../management/certificate.ts';
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

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** All certificates of a bundle. @throws Error when there are none, or one of them is none */
export function parseCertificates(pem: string): readonly X509Certificate[] {
  const certificates = Array.from(pem.matchAll(PEM_CERTIFICATE), ([one]) => new X509Certificate(one));
  if (certificates.length === 0) {
    throw new TypeError('there is no certificate');
  }
  return certificates;
}

/** Whether the first certificate was made for the key. */
export const isPair = (certificate: string, privateKey: string): boolean =>
  parseCertificates(certificate)[0]?.checkPrivateKey(createPrivateKey(privateKey)) === true;

const isInline = (value: string): boolean => value.trimStart().startsWith('-----BEGIN');

/** Reads a PEM file, or the PEM itself; the failure is the end of a sentence that begins with the setting. */
function readValue<T>(value: string, parse: (pem: string) => T): PemReading<T> {
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

const CERTIFICATE = 'PEM that begins with -----BEGIN CERTIFICATE-----, or the path of such a file';

const PARTS = {
  ca: { parse: parseCertificates, as: 'ca', allowed: CERTIFICATE },
  certificate: { parse: parseCertificates, as: 'cert', allowed: CERTIFICATE },
  privateKey: {
    parse: createPrivateKey,
    as: 'key',
    allowed: 'PEM with a private key that is not encrypted, such as openssl genpkey writes, or the path of such a file',
  },
} as const;

type Part = keyof typeof PARTS;

const partsOf = (tls: TlsSection) =>
  (Object.keys(PARTS) as Part[]).flatMap((part) => {
    const value = tls[part];
    return value === undefined ? [] : [{ part, value, ...PARTS[part] }];
  });

/** What is shown of a value: of a PEM, and at the place of a key, nothing. */
const given = (part: Part, value: string) =>
  part === 'privateKey' || isInline(value) ? {} : { given: shownFile(value, process.cwd()) };

/**
 * All that is wrong with what a section names: it cannot be read, is no PEM, or the key is another certificate's.
 *
 * @param path of the section, such as `database.tls`
 */
export function tlsProblems(path: string, tls: TlsSection = {}): readonly Problem[] {
  const problems = partsOf(tls).flatMap(({ part, value, parse, allowed }): Problem[] => {
    const { failure } = readValue<unknown>(value, parse);
    return failure === undefined ? [] : [{ path: `${path}.${part}`, message: failure, ...given(part, value), allowed }];
  });
  if (problems.length > 0) {
    return problems;
  }
  const { cert, key } = readTls(path, tls);
  return problemIf(cert !== undefined && key !== undefined && !isPair(cert, key), {
    path: `${path}.privateKey`,
    message: 'is the key of another certificate',
    allowed: `the key that the certificate in ${path}.certificate was made for`,
  });
}

/**
 * What a section names, as it is now.
 *
 * @param path of the section, for the message
 * @throws Error when a part cannot be read; the check of the configuration has usually found it before.
 */
export function readTls(path: string, tls: TlsSection = {}): TlsMaterial {
  const read = partsOf(tls).map(({ part, value, parse, as }) => {
    const reading = readValue<unknown>(value, parse);
    if (reading.failure !== undefined) {
      throw new Error(`${path}.${part} ${reading.failure}`);
    }
    return [as, reading.pem] as const;
  });
  return Object.fromEntries(read);
}
