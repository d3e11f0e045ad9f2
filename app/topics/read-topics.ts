import { isDeepStrictEqual } from 'node:util';
import type { Problem } from '../../settings/schema/problem.ts';
import { type NamedTopics, settingsOfTopics, topicNames } from '../../settings/sections/tables/tables-of-topics.ts';
import { isRead, isTemplate, type TopicNames, takenBy } from '../../settings/sections/tables/topic-template.ts';
import { topicsOf } from '../../settings/sections/tables.ts';
import type { Settings } from '../../settings/settings.ts';

/** Reports of what changes. */
interface TopicReports {
  /** Gets topics that templates take and that are in use from now on. @default nothing is done */
  readonly onUsed?: (topics: readonly string[]) => void;
  /** Called after each list of the cluster, which may change {@link ReadTopics.waiting}. @default nothing is done */
  readonly onListed?: () => void;
}

/**
 * Which topics the process reads now: those that the settings name, and those that a template takes and that are in use
 * here. Whether a template takes a topic depends on the name alone, so all members agree on it.
 */
export class ReadTopics {
  /** Topics that the settings name. */
  readonly names: readonly string[];
  /** The texts of templates, each once. */
  readonly templates: readonly string[];
  /** What the settings say of topics, for a member that decides for others. */
  readonly choices: TopicNames;
  readonly #settings: Settings;
  readonly #reports: TopicReports;
  /** Whether a template takes a topic, of those asked about since the last list: each write asks. */
  readonly #templated = new Map<string, boolean>();
  #used: ReadonlySet<string> = new Set();
  #cluster: readonly string[] = [];
  #listed: readonly string[] = [];
  #unlisted: readonly string[] = [];
  #resolved: NamedTopics<Settings> | null = null;
  #all: readonly string[];

  constructor(settings: Settings, reports: TopicReports = {}) {
    this.#reports = reports;
    const texts = topicsOf(settings);
    this.#settings = settings;
    this.names = texts.filter((text) => !isTemplate(text));
    this.templates = texts.filter(isTemplate);
    this.choices = topicNames(settings);
    this.#all = this.names;
  }

  /** All topics of the cluster, as it was listed last; another list each time. */
  get cluster(): readonly string[] {
    return this.#cluster;
  }

  /** Topics of the cluster that templates take, as it was listed last; none before. */
  get listed(): readonly string[] {
    return this.#listed;
  }

  /** Names, and topics in use that templates take. */
  get all(): readonly string[] {
    return this.#all;
  }

  /** The settings, with a name for each of {@link all}, without templates and without those that wait. */
  get settings(): Settings {
    return this.#resolve().settings;
  }

  /** Topics of {@link all} that the settings do not say enough of, and why. */
  get waiting(): ReadonlyMap<string, Problem> {
    return this.#resolve().waiting;
  }

  /** Whether a template alone takes the topic, so that its trouble is not that of the others. */
  isTemplated(topic: string): boolean {
    if (this.templates.length === 0) {
      return false;
    }
    const known = this.#templated.get(topic) ?? (!this.names.includes(topic) && isRead(topic, this.choices));
    this.#templated.set(topic, known);
    return known;
  }

  /** Whether a name or a template of the settings takes the topic. */
  takes(topic: string): boolean {
    return this.names.includes(topic) || this.isTemplated(topic);
  }

  /** The texts of the templates that take the topic. */
  takenBy(topic: string): readonly string[] {
    const texts = this.choices.read.flatMap((choice) => takenBy(topic, choice, this.choices));
    return [...new Set(texts.flatMap(({ text, isTemplate: isByTemplate }) => (isByTemplate ? text : [])))];
  }

  /** Takes the names of all topics of the cluster. */
  list(topics: readonly string[]): void {
    this.#templated.clear();
    this.#cluster = topics;
    this.#listed = topics.filter((topic) => this.isTemplated(topic));
    this.#resolved = null;
    this.#reports.onListed?.();
  }

  /** The last list lacks these topics, which are not known to be deleted. Their tables are theirs all the same. */
  lack(topics: readonly string[]): void {
    if (!isDeepStrictEqual(topics, this.#unlisted)) {
      this.#unlisted = topics;
      this.#resolved = null;
      this.#reports.onListed?.();
    }
  }

  /** These topics are in use from now on. */
  use(topics: readonly string[]): void {
    const added = topics.filter((topic) => !this.#used.has(topic) && this.isTemplated(topic));
    if (added.length > 0) {
      this.#change([...this.#used, ...added]);
      this.#reports.onUsed?.(added);
    }
  }

  /** These topics are not in use any more. */
  drop(topics: readonly string[]): void {
    const kept = [...this.#used].filter((topic) => !topics.includes(topic));
    if (kept.length < this.#used.size) {
      this.#change(kept);
    }
  }

  #change(used: readonly string[]): void {
    this.#used = new Set(used.toSorted());
    this.#all = [...this.names, ...this.#used];
    this.#resolved = null;
  }

  #resolve(): NamedTopics<Settings> {
    this.#resolved ??= settingsOfTopics(this.#settings, this.#all, [...this.#listed, ...this.#unlisted]);
    return this.#resolved;
  }
}

/**
 * Topics of templates that have a conflict since the cluster was listed wait at once: one that is read already may get
 * no record for long, which would show it. What waits for something else is looked at again anyway.
 *
 * @param tables throws why the topic waits
 */
export function waitForConflicts(
  topics: Pick<ReadTopics, 'waiting' | 'isTemplated'>,
  tables: { of(topic: string): unknown },
  pipeline: { isWaiting(topic: string): boolean; onFatal(error: Error, topic: string): void },
): void {
  for (const topic of topics.waiting.keys()) {
    try {
      if (topics.isTemplated(topic) && !pipeline.isWaiting(topic)) {
        tables.of(topic);
      }
    } catch (error) {
      pipeline.onFatal(error instanceof Error ? error : new Error(String(error)), topic);
    }
  }
}
