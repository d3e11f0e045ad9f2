import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** A self-signed certificate in PEM, its own certificate authority. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate for localhost, 127.0.0.1 and further names. */
export const testCertificate = (commonName: string, ...names: readonly string[]): Promise<TestCertificate> =>
  certificateUntil(undefined, commonName, ...names);

/** The same, until this moment. */
export async function certificateUntil(
  notAfterDate: Date | undefined,
  commonName: string,
  ...names: readonly string[]
): Promise<TestCertificate> {
  const altNames = [
    ...['localhost', ...names].map((value) => ({ type: 2 as const, value })),
    { type: 7 as const, ip: '127.0.0.1' },
  ];
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...(notAfterDate && { notAfterDate }),
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { cert, key };
}

/** Writes both into a new folder, under the names that a Secret of type kubernetes.io/tls has. */
export function certificateFolder({ cert, key }: TestCertificate): string {
  const folder = mkdtempSync(join(tmpdir(), 'stream-consumer-tls-'));
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  return folder;
}

/** `server.ssl` for the files in a folder. */
export const sslIn = (folder: string) => ({
  certificate: join(folder, 'tls.crt'),
  'certificate-private-key': join(folder, 'tls.key'),
});
