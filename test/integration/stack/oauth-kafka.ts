import { freePort } from '../../../dev/run/free-port.ts';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { startPrivateKafka } from './private-servers.ts';
import { AUDIENCE, startTokenServer, type TokenServer } from './token-server.ts';

/** A broker that takes tokens. Its plain listener is for the test's own topics and records. */
export interface OauthKafka extends LocalKafka {
  /** `localhost:port` of the listener with OAUTHBEARER. */
  readonly secured: string;
  readonly tokens: TokenServer;
}

const MODULES = 'org.apache.kafka.common.security.oauthbearer';

/**
 * Starts a broker with a listener for OAUTHBEARER, and the server of its tokens.
 *
 * @param session milliseconds after which a client has to log in again. @default the life of its token
 */
export async function startOauthKafka(session?: number): Promise<OauthKafka> {
  const tokens = await startTokenServer();
  const port = await freePort();
  const prefix = 'listener.name.oauth';
  const kafka = await startPrivateKafka({
    listeners: { OAUTH: { protocol: 'SASL_PLAINTEXT', port } },
    properties: {
      [`${prefix}.sasl.enabled.mechanisms`]: 'OAUTHBEARER',
      [`${prefix}.oauthbearer.sasl.jaas.config`]: `${MODULES}.OAuthBearerLoginModule required;`,
      [`${prefix}.oauthbearer.sasl.server.callback.handler.class`]: `${MODULES}.OAuthBearerValidatorCallbackHandler`,
      ...(session === undefined ? {} : { [`${prefix}.oauthbearer.connections.max.reauth.ms`]: session }),
      'sasl.oauthbearer.jwks.endpoint.url': tokens.jwks,
      'sasl.oauthbearer.expected.audience': AUDIENCE,
      'sasl.oauthbearer.expected.issuer': tokens.issuer,
      'sasl.oauthbearer.clock.skew.seconds': 0,
    },
    jvm: [`-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${tokens.jwks}`],
  });
  // The getters of the broker are passed on, not their values of this moment.
  return Object.assign(Object.create(kafka) as LocalKafka, { secured: `localhost:${port}`, tokens });
}
