import tls from 'node:tls';

/**
 * Mozilla's profile "intermediate", version 5.7: TLS 1.3 and 1.2, suites with forward secrecy and authenticated
 * encryption alone (wiki.mozilla.org/Security/Server_Side_TLS).
 */
const CIPHERS: readonly string[] = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/**
 * Sets the versions and cipher suites of all TLS of this process: the HTTP interface, Kafka, PostgreSQL, and requests
 * to other servers. It comes before the first of them. Options of Node.js that widen them, such as `--tls-min-v1.0` in
 * `NODE_OPTIONS`, do not count.
 */
export function useModernTls(): void {
  tls.DEFAULT_MIN_VERSION = 'TLSv1.2';
  tls.DEFAULT_CIPHERS = CIPHERS.join(':');
}
