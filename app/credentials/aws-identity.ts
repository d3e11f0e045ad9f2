import { PRODUCT_NAME } from '../../contract/identity.ts';
import { CredentialsRefused, CredentialsUnavailable, Renewed, requestCredentials } from './credentials.ts';
import { readText } from './named-file.ts';
import { type AwsKeys, rdsToken } from './signature-v4.ts';

/** Environment variables, by the names that AWS's SDKs read (AWS SDKs and Tools Reference Guide). */
export type AwsEnvironment = Readonly<Record<string, string | undefined>>;

/** Where a container may ask in the clear: this host, and the agents of ECS and of EKS Pod Identity. */
const CLEAR_HOSTS = ['localhost', '127.0.0.1', '[::1]', '169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'];

/**
 * Who the process is at AWS, from the first of these that the environment names:
 *
 * 1. `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`
 * 2. `AWS_ROLE_ARN` and `AWS_WEB_IDENTITY_TOKEN_FILE`, as EKS sets them for an annotated ServiceAccount, at STS
 * 3. `AWS_CONTAINER_CREDENTIALS_FULL_URI`, as EKS Pod Identity sets it
 *
 * Profiles and the instance's metadata are not asked: a Pod has none of the first, and its node's keys are not its own.
 */
export class AwsIdentity {
  readonly #environment: AwsEnvironment;
  readonly #region: string | undefined;
  readonly #renewed: Renewed<AwsKeys>;

  /**
   * @param region of the settings; left out: `AWS_REGION`, else `AWS_DEFAULT_REGION`
   * @param environment @default that of this process
   * @param now the time of day in milliseconds since 1970. @default that of this process
   */
  constructor(region: string | undefined, environment: AwsEnvironment = process.env, now: () => number = Date.now) {
    this.#environment = environment;
    this.#region = region ?? (environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || undefined);
    this.#renewed = new Renewed(() => this.#ask(), now);
  }

  /**
   * The region.
   *
   * @throws {CredentialsRefused} when nothing says it
   */
  get region(): string {
    if (this.#region === undefined) {
      throw new CredentialsRefused('the region at AWS is unknown: set AWS_REGION, or the region in the settings');
    }
    return this.#region;
  }

  /**
   * Keys that hold now, renewed before their end; the files are read anew each time.
   *
   * @throws {CredentialsRefused} when the environment names none, or they are not given
   * @throws {CredentialsUnavailable} when what gives them is away
   */
  keys(): Promise<AwsKeys> {
    return this.#renewed.current();
  }

  async #ask(): Promise<AwsKeys> {
    const environment = this.#environment;
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
    if (accessKeyId && secretAccessKey) {
      const sessionToken = environment['AWS_SESSION_TOKEN'] || undefined;
      return { accessKeyId, secretAccessKey, sessionToken, expiresAt: Number.POSITIVE_INFINITY };
    }
    const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = environment;
    if (role && tokenFile) {
      return this.#assumeRole(role, tokenFile);
    }
    const { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri } = environment;
    if (uri) {
      return this.#askContainer(uri);
    }
    throw new CredentialsRefused(
      'the environment names no identity at AWS: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the Pod a ' +
        'ServiceAccount with a role, for which EKS sets AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or ' +
        'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    );
  }

  /** STS's AssumeRoleWithWebIdentity, which is asked without a signature and answers in XML. */
  async #assumeRole(role: string, tokenFile: string): Promise<AwsKeys> {
    const token = tokenIn('AWS_WEB_IDENTITY_TOKEN_FILE', tokenFile);
    const body = new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: this.#environment['AWS_ROLE_SESSION_NAME'] || PRODUCT_NAME,
      WebIdentityToken: token,
    });
    const text = await requestCredentials({
      name: 'STS at',
      url: this.#stsEndpoint(),
      init: { method: 'POST', body },
      secrets: [token],
      reason: (xml) => `${element(xml, 'Code')}: ${element(xml, 'Message')}`,
    });
    return awsKeysOf('STS', {
      AccessKeyId: element(text, 'AccessKeyId'),
      SecretAccessKey: element(text, 'SecretAccessKey'),
      Token: element(text, 'SessionToken'),
      Expiration: element(text, 'Expiration'),
    });
  }

  #stsEndpoint(): URL {
    const { AWS_ENDPOINT_URL_STS: own, AWS_ENDPOINT_URL: general } = this.#environment;
    const suffix = own || general ? '' : `${this.region}.amazonaws.com${this.region.startsWith('cn-') ? '.cn' : ''}`;
    return urlOf('AWS_ENDPOINT_URL_STS', own || general || `https://sts.${suffix}/`);
  }

  /** The agent of EKS Pod Identity, or another that answers as ECS's does, in JSON. */
  async #askContainer(uri: string): Promise<AwsKeys> {
    const url = urlOf('AWS_CONTAINER_CREDENTIALS_FULL_URI', uri);
    if (url.protocol !== 'https:' && !CLEAR_HOSTS.includes(url.hostname)) {
      throw new CredentialsRefused(
        `AWS_CONTAINER_CREDENTIALS_FULL_URI names ${url.origin}; allowed: https, or http to ${CLEAR_HOSTS.join(', ')}`,
      );
    }
    const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: given } =
      this.#environment;
    const authorization = file ? tokenIn('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file) : given;
    const text = await requestCredentials({
      name: 'the credentials endpoint',
      url,
      init: { headers: authorization ? { authorization } : {} },
      secrets: authorization ? [authorization] : [],
    });
    return awsKeysOf('the credentials endpoint', awsJson(text));
  }
}

/** Base64 and times alone are taken out of the answers, which XML writes as they are. */
const element = (xml: string, name: string): string =>
  new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(xml)?.[1] ?? '';

function awsJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function urlOf(variable: string, text: string): URL {
  if (!URL.canParse(text)) {
    throw new CredentialsRefused(`${variable} is not a URL; allowed: https://host/path`);
  }
  return new URL(text);
}

function tokenIn(variable: string, file: string): string {
  try {
    return readText(file).trim();
  } catch (error) {
    throw new CredentialsUnavailable(`the file of ${variable} cannot be read: ${(error as Error).message}`);
  }
}

function awsKeysOf(server: string, answer: Readonly<Record<string, unknown>>): AwsKeys {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = answer;
  const expiresAt = Date.parse(String(Expiration));
  if (!(isFilled(AccessKeyId) && isFilled(SecretAccessKey) && isFilled(Token)) || Number.isNaN(expiresAt)) {
    throw new CredentialsUnavailable(
      `${server} answered without AccessKeyId, SecretAccessKey, session token and Expiration`,
    );
  }
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token, expiresAt };
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** One for each region: it holds keys until their end, for all connections. */
const identities = new Map<string | undefined, AwsIdentity>();

/**
 * A password of RDS's IAM authentication, made for one login.
 *
 * @param region left out: that of the environment
 * @param database host as RDS's own endpoint names it, port and user
 * @throws CredentialsRefused when the environment names no identity or region, or AWS gives no keys
 * @throws CredentialsUnavailable when what gives keys is away
 */
export async function rdsPassword(
  region: string | undefined,
  database: { readonly host: string; readonly port: number; readonly user: string },
): Promise<string> {
  const identity = identities.get(region) ?? new AwsIdentity(region);
  identities.set(region, identity);
  return rdsToken({ keys: await identity.keys(), region: identity.region }, database).value;
}
