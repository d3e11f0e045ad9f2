import { hostname } from 'node:os';
import { managementEndpoint } from '../../contract/actuator.ts';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import type { Settings } from '../../settings/settings.ts';

/** What Spring Boot Admin is told of this process, in its own words. */
export interface AdminInstance {
  readonly name: string;
  readonly managementUrl: string;
  readonly healthUrl: string;
  readonly serviceUrl: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Where others reach this machine: the Pod's address where Kubernetes tells it, since no name leads to a Pod. */
function ownHost(podIp: string | undefined): string {
  const host = podIp || hostname();
  return host.includes(':') ? `[${host}]` : host;
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/**
 * @param port the port that is listened on, which settings cannot know where they say 0.
 * @param startup when this process began.
 * @param podIp the address of the Pod. @default the environment variable POD_IP, else the machine's name
 */
export function adminInstance(
  settings: Pick<Settings, 'server' | 'management' | 'spring'>,
  port: number,
  startup: Date,
  podIp = process.env['POD_IP'],
): AdminInstance {
  const { instance } = settings.spring.boot.admin.client;
  const { username, password } = settings.management.security;
  const { scheme, indexPath, healthPath } = managementEndpoint(settings);
  const base = withoutSlash(instance['service-base-url'] ?? `${scheme.toLowerCase()}://${ownHost(podIp)}:${port}`);
  const isSent = instance['send-credentials'] && username !== undefined && password !== undefined;
  return {
    name: instance.name ?? settings.management.metrics.tags['application'] ?? PRODUCT_NAME,
    managementUrl: instance['management-url'] ?? base + indexPath,
    healthUrl: instance['health-url'] ?? base + healthPath,
    serviceUrl: `${base}/`,
    metadata: {
      startup: startup.toISOString(),
      ...(isSent && { 'user.name': username, 'user.password': password }),
      ...instance.metadata,
    },
  };
}
