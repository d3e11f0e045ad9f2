import type { Server } from 'node:tls';
import { describeProblems } from '../../settings/schema/problem.ts';
import { type Certificate, type CertificateFiles, readCertificate } from '../credentials/certificate.ts';
import { whyNotReplaced } from '../credentials/certificates-in-use.ts';
import type { Logger } from '../logging/logger.ts';

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
