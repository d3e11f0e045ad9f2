import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Rule } from '../../settings/check.ts';
import { readDatabaseUrl } from '../../settings/database-url.ts';
import type { Problem } from '../../settings/problem.ts';
import type { Settings } from '../../settings/settings.ts';
import { readCertificate, readPem } from '../management/certificate.ts';

const asCertificate = (pem: string) => new X509Certificate(pem);

const CERTIFICATE = 'a PEM file that begins with -----BEGIN CERTIFICATE-----';

const URL_FILES = {
  sslrootcert: {
    parse: asCertificate,
    allowed: `${CERTIFICATE}; a URL without sslrootcert trusts the certificate authorities that Node.js trusts`,
  },
  sslcert: { parse: asCertificate, allowed: CERTIFICATE },
  sslkey: { parse: createPrivateKey, allowed: 'a PEM file with a private key that is not encrypted' },
} as const;

/** The files for TLS that the database's URL names; their names are not shown, since a key itself may stand there. */
export const databaseUrlFiles: Rule<Settings> = {
  reads: ['database.url'],
  find: ({ database: { url } }) => {
    const parameters = readDatabaseUrl(url)?.searchParams;
    return Object.entries(URL_FILES).flatMap(([name, { parse, allowed }]): Problem[] => {
      const file = parameters?.get(name);
      const failure = file ? readPem<unknown>(file, parse).failure : undefined;
      const message = `names by ${name} a file that ${failure}`;
      return failure === undefined ? [] : [{ path: 'database.url', message, allowed }];
    });
  },
};

/** The certificate of the HTTP interface and its key. */
export const certificateFiles: Rule<Settings> = {
  reads: ['server.ssl'],
  masksItself: true,
  find: ({ server: { ssl } }) => (ssl === undefined ? [] : readCertificate(ssl).problems),
};
