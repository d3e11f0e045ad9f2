import { isDeepStrictEqual } from 'node:util';
import type { SchemaRegistrySettings } from '../../../settings/sections/schema-registry.ts';
import { type TokenSource, tokenSource } from '../../credentials/bearer-token.ts';

type OauthSettings = NonNullable<SchemaRegistrySettings['oauth']>;

/** What a request proves its sender with. */
export interface RequestLogin {
  readonly headers: Readonly<Record<string, string>>;
  /** Texts of the headers that no message may hold. */
  readonly secrets: readonly string[];
  /** Lets go of what the registry refused, so that the next login is new. Left out: a new one would be the same. */
  readonly drop?: () => void;
}

const NO_LOGIN: RequestLogin = { headers: {}, secrets: [] };

/** The login at the registry: by a user, by a token, by OAuth, or none. */
export class RegistryLogin {
  #made: { readonly of: OauthSettings; readonly tokens: TokenSource } | undefined;

  /**
   * The login of this moment.
   *
   * @throws CredentialsRefused, CredentialsUnavailable when no token can be had
   */
  async current({ username, password, token, oauth }: SchemaRegistrySettings): Promise<RequestLogin> {
    if (username !== undefined && password !== undefined) {
      const basic = Buffer.from(`${username}:${password}`).toString('base64');
      return { headers: { authorization: `Basic ${basic}` }, secrets: [basic, password] };
    }
    if (token !== undefined) {
      return { headers: { authorization: `Bearer ${token}` }, secrets: [token] };
    }
    return oauth === undefined ? NO_LOGIN : this.#byOauth(oauth);
  }

  async #byOauth(oauth: OauthSettings): Promise<RequestLogin> {
    const tokens = this.#tokens(oauth);
    const token = await tokens.token();
    const { logicalCluster, identityPoolId } = oauth;
    return {
      headers: {
        authorization: `Bearer ${token.value}`,
        ...(logicalCluster !== undefined && { 'target-sr-cluster': logicalCluster }),
        ...(identityPoolId !== undefined && { 'Confluent-Identity-Pool-Id': identityPoolId }),
      },
      secrets: [token.value],
      drop: () => tokens.drop?.(token),
    };
  }

  /** Made anew when the settings change, so that no token of the old ones is left. */
  #tokens(oauth: OauthSettings): TokenSource {
    if (this.#made === undefined || !isDeepStrictEqual(this.#made.of, oauth)) {
      this.#made = { of: oauth, tokens: tokenSource('schemaRegistry.oauth', oauth) };
    }
    return this.#made.tokens;
  }
}
