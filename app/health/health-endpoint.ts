import type { Health } from './health.ts';
import type { HealthComponent } from './health-component.ts';
import { aggregateStatus, type Status } from './status.ts';

/** The whole report. */
export interface RootHealth {
  readonly status: Status;
  /** Names of the groups, sorted. */
  readonly groups: readonly string[];
  /** Every component by its name, sorted. */
  readonly components: Readonly<Record<string, Health>>;
}

/** What the report is made of. */
export interface HealthEndpointOptions {
  readonly components: readonly HealthComponent[];
  /** Names of a group's components, by the group's name. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** Components that the report shows, but that do not count for its status. */
  readonly outsideRoot: readonly string[];
}

/** Longest time, in milliseconds, that an answer waits for the first result of a component that it needs. */
export const FIRST_RESULT_TIMEOUT_MS = 1_000;

const NOT_CHECKED_YET: Health = { status: 'OUT_OF_SERVICE', details: { error: 'not checked yet' } };

/**
 * Answers for the whole, a group or a component out of what is known now. It waits for nobody but, at most
 * {@link FIRST_RESULT_TIMEOUT_MS}, for results that never came yet; what is still missing then is OUT_OF_SERVICE.
 */
export class HealthEndpoint {
  readonly #components: readonly HealthComponent[];
  readonly #groups: ReadonlyMap<string, readonly HealthComponent[]>;
  readonly #outsideRoot: ReadonlySet<string>;

  constructor({ components, groups, outsideRoot }: HealthEndpointOptions) {
    this.#components = components.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#groups = new Map(
      Object.keys(groups)
        .sort()
        .map((group) => [group, components.filter(({ name }) => groups[group]?.includes(name))]),
    );
    this.#outsideRoot = new Set(outsideRoot);
  }

  /** The whole report. */
  async root(): Promise<RootHealth> {
    await untilKnown(this.#components);
    const components = this.#components.map((component) => ({ name: component.name, health: currentOf(component) }));
    const counting = components.filter(({ name }) => !this.#outsideRoot.has(name));
    return {
      status: aggregateStatus(counting.map(({ health }) => health.status)),
      groups: [...this.#groups.keys()],
      components: Object.fromEntries(components.map(({ name, health }) => [name, health])),
    };
  }

  /** Status of a group; `undefined` when there is none of that name. */
  async group(name: string): Promise<Status | undefined> {
    const components = this.#groups.get(name);
    if (components === undefined) {
      return undefined;
    }
    await untilKnown(components);
    return aggregateStatus(components.map((component) => currentOf(component).status));
  }

  /** Health of one component; `undefined` when there is none of that name. */
  async component(name: string): Promise<Health | undefined> {
    const component = this.#components.find((candidate) => candidate.name === name);
    if (component === undefined) {
      return undefined;
    }
    await untilKnown([component]);
    return currentOf(component);
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
