import { aggregateStatus, type Health, type HealthComponent, httpStatusOf, type Status } from './health.ts';
import type { HealthGroup } from './health-group.ts';

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
