import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { describeProblems, type Problem } from '../../settings/schema/problem.ts';
import type { Settings } from '../../settings/settings.ts';
import { readText, shownFile } from './named-file.ts';

/** The settings that name the certificate's files. */
export type CertificateFiles = NonNullable<Settings['server']['ssl']>;

/** A certificate with its private key, as PEM; checked to match each other and to be usable for TLS. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** For the log, as is `validTo`. */
  readonly subject: string;
  readonly validTo: string;
  /** When the first certificate of the file, its chain, expires. */
  readonly expiresAt: Date;
}

/** A certificate, or all that is wrong with the files. */
export type CertificateReading =
  | { readonly certificate: Certificate; readonly problems: readonly [] }
  | { readonly certificate?: never; readonly problems: readonly Problem[] };

const CERTIFICATE_SETTING = {
  path: 'server.ssl.certificate',
  allowed: 'a PEM file with -----BEGIN CERTIFICATE-----',
};
const KEY_SETTING = {
  path: 'server.ssl.certificate-private-key',
  allowed: 'a PEM file with a private key that is not encrypted, such as openssl genpkey writes',
};

const READ_FAILURE: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
  NOT_A_FILE: 'is not a regular file',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'holds something else',
};

type FileReading<T> =
  | { readonly value: T; readonly problem?: never }
  | { readonly value?: never; readonly problem: Problem };

/** The result of `parse` for a file, or the failure, as the end of a sentence. */
export type PemReading<T> =
  | { readonly pem: string; readonly parsed: T; readonly failure?: never }
  | { readonly failure: string };

/** Reads a PEM file; the error of `parse` is left out, since OpenSSL's text does not help to mend the file. */
export function readPem<T>(file: string, parse: (pem: string) => T): PemReading<T> {
  let pem: string;
  try {
    pem = readText(file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return { failure: READ_FAILURE[code] ?? `cannot be read (${code})` };
  }
  try {
    return { pem, parsed: parse(pem) };
  } catch {
    return { failure: 'holds something else' };
  }
}

function parseFile<T>(
  file: string,
  setting: typeof KEY_SETTING,
  parse: (pem: string) => T,
): FileReading<{ pem: string; parsed: T }> {
  const reading = readPem(file, parse);
  return reading.failure === undefined
    ? { value: reading }
    : {
        problem: { ...setting, given: shownFile(file, process.cwd()), message: `names a file that ${reading.failure}` },
      };
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a bundle; none where it has none. @throws Error when one of them is no certificate */
export const pemCertificates = (pem: string): readonly X509Certificate[] =>
  Array.from(pem.matchAll(PEM_CERTIFICATE), ([one]) => new X509Certificate(one));

/** An intermediate certificate that expired keeps clients away as well. */
function expiryOf(pem: string): Date {
  const chain = pemCertificates(pem).map(({ validTo }) => Date.parse(validTo));
  return new Date(Math.min(...chain));
}

function pairProblem(cert: X509Certificate, pems: { cert: string; key: string }, files: CertificateFiles) {
  const given = files['certificate-private-key'];
  if (!cert.checkPrivateKey(createPrivateKey(pems.key))) {
    const allowed = `the key that the certificate in ${files.certificate} was made for`;
    return { path: KEY_SETTING.path, message: 'names a key of another certificate', given, allowed };
  }
  try {
    createSecureContext(pems);
    return undefined;
  } catch (error) {
    const message = `cannot be used for TLS (${(error as Error).message})`;
    return {
      path: CERTIFICATE_SETTING.path,
      message,
      given: files.certificate,
      allowed: 'a certificate and key that OpenSSL takes',
    };
  }
}

/** Reads the two files and checks that a TLS server can use them; an expired certificate passes. */
export function readCertificate(files: CertificateFiles): CertificateReading {
  const cert = parseFile(files.certificate, CERTIFICATE_SETTING, (pem) => new X509Certificate(pem));
  const key = parseFile(files['certificate-private-key'], KEY_SETTING, createPrivateKey);
  if (cert.problem || key.problem) {
    return { problems: [cert.problem, key.problem].filter((problem) => problem !== undefined) };
  }
  const pems = { cert: cert.value.pem, key: key.value.pem };
  const { parsed } = cert.value;
  const problem = pairProblem(parsed, pems, files);
  return problem === undefined
    ? {
        certificate: {
          ...pems,
          subject: parsed.subject,
          validTo: new Date(parsed.validTo).toISOString(),
          expiresAt: expiryOf(pems.cert),
        },
        problems: [],
      }
    : { problems: [problem] };
}

/**
 * The certificate for the start of the server.
 *
 * @throws Error with all that is wrong with the files; the check of the configuration has usually found it before.
 */
export function requireCertificate(files: CertificateFiles): Certificate {
  const { certificate, problems } = readCertificate(files);
  if (certificate === undefined) {
    throw new Error(describeProblems(problems));
  }
  return certificate;
}
