import { isNativeError } from 'node:util/types';

/** What a person looks at when TLS fails for a reason; the error itself has OpenSSL's, Node.js's or pg's words for it. */
const ADVICE = {
  authority:
    'check that database.tls.ca, or sslrootcert of database.url, holds the certificate of the authority that signed the ' +
    "server's (left out: the authorities of Node.js)",
  name: "check that the host in database.url is one of the names in the server's certificate",
  server: "check the server's certificate: it has to be renewed, or a clock is wrong",
  client:
    'check database.tls.certificate and database.tls.privateKey, or sslcert and sslkey of database.url: the server takes ' +
    'certificates of the authorities in its ssl_ca_file',
  pair: 'check that database.tls.privateKey, or sslkey of database.url, is the key of the certificate beside it',
  protocol: 'check which versions of TLS and which ciphers the server takes, and that PostgreSQL is at this port',
  off: 'switch TLS on at the server (ssl = on), or leave TLS out of database.url and database.tls',
} as const;

type TlsFault = keyof typeof ADVICE;

/** Codes of Node.js and OpenSSL for a server's certificate that is not accepted (nodejs.org/api/tls.html). */
const FAULT_BY_CODE: Readonly<Record<string, TlsFault>> = {
  UNABLE_TO_GET_ISSUER_CERT: 'authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'authority',
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: 'authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'authority',
  CERT_UNTRUSTED: 'authority',
  CERT_REJECTED: 'authority',
  CERT_SIGNATURE_FAILURE: 'authority',
  INVALID_CA: 'authority',
  INVALID_PURPOSE: 'authority',
  PATH_LENGTH_EXCEEDED: 'authority',
  CERT_CHAIN_TOO_LONG: 'authority',
  HOSTNAME_MISMATCH: 'name',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name',
  CERT_HAS_EXPIRED: 'server',
  CERT_NOT_YET_VALID: 'server',
  CERT_REVOKED: 'server',
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'pair',
  ERR_OSSL_X509_KEY_TYPE_MISMATCH: 'pair',
};

/** The server's alert about a client certificate (RFC 8446, section 6.2). */
const CERTIFICATE_ALERT =
  /^ERR_SSL_(SSLV3|TLSV1|TLSV13)_ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_(REQUIRED|EXPIRED|REVOKED|UNKNOWN)|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED|DECRYPT_ERROR)$/;

/** How pg says that the server answered a request for TLS with "no". */
const WITHOUT_TLS = 'The server does not support SSL connections';

function tlsFaultOf(error: Error): TlsFault | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (Object.hasOwn(FAULT_BY_CODE, code)) {
    return FAULT_BY_CODE[code];
  }
  if (CERTIFICATE_ALERT.test(code)) {
    return 'client';
  }
  if (error.message === WITHOUT_TLS) {
    return 'off';
  }
  return /^ERR_(SSL|OSSL)_/.test(code) ? 'protocol' : undefined;
}

/** What to check where TLS was refused by either side; undefined for any other error, such as a lost connection. */
export function tlsAdvice(error: unknown): string | undefined {
  const kind = isNativeError(error) ? tlsFaultOf(error) : undefined;
  return kind && ADVICE[kind];
}

/** What an error says; of OpenSSL's, whose messages name lines of its source, the reason alone. */
export function openSslReason(error: Error): string {
  const isOfOpenSsl = 'reason' in error && typeof error.reason === 'string' && 'library' in error;
  return isOfOpenSsl ? `TLS: ${error.reason}` : error.message;
}
