import { AwsIdentity } from './aws-identity.ts';
import { rdsToken } from './signature-v4.ts';

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
