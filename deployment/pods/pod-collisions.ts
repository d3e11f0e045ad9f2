import { type EndpointSettings, type ManagementEndpoint, managementEndpoint } from '../../contract/actuator.ts';
import { CONTAINER_NAME, CONTAINER_PATH, VOLUME } from '../../contract/container.ts';
import type { Rule } from '../../settings/schema/check.ts';
import { isSection, type Section } from '../../settings/schema/document.ts';
import { type Problem, problemIf } from '../../settings/schema/problem.ts';
import { ENDPOINT_SETTINGS } from '../sections/endpoint.ts';
import { initContainersOf, POD_PARTS, type PodPart, type PodParts, typeProblems } from './pod-parts.ts';
import { containerSecurityProblems, volumeSecurityProblems } from './pod-security.ts';

/** A part of the Pods with its place in consumer.yaml. */
interface Placed {
  readonly at: string;
  readonly part: Section;
}

const placed = (at: string, parts: readonly Section[]): Placed[] =>
  parts.map((part, index) => ({ at: `${at}[${index}]`, part }));

const nameOf = ({ part }: Placed): string => String(part['name']);

const OUR_VOLUMES: readonly string[] = Object.values(VOLUME);

/** What names twice, or as the manifests do. @param ours names that the manifests give */
function nameProblems(items: readonly Placed[], ours: readonly string[], what: string): Problem[] {
  const names = items.map(nameOf);
  return items.flatMap((item, index): readonly Problem[] => {
    const name = nameOf(item);
    const isOurs = ours.includes(name);
    return problemIf(isOurs || names.indexOf(name) < index, {
      path: `${item.at}.name`,
      message: isOurs ? `is the name of a ${what} of the manifests` : `is the name of two ${what}s`,
      given: name,
      allowed: `a name that no other has; taken: ${ours.join(', ')}`,
    });
  });
}

const withoutEnd = (path: string): string => path.replace(/\/+$/, '');

const isWithin = (path: string, folder: string): boolean => `${path}/`.startsWith(`${folder}/`);

const { configurationFile: _file, temporary: TEMPORARY, ...READ_ONLY } = CONTAINER_PATH;

const TAKEN = [...Object.values(READ_ONLY), TEMPORARY];

/** Below /tmp there is room; all other folders of ours cannot be written to, so nothing can be mounted in them. */
const collides = (path: string, folder: string): boolean =>
  isWithin(folder, path) || (folder !== TEMPORARY && isWithin(path, folder));

function mountProblems({ at, part }: Placed, before: readonly Placed[]): readonly Problem[] {
  const path = withoutEnd(String(part['mountPath']));
  const taken = TAKEN.find((folder) => collides(path, folder));
  const isTwice = before.some(({ part: other }) => withoutEnd(String(other['mountPath'])) === path);
  const isWrong = !String(part['mountPath']).startsWith('/') || path.includes(':');
  return [
    ...problemIf(taken !== undefined, {
      path: `${at}.mountPath`,
      message: `would hide ${taken} or be mounted in it, which the manifests or the image have there`,
      given: part['mountPath'],
      allowed: `a folder apart from ${TAKEN.join(', ')}; one below ${TEMPORARY} is possible`,
    }),
    ...problemIf(isTwice, {
      path: `${at}.mountPath`,
      message: 'is the place of two volumes',
      given: part['mountPath'],
      allowed: 'another folder for each volume',
    }),
    ...problemIf(isWrong, {
      path: `${at}.mountPath`,
      message: 'is no folder of a container',
      given: part['mountPath'],
      allowed: 'a path that begins with a slash and has no colon',
    }),
  ];
}

function volumeIsThere({ at, part }: Placed, volumes: readonly string[]): readonly Problem[] {
  return problemIf(!volumes.includes(nameOf({ at, part })), {
    path: `${at}.name`,
    message: 'is the name of no volume',
    given: part['name'],
    allowed: volumes.length === 0 ? 'a volume in pods.volumes' : `one of ${volumes.join(', ')}`,
  });
}

function sourceProblems({ at, part }: Placed): readonly Problem[] {
  const sources = ['configMapRef', 'secretRef'].filter((key) => isSection(part[key]) && part[key]['name']);
  return problemIf(sources.length !== 1, {
    path: at,
    message: `names ${sources.length === 0 ? 'nothing' : 'two things'}`,
    allowed: 'secretRef.name or configMapRef.name, an entry for each',
  });
}

function portProblems({ at, part }: Placed, { port, portName }: ManagementEndpoint): Problem[] {
  const ports = Array.isArray(part['ports']) ? (part['ports'] as Section[]) : [];
  return ports.flatMap((each, index): readonly Problem[] =>
    problemIf(each['containerPort'] === port || each['name'] === portName, {
      path: `${at}.ports[${index}]`,
      message: `is the consumer's own port ${port}, ${portName}: all containers of a Pod share one address`,
      allowed: 'another number and another name, or another application.server.port',
    }),
  );
}

/** A container as the user placed it, and as it is rendered. */
interface PlacedContainer extends Placed {
  readonly rendered: Section;
}

function containers(pods: PodParts): PlacedContainer[] {
  const rendered = initContainersOf(pods);
  return [...placed('pods.sidecars', pods.sidecars), ...placed('pods.initContainers', pods.initContainers)].map(
    (each, index) => ({ ...each, rendered: rendered[index] ?? each.part }),
  );
}

function containerProblems({ at, part, rendered }: PlacedContainer, volumes: readonly string[]): Problem[] {
  const mounts = Array.isArray(part['volumeMounts']) ? (part['volumeMounts'] as Section[]) : [];
  const isSidecar = at.startsWith('pods.sidecars');
  return [
    ...problemIf(part['image'] === undefined, {
      path: `${at}.image`,
      message: 'is missing',
      allowed: 'the image that the container runs',
    }),
    ...problemIf(isSidecar && (part['restartPolicy'] ?? 'Always') !== 'Always', {
      path: `${at}.restartPolicy`,
      message: 'would make an init container of a sidecar',
      given: part['restartPolicy'],
      allowed: 'nothing, or Always; pods.initContainers has those that end',
    }),
    ...containerSecurityProblems(rendered, at),
    ...placed(`${at}.volumeMounts`, mounts).flatMap((mount) => volumeIsThere(mount, volumes)),
  ];
}

/** Lists of a container in which the API server takes each key once, and what its key is. */
const KEYED: readonly (readonly [list: string, keys: readonly string[]])[] = [
  ['env', ['name']],
  ['ports', ['containerPort', 'protocol']],
  ['ports', ['name']],
  ['volumeMounts', ['mountPath']],
  ['volumeDevices', ['devicePath']],
];

const KEY_DEFAULTS: Section = { protocol: 'TCP' };

/** Items of a list that have the keys of one before; one without any of them has none. */
function doubledItems(items: readonly Section[], at: string, keys: readonly string[]): Problem[] {
  const found = items.map((item) => keys.map((key) => item[key] ?? KEY_DEFAULTS[key]));
  const texts = found.map((values) => JSON.stringify(values));
  return found.flatMap((values, index): readonly Problem[] =>
    problemIf(!values.includes(undefined) && texts.indexOf(texts[index] ?? '') < index, {
      path: `${at}[${index}]`,
      message: `has the same ${keys.join(' and ')} as the one at ${texts.indexOf(texts[index] ?? '')}`,
      given: values.join(' '),
      allowed: 'each once in the list',
    }),
  );
}

const doubledKeys = ({ at, part }: Placed): Problem[] =>
  KEYED.flatMap(([list, keys]) => {
    const items = part[list];
    return Array.isArray(items) ? doubledItems(items as Section[], `${at}.${list}`, keys) : [];
  });

interface PodPartsPart {
  readonly pods: PodParts;
  readonly application: unknown;
}

/** What of the parts does not fit to the manifests, or to each other. */
function partProblems(pods: PodParts): Problem[] {
  const volumes = placed('pods.volumes', pods.volumes);
  const mounts = placed('pods.volumeMounts', pods.volumeMounts);
  const names = volumes.map(nameOf);
  const all = containers(pods);
  return [
    ...nameProblems(volumes, OUR_VOLUMES, 'volume'),
    ...volumes.flatMap(({ at, part }) => volumeSecurityProblems(part, at)),
    ...mounts.flatMap((mount, index) => [
      ...volumeIsThere(mount, names),
      ...mountProblems(mount, mounts.slice(0, index)),
    ]),
    ...placed('pods.envFrom', pods.envFrom).flatMap(sourceProblems),
    ...nameProblems(all, Object.values(CONTAINER_NAME), 'container'),
    ...all.flatMap((each) => [...containerProblems(each, [...OUR_VOLUMES, ...names]), ...doubledKeys(each)]),
  ];
}

const partIsKnown = (key: PodPart): Rule<PodPartsPart> => ({
  reads: [`pods.${key}`],
  find: ({ pods }) => typeProblems(pods, key),
});

const places = (keys: readonly PodPart[]): string[] => keys.map((key) => `pods.${key}`);

const areKnown = (pods: PodParts, keys: readonly PodPart[]): boolean =>
  keys.every((key) => typeProblems(pods, key).length === 0);

const COLLIDING = ['volumes', 'volumeMounts', 'envFrom', 'initContainers', 'sidecars'] as const;

const partsFit: Rule<PodPartsPart> = {
  reads: places(COLLIDING),
  find: ({ pods }) => (areKnown(pods, COLLIDING) ? partProblems(pods) : []),
};

const CONTAINERS = ['initContainers', 'sidecars'] as const;

const portIsOurs: Rule<PodPartsPart> = {
  reads: [...places(CONTAINERS), ...ENDPOINT_SETTINGS],
  find: ({ pods, application }) => {
    // `application` with its defaults, of which the schema knows no type.
    const endpoint = managementEndpoint(application as EndpointSettings);
    return areKnown(pods, CONTAINERS) ? containers(pods).flatMap((each) => portProblems(each, endpoint)) : [];
  },
};

const CONSTRAINTS = 'topologySpreadConstraints';

const constraintsDiffer: Rule<PodPartsPart> = {
  reads: places([CONSTRAINTS]),
  find: ({ pods }) =>
    areKnown(pods, [CONSTRAINTS])
      ? doubledItems(pods[CONSTRAINTS] ?? [], `pods.${CONSTRAINTS}`, ['topologyKey', 'whenUnsatisfiable'])
      : [],
};

/** What a user adds to the Pods is valid, "restricted", and takes no name or folder of ours; all problems at once. */
export const POD_PART_RULES: readonly Rule<PodPartsPart>[] = [
  ...POD_PARTS.map(partIsKnown),
  partsFit,
  portIsOurs,
  constraintsDiffer,
];
