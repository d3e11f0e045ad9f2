import type { Server } from 'node:tls';
import { describeProblems } from '../../settings/problem.ts';
import type { Logger } from '../logger.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';

/** How often the files are looked at. cert-manager renews weeks ahead, and the kubelet needs up to two minutes itself. */
const PERIOD_MS = 10_000;

/**
 * Gives a running TLS server its certificate anew whenever the files changed; new connections get the new one, those
 * that are open stay. The files are read, not watched: a Secret's are links into a folder that is exchanged as a whole.
 * What cannot be used is told once, and the certificate in use stays.
 */
export class CertificateRenewal {
  readonly #server: Pick<Server, 'setSecureContext'>;
  readonly #files: CertificateFiles;
  readonly #logger: Pick<Logger, 'info' | 'error'>;
  #current: Certificate;
  #told = '';
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

  /** Looks at the files every 10 s from now on. */
  start(): void {
    const { subject, validTo } = this.#current;
    this.#logger.info({ subject, validTo }, 'TLS certificate');
    this.#timer = setInterval(() => this.renew(), PERIOD_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks at the files now. */
  renew(): void {
    const { certificate, problems } = readCertificate(this.#files);
    if (certificate === undefined) {
      this.#tellOnce(describeProblems(problems));
      return;
    }
    this.#told = '';
    const { cert, key, subject, validTo } = certificate;
    if (cert !== this.#current.cert || key !== this.#current.key) {
      this.#server.setSecureContext({ cert, key });
      this.#current = certificate;
      this.#logger.info({ subject, validTo }, 'TLS certificate renewed');
    }
  }

  #tellOnce(reason: string): void {
    if (reason !== this.#told) {
      this.#told = reason;
      this.#logger.error(
        { reason },
        'TLS certificate not renewed: the files cannot be used, so the old one stays in use',
      );
    }
  }
}
