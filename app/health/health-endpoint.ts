import { HEALTH_GROUP } from '../../contract/actuator.ts';
import type { Settings } from '../../settings/settings.ts';
import {
  aggregateStatus,
  DEFAULT_STATUS_RULES,
  type Health,
  type HealthComponent,
  httpStatusOf,
  type Status,
  type StatusRules,
  statusRules,
} from './health.ts';

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

/** A health as it is answered: of the root, of a group or of a component. */
interface HealthReport extends Health {
  /** Names of the groups, sorted; of the root alone. */
  readonly groups?: readonly string[];
  /** Every component by its name, sorted; where they are shown. */
  readonly components?: Readonly<Record<string, Health>>;
}

/** A report and the HTTP status of its answer. */
export interface HealthAnswer {
  readonly httpStatus: number;
  readonly report: HealthReport;
}

/** What the report is made of. */
export interface HealthEndpointOptions {
  readonly components: readonly HealthComponent[];
  readonly root: HealthGroup;
  /** The groups by their names, in the order in which they are listed. */
  readonly groups: ReadonlyMap<string, HealthGroup>;
  /** Components that the root shows, but that do not count for its status. */
  readonly outsideRoot: readonly string[];
}

/** Longest time, in milliseconds, that an answer waits for the first result of a component that it needs. */
const FIRST_RESULT_TIMEOUT_MS = 1_000;

const NOT_CHECKED_YET: Health = { status: 'OUT_OF_SERVICE', details: { error: 'not checked yet' } };

/**
 * Answers for the root, a group or a component with the last results. It only waits, at most
 * {@link FIRST_RESULT_TIMEOUT_MS}, for first results; a component without one after that time is OUT_OF_SERVICE.
 */
export class HealthEndpoint {
  readonly #components: readonly HealthComponent[];
  readonly #root: HealthGroup;
  readonly #groups: ReadonlyMap<string, HealthGroup>;
  readonly #outsideRoot: ReadonlySet<string>;

  constructor({ components, root, groups, outsideRoot }: HealthEndpointOptions) {
    this.#components = components.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#root = root;
    this.#groups = groups;
    this.#outsideRoot = new Set(outsideRoot);
  }

  /** Whether the root shows its components with their details to who may see more than its status. */
  get showsDetails(): boolean {
    const { components, details } = this.#root.shows;
    return components && details;
  }

  /** Status of the root. */
  async status(): Promise<Status> {
    return (await this.find([], false)).report.status;
  }

  /** Status of every component by its name, without waiting: one that was not checked yet is OUT_OF_SERVICE. */
  componentStatuses(): ReadonlyMap<string, Status> {
    return new Map(this.#components.map((component) => [component.name, currentOf(component).status]));
  }

  /** The root. */
  find(path: readonly [], seesMore: boolean): Promise<HealthAnswer>;
  /**
   * The health of a path: the empty one is the root, a name is a group or else a component, a group and a name are that
   * member of the group.
   *
   * @param seesMore whether more than statuses may be shown, as far as the settings show it.
   * @returns `undefined` when there is no such path, or when its component is not shown.
   */
  find(path: readonly string[], seesMore: boolean): Promise<HealthAnswer | undefined>;
  async find(path: readonly string[], seesMore: boolean): Promise<HealthAnswer | undefined> {
    const [first, ...rest] = path;
    if (first === undefined) {
      const { report, httpStatus } = await this.#aggregate(this.#root, seesMore, this.#outsideRoot);
      const { status, ...more } = report;
      const groups = [...this.#groups.keys()];
      return { httpStatus, report: { status, ...(groups.length > 0 && { groups }), ...more } };
    }
    const group = this.#groups.get(first);
    if (group === undefined) {
      return this.#member(this.#root, path, seesMore);
    }
    return rest.length === 0 ? this.#aggregate(group, seesMore) : this.#member(group, rest, seesMore);
  }

  async #aggregate(
    { isMember, shows, rules }: HealthGroup,
    seesMore: boolean,
    ignored: ReadonlySet<string> = new Set(),
  ): Promise<HealthAnswer> {
    const members = this.#components.filter(({ name }) => isMember(name));
    await untilKnown(members);
    const healths = members.map((member) => [member.name, currentOf(member)] as const);
    const counting = healths.filter(([name]) => !ignored.has(name));
    const status = aggregateStatus(
      counting.map(([, health]) => health.status),
      rules,
    );
    const shown = healths.map(([name, health]) => [name, shows.details ? health : { status: health.status }]);
    const components = seesMore && shows.components && shown.length > 0 ? Object.fromEntries(shown) : undefined;
    return { httpStatus: httpStatusOf(status, rules), report: { status, ...(components && { components }) } };
  }

  async #member(
    { isMember, shows, rules }: HealthGroup,
    [name, ...deeper]: readonly string[],
    seesMore: boolean,
  ): Promise<HealthAnswer | undefined> {
    const component = this.#components.find((candidate) => candidate.name === name && isMember(name));
    if (component === undefined || deeper.length > 0 || !seesMore || !shows.components) {
      return undefined;
    }
    await untilKnown([component]);
    const health = currentOf(component);
    const report = shows.details ? health : { status: health.status };
    return { httpStatus: httpStatusOf(health.status, rules), report };
  }
}

const currentOf = (component: HealthComponent): Health => component.current() ?? NOT_CHECKED_YET;

async function untilKnown(components: readonly HealthComponent[]): Promise<void> {
  const unknown = components.filter((component) => component.current() === undefined);
  if (unknown.length === 0) {
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FIRST_RESULT_TIMEOUT_MS);
  });
  await Promise.race([Promise.all(unknown.map(({ known }) => known)), patience]);
  clearTimeout(timer);
}
