import { HEALTH_GROUP } from '../../contract/actuator.ts';
import type { Settings } from '../../settings/settings.ts';
import { DEFAULT_STATUS_RULES, type StatusRules, statusRules } from './health.ts';

/** Components that are answered together, and how they are shown; the root is a group, too. */
export interface HealthGroup {
  readonly isMember: (component: string) => boolean;
  /** What an answer has beside the status. */
  readonly shows: { readonly components: boolean; readonly details: boolean };
  readonly rules: StatusRules;
}

/** The root, and the groups by their names in order. */
export interface HealthGroups {
  readonly root: HealthGroup;
  readonly groups: ReadonlyMap<string, HealthGroup>;
}

type HealthSettings = Pick<Settings['management'], 'endpoint' | 'security'>;
type Show = HealthSettings['endpoint']['health']['show-details'];

const PROBE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  [HEALTH_GROUP.liveness]: ['livenessState'],
  [HEALTH_GROUP.readiness]: ['readinessState', 'db', 'kafka', 'schemaRegistry', 'consumer'],
};

/** As Spring Boot's: a probe's group shows its status alone, whatever the settings say of the others. */
const probeGroup = (members: readonly string[]): HealthGroup => ({
  isMember: (component) => members.includes(component),
  shows: { components: false, details: false },
  rules: DEFAULT_STATUS_RULES,
});

const isListed = (list: readonly string[], component: string) => list.includes('*') || list.includes(component);

/**
 * The groups of the settings, and those of the probes that the settings do not replace. `when-authorized` shows where
 * the settings have a credential; a request without it gets no more than the status anyway.
 */
export function healthGroups({ endpoint: { health }, security }: HealthSettings): HealthGroups {
  const { token, username } = security;
  const hasCredential = token !== undefined || username !== undefined;
  const isShown = (show: Show) => show === 'always' || (show === 'when-authorized' && hasCredential);
  const shows = (own: { readonly 'show-details'?: Show; readonly 'show-components'?: Show }) => {
    const details = own['show-details'] ?? health['show-details'];
    const components = own['show-components'] ?? health['show-components'] ?? details;
    return { components: isShown(components), details: isShown(details) };
  };
  const rules = statusRules(health.status, DEFAULT_STATUS_RULES);
  const probes = Object.entries(health.probes.enabled ? PROBE_MEMBERS : {}).map(
    ([name, members]) => [name, probeGroup(members)] as const,
  );
  const configured = Object.entries(health.group).map(([name, group]): readonly [string, HealthGroup] => {
    const { include, exclude, status } = group;
    const isMember = (component: string) =>
      (include.length === 0 || isListed(include, component)) && !isListed(exclude, component);
    return [name, { isMember, shows: shows(group), rules: statusRules(status, rules) }];
  });
  const groups = new Map([...probes, ...configured].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { root: { isMember: () => true, shows: shows({}), rules }, groups };
}
