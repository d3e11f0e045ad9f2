import { type ActuatorEndpointId, HEALTH_GROUP, isExposed, managementEndpoint } from '../../contract/actuator.ts';
import type { Rule } from '../../settings/schema/check.ts';
import { valueAt } from '../../settings/schema/document.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import type { ApplicationSettings } from './application.ts';
import type { ProbeSettings } from './probes.ts';

interface ApplicationPart {
  readonly application: ApplicationSettings;
}

interface ProbedPart extends ApplicationPart {
  readonly probes: ProbeSettings;
}

const WILDCARD_ADDRESSES: readonly unknown[] = ['0.0.0.0', '::'];

const EXPOSURE = 'management.endpoints.web.exposure';

/** What the manifests make others ask. */
const ASKED: Readonly<Partial<Record<ActuatorEndpointId, string>>> = {
  health: 'both probes and the health check of the image',
  prometheus: 'every scrape',
};

/** What the endpoint is derived from. */
export const ENDPOINT_SETTINGS = [
  'application.server',
  'application.management.server',
  'application.management.endpoints.web.base-path',
  'application.management.security',
];

const portIsKnown: Rule<ApplicationPart> = {
  reads: ENDPOINT_SETTINGS,
  find: (file) => {
    const { port, settings } = managementEndpoint(file.application);
    return problemIf(port === 0, {
      path: `application.${settings.port}`,
      message: 'would be chosen when the Pod starts, so no probe could know it',
      given: port,
      allowed: 'a whole number from 1 to 65535',
    });
  },
};

const probesReachServer: Rule<ApplicationPart> = {
  reads: ENDPOINT_SETTINGS,
  find: (file) => {
    const { address, settings } = managementEndpoint(file.application);
    return problemIf(!WILDCARD_ADDRESSES.includes(address), {
      path: `application.${settings.address}`,
      message: "is out of reach for the probes, which ask at the Pod's address",
      given: address,
      allowed: `${WILDCARD_ADDRESSES.join(' or ')}`,
    });
  },
};

const certificateIsMounted: Rule<ApplicationPart> = {
  reads: ['application.server.ssl'],
  find: ({ application }) =>
    problemIf(valueAt(application, ['server', 'ssl']) !== undefined, {
      path: 'application.server.ssl',
      message: 'names files that nothing puts into the container',
      allowed:
        'nothing here; monitoring.tls.existingSecret names the Secret with the certificate, and the paths follow',
    }),
};

const instanceIdIsThePods: Rule<ApplicationPart> = {
  reads: ['application.kafka.groupInstanceId'],
  find: ({ application }) => {
    const given = valueAt(application, ['kafka', 'groupInstanceId']);
    return problemIf(given !== undefined, {
      path: 'application.kafka.groupInstanceId',
      message: 'names one process, and each Pod of the Deployment would have the name',
      given,
      allowed: 'nothing here; the manifests set it to the uid of each Pod',
    });
  },
};

const askedEndpointsAnswer: Rule<ApplicationPart> = {
  reads: [`application.${EXPOSURE}`],
  find: (file) => {
    const { exposure } = file.application.management.endpoints.web;
    return Object.entries(ASKED).flatMap(([id, whose]) =>
      problemIf(!isExposed(id as ActuatorEndpointId, exposure), {
        path: `application.${EXPOSURE}`,
        message: `leaves out ${id}, which ${whose} asks for`,
        given: exposure,
        allowed: `include with ${Object.keys(ASKED).join(' and ')} or *, and exclude without them`,
      }),
    );
  },
};

const probedGroupsExist: Rule<ProbedPart> = {
  reads: [
    'application.management.endpoint.health.probes',
    'application.management.endpoint.health.group',
    'probes.paths',
  ],
  find: (file) => {
    const { probes, group } = file.application.management.endpoint.health;
    const missing = Object.values(HEALTH_GROUP).filter((name) => !probes.enabled && group[name] === undefined);
    return problemIf(file.probes.paths === 'groups' && missing.length > 0, {
      path: 'probes.paths',
      message: `asks for groups that application.management.endpoint.health.probes.enabled switches off: ${missing.join(', ')}`,
      given: file.probes.paths,
      allowed: 'root, or groups of these names under application.management.endpoint.health.group',
    });
  },
};

/** Whatever the settings say of the operational interface, probes and scrapes of the manifests get an answer. */
export const ENDPOINT_RULES: readonly Rule<ProbedPart>[] = [
  portIsKnown,
  probesReachServer,
  certificateIsMounted,
  instanceIdIsThePods,
  askedEndpointsAnswer,
  probedGroupsExist,
];
