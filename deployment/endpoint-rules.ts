import { type EndpointSettings, HEALTH_GROUP, managementEndpoint } from '../contract/actuator.ts';
import { type ActuatorEndpointId, isExposed } from '../contract/actuator-endpoints.ts';
import type { Rule } from '../settings/check.ts';
import { valueAt } from '../settings/document.ts';
import type { Problem } from '../settings/problem.ts';
import type { Settings } from '../settings/settings.ts';
import type { ConsumerFile } from './consumer-file.ts';

const WILDCARD_ADDRESSES: readonly unknown[] = ['0.0.0.0', '::'];

const EXPOSURE = 'management.endpoints.web.exposure';

/** What the manifests make others ask. */
const ASKED: Readonly<Partial<Record<ActuatorEndpointId, string>>> = {
  health: 'both probes and the health check of the image',
  prometheus: 'every scrape',
};

const problems = (isWrong: boolean, problem: Problem): Problem[] => (isWrong ? [problem] : []);

/** `application` with its defaults, of which the schema knows no type. */
const endpointOf = ({ application }: ConsumerFile) => managementEndpoint(application as unknown as EndpointSettings);

const portIsKnown: Rule<ConsumerFile> = {
  reads: ['application.server', 'application.management'],
  find: (file) => {
    const { port, settings } = endpointOf(file);
    return problems(port === 0, {
      path: `application.${settings.port}`,
      message: 'would be chosen when the Pod starts, so no probe could know it',
      given: port,
      allowed: 'a whole number from 1 to 65535',
    });
  },
};

const probesReachServer: Rule<ConsumerFile> = {
  reads: ['application.server', 'application.management'],
  find: (file) => {
    const { address, settings } = endpointOf(file);
    return problems(!WILDCARD_ADDRESSES.includes(address), {
      path: `application.${settings.address}`,
      message: "is out of reach for the probes, which ask at the Pod's address",
      given: address,
      allowed: `${WILDCARD_ADDRESSES.join(' or ')}`,
    });
  },
};

const certificateIsMounted: Rule<ConsumerFile> = {
  reads: ['application.server.ssl'],
  find: ({ application }) =>
    problems(valueAt(application, ['server', 'ssl']) !== undefined, {
      path: 'application.server.ssl',
      message: 'names files that nothing puts into the container',
      allowed:
        'nothing here; monitoring.tls.existingSecret names the Secret with the certificate, and the paths follow',
    }),
};

/** `application.management` with its defaults. */
const managementOf = ({ application }: ConsumerFile) => application['management'] as Settings['management'];

const askedEndpointsAnswer: Rule<ConsumerFile> = {
  reads: ['application.management'],
  find: (file) => {
    const { exposure } = managementOf(file).endpoints.web;
    return Object.entries(ASKED).flatMap(([id, whose]) =>
      problems(!isExposed(id as ActuatorEndpointId, exposure), {
        path: `application.${EXPOSURE}`,
        message: `leaves out ${id}, which ${whose} asks for`,
        given: exposure,
        allowed: `include with ${Object.keys(ASKED).join(' and ')} or *, and exclude without them`,
      }),
    );
  },
};

const probedGroupsExist: Rule<ConsumerFile> = {
  reads: ['application.management', 'probes'],
  find: (file) => {
    const { probes, group } = managementOf(file).endpoint.health;
    const missing = Object.values(HEALTH_GROUP).filter((name) => !probes.enabled && group[name] === undefined);
    return problems(file.probes.paths === 'groups' && missing.length > 0, {
      path: 'probes.paths',
      message: `asks for groups that application.management.endpoint.health.probes.enabled switches off: ${missing.join(', ')}`,
      given: file.probes.paths,
      allowed: 'root, or groups of these names under application.management.endpoint.health.group',
    });
  },
};

/** Whatever the settings say of the operational interface, those whom the manifests make ask it get an answer. */
export const ENDPOINT_RULES: readonly Rule<ConsumerFile>[] = [
  portIsKnown,
  probesReachServer,
  certificateIsMounted,
  askedEndpointsAnswer,
  probedGroupsExist,
];
