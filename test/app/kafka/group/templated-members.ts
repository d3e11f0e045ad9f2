import { ClassicMember } from '../../../../app/kafka/group/classic-member.ts';
import type { Assignment, GroupMemberListener } from '../../../../app/kafka/group/group-member.ts';
import { TemplateTopics } from '../../../../app/kafka/template-topics.ts';
import { partitionKey, type TopicPartition } from '../../../../app/records/record.ts';
import { ReadTopics } from '../../../../app/topics/read-topics.ts';
import { load } from '../../configuration/loading.ts';
import { SimulatedLink } from './simulated-link.ts';
import { type SimulatedProcess, SimulatedWorld } from './simulated-members.ts';

/** How often each process lists the cluster. */
export const REFRESH_MS = 30_000;

const BASE = load({});

const logger = { ...console, trace: () => undefined, debug: () => undefined, fatal: () => undefined };

/** A member that takes the topic `a` by its name, and others by a template. */
export class TemplatedProcess implements SimulatedProcess, GroupMemberListener {
  readonly isOfBefore = false;
  readonly link: SimulatedLink;
  readonly topics: ReadTopics;
  readonly events: string[] = [];
  readonly member: ClassicMember;
  readonly instanceId: string | null;
  owned: readonly TopicPartition[] = [];
  isKilled = false;
  isStopping = false;
  /** Topics of which a partition was taken away, in each assignment that did so. */
  readonly revoked: (readonly string[])[] = [];
  readonly #templates: TemplateTopics;
  readonly #ending = new AbortController();

  /** @param template `null`: a member of the version before */
  constructor(world: TemplatedWorld, instanceId: string, template: string | null) {
    this.instanceId = instanceId;
    this.link = new SimulatedLink(world);
    this.topics = new ReadTopics({
      ...BASE,
      kafka: { ...BASE.kafka, topics: ['a', ...(template === null ? [] : [template])] },
    });
    const lines = { ...logger, info: this.#log, warn: this.#log, error: this.#log };
    this.#templates = new TemplateTopics({
      topics: this.topics,
      admin: world.admin(this.link),
      store: {
        begunTemplates: async () => new Set(),
        beginTemplates: async () => undefined,
        storedTopics: async () => [],
      },
      ...{ groupId: 'group', startFrom: 'earliest', refreshMs: REFRESH_MS, clock: world.time, logger: lines },
      onUnlisted: () => undefined,
    });
    const options = { groupId: 'group', topics: () => this.topics.all, sessionTimeoutMs: 10_000, instanceId };
    const templates = template === null ? {} : { templates: this.topics };
    this.member = new ClassicMember(
      { ...options, ...templates },
      { coordinator: this.link, topics: world.topicsFor(this.link), clock: world.time, logger: lines },
    );
    void this.#run();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.member.handOver(3_000);
    this.owned = [];
    this.#ending.abort();
    await this.member.leave(3_000);
  }

  onJoining(): void {}

  async onAssigned({ owned, revoked }: Assignment): Promise<void> {
    this.owned = owned;
    this.#templates.assigned(owned);
    this.#templates.revoked(revoked, Promise.resolve());
    this.events.push(`assigned ${owned.map(partitionKey)}`);
    if (revoked.length > 0) {
      this.revoked.push([...new Set(revoked.map(({ topic }) => topic))]);
    }
  }

  onExpelled(): void {
    this.owned = [];
  }

  onAcknowledged(): void {}

  onHeartbeat(): void {}

  onTopics(unknown: readonly string[]): void {
    this.#templates.answered(unknown);
  }

  onTryingAgain(): void {}

  onFatal({ message }: Error): void {
    this.owned = [];
    this.events.push(`fatal: ${message}`);
  }

  async #run(): Promise<void> {
    await this.#templates.list().catch(() => undefined);
    void this.#templates.watch(this.#ending.signal);
    await this.member.join(this).catch(() => undefined);
  }

  readonly #log = (fields: object | string, message = ''): void => {
    this.events.push(`${message} ${JSON.stringify(fields)}`);
  };
}

/** A world in which topics come and go. */
export class TemplatedWorld extends SimulatedWorld {
  /** Topics that the list of a cluster leaves out, though they are there. */
  readonly unlisted = new Set<string>();

  constructor() {
    super();
    this.counts.delete('b');
  }

  /** @param template `null`: a member of the version before */
  startTemplated(instanceId: string, template: string | null = 't.{name}'): TemplatedProcess {
    const process = new TemplatedProcess(this, instanceId, template);
    this.processes.push(process);
    return process;
  }

  get templated(): readonly TemplatedProcess[] {
    return this.alive.flatMap((process) => (process instanceof TemplatedProcess ? process : []));
  }

  admin(link: SimulatedLink) {
    return {
      listTopics: async () => {
        if (link.isCut) {
          throw new Error('no broker answers');
        }
        return [...this.counts.keys()].filter((topic) => !this.unlisted.has(topic));
      },
      topicIds: async () => new Map<string, string>(),
      logRanges: async () => [],
      committedOffsets: async () => [],
      describeTopics: async () => [],
    };
  }
}
