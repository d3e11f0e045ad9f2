import { pathOf } from './additional-health-paths.ts';
import type { Rule } from './check.ts';
import { HEALTH_COMPONENTS, PROBE_COMPONENTS } from './health-components.ts';
import type { Problem } from './problem.ts';
import type { Settings } from './settings.ts';
import { shownKey } from './shown-value.ts';

const GROUPS = 'management.endpoint.health.group';
const PROBES = 'management.endpoint.health.probes.enabled';

/** A group that waits for a component that nobody has would be wrong for ever. */
const membersExist: Rule<Settings> = {
  reads: [GROUPS, PROBES],
  find: ({ management }) => {
    const { group, probes } = management.endpoint.health;
    const missing: readonly string[] = probes.enabled ? [] : PROBE_COMPONENTS;
    const known = HEALTH_COMPONENTS.filter((name) => !missing.includes(name));
    return Object.entries(group).flatMap(([name, { include, exclude }]) =>
      Object.entries({ include, exclude }).flatMap(([list, members]) =>
        members.flatMap((given, index): Problem[] =>
          missing.includes(given)
            ? [
                {
                  path: `${GROUPS}.${name}.${list}[${index}]`,
                  message: `is a component that is not there, because ${PROBES} is false`,
                  given,
                  allowed: `one of ${known.join(', ')}, *`,
                },
              ]
            : [],
        ),
      ),
    );
  },
};

/** Two groups cannot answer at one path. */
const additionalPathsDiffer: Rule<Settings> = {
  reads: [GROUPS],
  find: ({ management }) => {
    const seen = new Map<string, string>();
    return Object.entries(management.endpoint.health.group).flatMap(([name, group]): Problem[] => {
      const given = group['additional-path'];
      const path = given === undefined ? undefined : pathOf(given);
      const other = path === undefined ? undefined : seen.get(path);
      seen.set(path ?? '', name);
      return other === undefined
        ? []
        : [
            {
              path: `${GROUPS}.${name}.additional-path`,
              message: `is already the path of the group ${shownKey(other)}`,
              given,
              allowed: 'a path of its own',
            },
          ];
    });
  },
};

/** What must fit together in the health groups that a user configures. */
export const HEALTH_GROUP_RULES: readonly Rule<Settings>[] = [membersExist, additionalPathsDiffer];
