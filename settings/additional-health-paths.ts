import { HEALTH_GROUP } from '../contract/actuator.ts';
import type { Settings } from './settings.ts';

/** A path beside the base path that answers for a health group. */
export interface AdditionalHealthPath {
  readonly path: string;
  readonly group: string;
}

/** The path behind the `server:` or `management:` of a group's `additional-path`. */
export const pathOf = (additionalPath: string): string => additionalPath.slice(additionalPath.indexOf(':') + 1);

/** Every path that answers for a health group beside the one below `/actuator/health`; there are none by default. */
export function additionalHealthPaths({ management }: Pick<Settings, 'management'>): readonly AdditionalHealthPath[] {
  const { group, probes } = management.endpoint.health;
  const configured = Object.entries(group).flatMap(([name, { 'additional-path': additionalPath }]) =>
    additionalPath === undefined ? [] : [{ path: pathOf(additionalPath), group: name }],
  );
  const ofProbes =
    probes.enabled && probes['add-additional-paths']
      ? [
          { path: '/livez', group: HEALTH_GROUP.liveness },
          { path: '/readyz', group: HEALTH_GROUP.readiness },
        ]
      : [];
  // As in Spring Boot, a path of the group's own stands in the place of the probe's.
  return [...configured, ...ofProbes.filter(({ group: name }) => !configured.some((own) => own.group === name))];
}
