import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClientCertificates } from '../../../app/credentials/certificates-in-use.ts';
import { FILE_RULES } from '../../../app/credentials/tls-files.ts';
import { tlsOptions } from '../../../app/kafka/logins/broker-logins.ts';
import { databaseHosts } from '../../../app/store/connection/database-connection.ts';
import type { Settings } from '../../../settings/settings.ts';
import { testAuthority } from '../../integration/stack/test-authority.ts';
import { pkcs12Text } from '../management/pkcs12-text.ts';
import { folderWith } from './folder.ts';
import { load } from './loading.ts';

let server: Server;
let texts: { readonly ca: string; readonly bundle: string };

beforeAll(async () => {
  const authority = await testAuthority('test authority');
  const [broker, client] = await Promise.all([
    authority.issue('broker', { names: ['localhost'] }),
    authority.issue('alice'),
  ]);
  texts = { ca: `the authority of the tests:\n${authority.ca}`, bundle: pkcs12Text(client, authority.ca) };
  server = createServer({ ...broker, ca: authority.ca, requestCert: true, rejectUnauthorized: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => void server.close());

/** Whom a server that asks for a certificate of its authority takes a connection for. */
async function subjectOf(options: ConnectionOptions): Promise<string | undefined> {
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  const socket = connect({ ...options, host: 'localhost', servername: 'localhost', port });
  const [peer] = await Promise.race([accepted, once(socket, 'close').then((): [undefined] => [undefined])]);
  const subject = peer?.getPeerCertificate().subject.CN?.toString();
  socket.destroy();
  return subject;
}

/** The settings as connections see them, after the check of the start. */
const inUse = (env: Readonly<Record<string, string>>): Settings =>
  new ClientCertificates({ info: () => undefined, error: () => undefined }).inlined(
    load({
      env: { KAFKA_BROKERS: 'b:1', KAFKA_TOPICS: 't', KAFKA_GROUP_ID: 'g', KAFKA_SSL: 'true', ...env },
      rules: FILE_RULES,
    }),
  );

const ofDatabase = ({ database }: Settings) => databaseHosts(database)[0]?.config.ssl as ConnectionOptions;

describe.each(['as files', 'as the texts themselves'])(
  'PEM with text around its blocks, %s, is what TLS takes for',
  (how) => {
    const named = () => {
      const folder = folderWith({ 'ca.pem': texts.ca, 'all.pem': texts.bundle });
      return how === 'as files' ? { ca: join(folder, 'ca.pem'), bundle: join(folder, 'all.pem') } : texts;
    };

    test('Kafka', async () => {
      const { ca, bundle } = named();
      const tls = { KAFKA_TLS_CA: ca, KAFKA_TLS_CERTIFICATE: bundle, KAFKA_TLS_PRIVATE_KEY: bundle };
      expect(await subjectOf(tlsOptions(inUse({ DATABASE_URL: 'postgresql://h/d', ...tls }).kafka))).toBe('alice');
    });

    test('PostgreSQL', async () => {
      const { ca, bundle } = named();
      const tls = { DATABASE_TLS_CA: ca, DATABASE_TLS_CERTIFICATE: bundle, DATABASE_TLS_PRIVATE_KEY: bundle };
      expect(await subjectOf(ofDatabase(inUse({ DATABASE_URL: 'postgresql://h/d', ...tls })))).toBe('alice');
    });
  },
);

test('files with text around their blocks are what TLS takes where the URL of the database names them', async () => {
  const folder = folderWith({ 'ca.pem': texts.ca, 'all.pem': texts.bundle });
  const all = join(folder, 'all.pem');
  const query = new URLSearchParams({ sslrootcert: join(folder, 'ca.pem'), sslcert: all, sslkey: all });
  expect(await subjectOf(ofDatabase(inUse({ DATABASE_URL: `postgresql://h/d?${query}` })))).toBe('alice');
});
