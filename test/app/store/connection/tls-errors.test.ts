import { expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { openSslReason, tlsAdvice } from '../../../../app/store/connection/tls-errors.ts';

const failure = (code: string, message = code): Error => Object.assign(new Error(message), { code });

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', /^check that database\.tls\.ca/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /^check that the host/],
  ['CERT_HAS_EXPIRED', /renewed/],
  ['ERR_OSSL_X509_KEY_VALUES_MISMATCH', /^check that database\.tls\.privateKey/],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /^check database\.tls\.certificate and/],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', /^check database\.tls\.certificate and/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /^check which versions/],
  ['ERR_OSSL_UNSUPPORTED', /^check which versions/],
])('what to check for %s', (code, advice) => {
  expect(tlsAdvice(failure(code))).toMatch(advice);
});

test('what to check where the server has no TLS', () => {
  expect(tlsAdvice(new Error('The server does not support SSL connections'))).toMatch(/^switch TLS on/);
});

test('any other error has nothing to do with TLS', () => {
  const others = [
    failure('ECONNRESET'),
    failure('toString'),
    new Error('no'),
    new DatabaseError('no', 0, 'error'),
    'no',
    undefined,
  ];
  expect(others.filter((error) => tlsAdvice(error) !== undefined)).toEqual([]);
});

test("OpenSSL's reason is shown without the line of its source, and any other error by its message", () => {
  const message = '0:error:0A000086:SSL routines:tls_process:certificate verify failed:ssl/statem.c:1';
  const error = Object.assign(new Error(message), { library: 'SSL routines', reason: 'certificate verify failed' });
  expect(openSslReason(error)).toBe('TLS: certificate verify failed');
  expect(openSslReason(Object.assign(new Error('no'), { reason: 'of another kind' }))).toBe('no');
});
