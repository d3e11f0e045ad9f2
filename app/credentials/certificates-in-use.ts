import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Server } from 'node:tls';
import { describeProblems } from '../../settings/schema/problem.ts';
import { readDatabaseUrl } from '../../settings/sections/database-url.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logging/logger.ts';
import { type Certificate, type CertificateFiles, pemCertificates, readCertificate } from './certificate.ts';
import { readPemOrFile } from './tls-files.ts';

/** The time in which each certificate of a chain is valid: an intermediate one that expired is refused as well. */
function validityOf(pem: string): { readonly from: Date; readonly until: Date } {
  const found = pemCertificates(pem);
  const chain = found.length === 0 ? [new X509Certificate(pem)] : found;
  return {
    from: new Date(Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom)))),
    until: new Date(Math.min(...chain.map(({ validTo }) => Date.parse(validTo)))),
  };
}

/**
 * Why a new certificate does not take the place of the one in use: it has expired or is not valid yet, and the old one
 * is valid. Where the old one is no better, the new one is taken.
 *
 * @param newest a chain, as PEM
 * @param used the same
 * @returns the end of a sentence; undefined where it is taken
 */
export function whyNotReplaced(newest: string, used: string, now = new Date()): string | undefined {
  const { from, until } = validityOf(newest);
  const old = validityOf(used);
  if ((from <= now && now < until) || now < old.from || now >= old.until) {
    return undefined;
  }
  return until <= now ? `expired at ${until.toISOString()}` : `is not valid before ${from.toISOString()}`;
}

/** A certificate, followed by those of its intermediate authorities, and its private key, as PEM. */
interface CertificatePair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** The systems that may ask for a certificate of this client. */
type Bundle = 'kafka' | 'database' | 'schemaRegistry';

const tlsOf = (section: object | undefined): Partial<CertificatePair> =>
  section !== undefined && 'tls' in section ? (section.tls as Partial<CertificatePair>) : {};

/** Where settings name the client's certificate: paths of files, or the PEM itself. */
function namedPair(settings: Settings, bundle: Bundle): CertificatePair | undefined {
  const tls = tlsOf(settings[bundle]);
  const parameters = bundle === 'database' ? readDatabaseUrl(settings.database.url)[0]?.searchParams : undefined;
  const certificate = tls.certificate ?? parameters?.get('sslcert');
  const privateKey = tls.privateKey ?? parameters?.get('sslkey');
  return certificate && privateKey ? { certificate, privateKey } : undefined;
}

function readPart<T>(source: string, what: string, parse: (pem: string) => T): { pem: string; parsed: T } {
  const reading = readPemOrFile(source, parse);
  if (reading.failure !== undefined) {
    throw new Error(`the setting of the ${what} ${reading.failure}`);
  }
  return reading;
}

/** @throws Error with what is wrong, as a sentence without a path: a key itself may be written in its place */
function readPair({ certificate, privateKey }: CertificatePair): CertificatePair {
  const cert = readPart(certificate, 'certificate', (pem) => new X509Certificate(pem));
  const key = readPart(privateKey, 'private key', createPrivateKey);
  if (!cert.parsed.checkPrivateKey(key.parsed)) {
    throw new Error('the private key is that of another certificate');
  }
  return { certificate: cert.pem, privateKey: key.pem };
}

/**
 * The client's certificates for Kafka, PostgreSQL and the schema registry: the content of the files of the moment,
 * unless it cannot be used, or has expired and the one in use has not. Then that one stays, and the log says so once.
 */
export class ClientCertificates {
  readonly #logger: Pick<Logger, 'info' | 'error'>;
  readonly #used = new Map<Bundle, CertificatePair>();
  readonly #logged = new Map<Bundle, string>();

  constructor(logger: Pick<Logger, 'info' | 'error'>) {
    this.#logger = logger;
  }

  /** When the certificates in use expire, by the system that they are shown to. */
  get expiries(): ReadonlyMap<string, Date> {
    return new Map(Array.from(this.#used, ([bundle, { certificate }]) => [bundle, validityOf(certificate).until]));
  }

  /** The settings with certificate and key themselves in the place of their files. */
  inlined(settings: Settings): Settings {
    const { kafka, database, schemaRegistry } = settings;
    return {
      ...settings,
      kafka: { ...kafka, ...this.#tls(settings, 'kafka') },
      database: { ...database, ...this.#tls(settings, 'database') },
      ...(schemaRegistry && { schemaRegistry: { ...schemaRegistry, ...this.#tls(settings, 'schemaRegistry') } }),
    };
  }

  #tls(settings: Settings, bundle: Bundle): object {
    const named = namedPair(settings, bundle);
    const pair = named && this.#newest(bundle, named);
    return pair === undefined ? {} : { tls: { ...tlsOf(settings[bundle]), ...pair } };
  }

  #newest(bundle: Bundle, named: CertificatePair): CertificatePair | undefined {
    const used = this.#used.get(bundle);
    try {
      const newest = readPair(named);
      const reason = used && whyNotReplaced(newest.certificate, used.certificate);
      if (reason !== undefined) {
        throw new Error(`the certificate ${reason}`);
      }
      this.#take(bundle, newest, used);
      return newest;
    } catch (error) {
      this.#logOnce(bundle, (error as Error).message, used);
      return used;
    }
  }

  #take(bundle: Bundle, newest: CertificatePair, used: CertificatePair | undefined): void {
    this.#logged.delete(bundle);
    this.#used.set(bundle, newest);
    if (used !== undefined && newest.certificate !== used.certificate) {
      const { subject } = new X509Certificate(newest.certificate);
      const validTo = validityOf(newest.certificate).until.toISOString();
      this.#logger.info({ bundle, subject, validTo }, 'client certificate renewed');
    }
  }

  /** The check of the configuration has reported files that could not be used from the start. */
  #logOnce(bundle: Bundle, reason: string, used: CertificatePair | undefined): void {
    if (used !== undefined && this.#logged.get(bundle) !== reason) {
      this.#logged.set(bundle, reason);
      this.#logger.error({ bundle, reason }, 'client certificate not renewed: the old one stays in use');
    }
  }
}

/** Between two reads. cert-manager renews weeks ahead, and the kubelet takes up to two minutes to update a Secret. */
const PERIOD_MS = 10_000;

/**
 * Replaces the certificate of a running TLS server whenever the files have changed; new connections get the new one,
 * open ones stay. The files are read, not watched: a Secret's are links into a folder that is exchanged as a whole.
 * Files that cannot be used, or hold a certificate that is not valid while the one in use is, are logged once, and that
 * one stays.
 */
export class CertificateRenewal {
  readonly #server: Pick<Server, 'setSecureContext'>;
  readonly #files: CertificateFiles;
  readonly #logger: Pick<Logger, 'info' | 'error'>;
  #current: Certificate;
  #lastFailure = '';
  #timer: NodeJS.Timeout | undefined;

  /** @param current the certificate that the server has now */
  constructor(
    server: Pick<Server, 'setSecureContext'>,
    files: CertificateFiles,
    current: Certificate,
    logger: Pick<Logger, 'info' | 'error'>,
  ) {
    this.#server = server;
    this.#files = files;
    this.#current = current;
    this.#logger = logger;
  }

  /** When the certificate that is in use expires. */
  get expiresAt(): Date {
    return this.#current.expiresAt;
  }

  /** Reads the files every 10 s from now on. */
  start(): void {
    const { subject, validTo } = this.#current;
    this.#logger.info({ subject, validTo }, 'TLS certificate');
    this.#timer = setInterval(() => this.renew(), PERIOD_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Reads the files now. */
  renew(): void {
    const { certificate, problems } = readCertificate(this.#files);
    const reason = certificate && whyNotReplaced(certificate.cert, this.#current.cert);
    if (certificate === undefined || reason !== undefined) {
      this.#logOnce(reason === undefined ? describeProblems(problems) : `the certificate ${reason}`);
      return;
    }
    this.#lastFailure = '';
    const { cert, key, subject, validTo } = certificate;
    if (cert !== this.#current.cert || key !== this.#current.key) {
      this.#server.setSecureContext({ cert, key });
      this.#current = certificate;
      this.#logger.info({ subject, validTo }, 'TLS certificate renewed');
    }
  }

  #logOnce(reason: string): void {
    if (reason !== this.#lastFailure) {
      this.#lastFailure = reason;
      this.#logger.error(
        { reason },
        'TLS certificate not renewed: what the files hold cannot be used, so the old one stays in use',
      );
    }
  }
}
