import { generate } from 'selfsigned';
import type { TestCertificate } from '../../app/management/test-certificate.ts';

/** A certificate authority of a test's own. */
export interface TestAuthority {
  /** Its certificate, as PEM. */
  readonly ca: string;
  /**
   * Makes a certificate.
   *
   * @param commonName the subject, which Kafka takes for the user of a client certificate
   * @param options.names DNS names of a server. @default none
   * @param options.expired whether it ended yesterday. @default false
   */
  issue(
    commonName: string,
    options?: { readonly names?: readonly string[]; readonly expired?: boolean },
  ): Promise<TestCertificate>;
}

const DAY_MS = 86_400_000;
const KEYS = { keyType: 'ec', algorithm: 'sha256' } as const;

/** Makes an authority that only the test knows. */
export async function testAuthority(commonName: string): Promise<TestAuthority> {
  const root = await generate([{ name: 'commonName', value: commonName }], {
    ...KEYS,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const ca = { cert: root.cert, key: root.private };
  return {
    ca: root.cert,
    issue: async (name, { names = [], expired = false } = {}) => {
      const altNames = names.map((value) => ({ type: 2 as const, value }));
      const now = Date.now();
      const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
        ...KEYS,
        ca,
        notBeforeDate: new Date(now - 2 * DAY_MS),
        notAfterDate: new Date(now + (expired ? -DAY_MS : DAY_MS)),
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
          ...(altNames.length > 0 ? [{ name: 'subjectAltName' as const, altNames }] : []),
        ],
      });
      return { cert, key };
    },
  };
}
