import { REPOSITORY_URL } from '../../../contract/product-version.ts';
import { explainedText } from '../../logging/error-text.ts';
import { MOST_ROWS, type PageFacts, type Wait } from './facts.ts';
import { countOfText, durationText, html, type Markup, sinceText } from './markup.ts';
import { awaiting, lastErrorOf, leaderless, missingSchemas, stalled, unreadableBatches } from './waiting-partitions.ts';
import { waitingLetters, waitingText } from './written-tables.ts';

/** Finds what waits for one reason. */
type Finder = (facts: PageFacts) => readonly Wait[];

/** What is found, the worst first: a new reason to wait is one more of these. */
const FINDERS: readonly Finder[] = [
  ended,
  awayDatabase,
  awayKafka,
  notRunning,
  unjoinedTopics,
  outOfGroup,
  topicsGone,
  waitingTopics,
  missingSchemas,
  unreadableBatches,
  leaderless,
  stalled,
  awaiting,
  otherComponents,
  letters,
];

/** What waits, and what mends it. */
export function waitsSection(facts: PageFacts): Markup {
  const waits = FINDERS.flatMap((find) => find(facts));
  const items = waits.slice(0, MOST_ROWS).map((wait) => html`<li>${waitText(wait, facts.now)}</li>`);
  const rest = waits.length - items.length;
  const more = rest > 0 ? html`<p>And ${countOfText(rest, 'other')}, in the health.</p>` : null;
  const body = waits.length === 0 ? html`<p>Nothing that this process knows of.</p>` : html`<ul>${items}</ul>${more}`;
  return html`<section class="${waits.length === 0 ? 'quiet' : 'waits'}"><h2>What waits</h2>${body}</section>`;
}

function waitText({ what, since, why, mend, page }: Wait, now: Date): Markup {
  const begin = since ? html` <small>${sinceText(since, now)}</small>` : null;
  const reason = why === undefined ? null : html`<p><code>${why}</code></p>`;
  const address = `${REPOSITORY_URL}/blob/main/docs/${page}`;
  return html`<p><b>${what}</b>${begin}</p>${reason}<p>${mend} <a href="${address}" rel="noreferrer">More: ${page}</a></p>`;
}

const errorOf = ({ components }: PageFacts, name: string): { readonly why?: string } => {
  const error = components[name]?.details?.['error'];
  return typeof error === 'string' ? { why: error } : {};
};

const isDown = ({ components }: PageFacts, name: string): boolean => components[name]?.status === 'DOWN';

function ended(facts: PageFacts): readonly Wait[] {
  const { state, stateSince = null } = facts.report;
  if (state === 'failed') {
    return [
      {
        what: 'The consumer ended by an error, and the process is about to exit',
        since: stateSince,
        ...lastErrorOf(facts),
        mend: 'The last line of the log has the code and the first step.',
        page: 'messages.md',
      },
    ];
  }
  const mend = 'Nothing: another process takes the partitions over, or this one does when it starts again.';
  return state === 'draining' || state === 'stopped'
    ? [{ what: 'The process is ending', since: stateSince, mend, page: 'operate.md#shutdown' }]
    : [];
}

function awayDatabase(facts: PageFacts): readonly Wait[] {
  const { state, stateSince = null } = facts.report;
  const isPaused = state === 'paused';
  return isPaused || isDown(facts, 'db')
    ? [
        {
          what: 'Every record waits for PostgreSQL',
          since: isPaused ? stateSince : null,
          ...lastErrorOf(facts),
          ...errorOf(facts, 'db'),
          mend: 'Bring PostgreSQL back, or mend what the error names: the consumer goes on by itself, and nothing is lost.',
          page: 'runbooks/DatabaseConnectionFailures.md',
        },
      ]
    : [];
}

function awayKafka(facts: PageFacts): readonly Wait[] {
  return isDown(facts, 'kafka')
    ? [
        {
          what: 'New records wait in Kafka, which does not answer',
          ...errorOf(facts, 'kafka'),
          mend: 'Bring the brokers back, or mend what the error names: the consumer goes on by itself.',
          page: 'runbooks/KafkaUnreachable.md',
        },
      ]
    : [];
}

/** How long joining the group and reading the positions may take before a person wants to know. */
const JOINS_WITHIN_MS = 10_000;

function notRunning(facts: PageFacts): readonly Wait[] {
  const { state, stateSince } = facts.report;
  const isSlow = stateSince !== undefined && facts.now.getTime() - stateSince.getTime() > JOINS_WITHIN_MS;
  if (!isSlow || (state !== 'starting' && state !== 'assigning') || isDown(facts, 'db') || isDown(facts, 'kafka')) {
    return [];
  }
  const joining = 'The process has not joined its group yet';
  const assigning = 'The process waits for partitions of its group, or for their positions';
  return [
    {
      what: state === 'starting' ? joining : assigning,
      since: stateSince,
      ...lastErrorOf(facts),
      mend: "Look at the log, and at the broker that coordinates the group. The group waits for other members' answers, too.",
      page: 'runbooks/HealthCheckFailing.md',
    },
  ];
}

/** While Kafka answers for each topic within seconds, the start is under way. */
const ANSWERED_WITHIN_MS = 5_000;

function unjoinedTopics(facts: PageFacts): readonly Wait[] {
  const silent = isDown(facts, 'kafka')
    ? []
    : [...(facts.report.unjoined ?? [])].filter(([, ms]) => ms > ANSWERED_WITHIN_MS);
  return silent.map(([topic, ms]) => ({
    what: `The start waits for the topic ${topic}: asked in vain for ${durationText(ms)}`,
    ...lastErrorOf(facts),
    mend: `Create the topic, correct its name, or allow the consumer's user Read and Describe on it. The others start with it.`,
    page: 'runbooks/KafkaUnreachable.md',
  }));
}

function outOfGroup({ report: { outOfGroupSince } }: PageFacts): readonly Wait[] {
  return outOfGroupSince === undefined
    ? []
    : [
        {
          what: "The process waits for its group's coordinator",
          since: outOfGroupSince,
          mend: 'Look at that broker and at the log; a restart joins anew.',
          page: 'runbooks/HealthCheckFailing.md',
        },
      ];
}

const TOPIC_GONE_MEND =
  'Create the topic again, or take it out of the settings. The other topics go on. ' +
  'For a topic that was created again: stream-consumer offsets accept-topic, or begin-again.';

function topicsGone({ report: { topics = [] } }: PageFacts): readonly Wait[] {
  return topics
    .filter(({ isGone }) => isGone)
    .map(({ topic }) => ({
      what: `Kafka does not have the topic ${topic} any more`,
      mend: TOPIC_GONE_MEND,
      page: 'runbooks/TopicGone.md',
    }));
}

const TOPIC_WAITS_MEND =
  'Mend what the message names. The topic is looked at again every 10 s, and goes on where it was.';

/** How long Kafka keeps what is unread, where that is known. */
function keptText(until: Date, now: Date): string {
  const left = until.getTime() - now.getTime();
  return left > 0
    ? ` Kafka keeps each unread record for another ${durationText(left)}, by retention.ms.`
    : ' By retention.ms, Kafka may delete unread records now: raise it.';
}

/** Topics that only a template takes, and that cannot be written for now; not those that nobody wants. */
function waitingTopics({ report: { waiting = [] }, now }: PageFacts): readonly Wait[] {
  return waiting
    .filter(({ isIgnored }) => !isIgnored)
    .map(({ topic, code, message, since, keptUntil }) => ({
      what: `The topic ${topic} waits alone: ${code}`,
      since,
      why: explainedText(message),
      mend: `${TOPIC_WAITS_MEND}${keptUntil ? keptText(keptUntil, now) : ''}`,
      page: 'runbooks/TopicWaits.md',
    }));
}

/** Components that other entries are about. */
const EXPLAINED = ['db', 'kafka', 'consumer', 'schemaRegistry', 'livenessState', 'readinessState'];

function otherComponents(facts: PageFacts): readonly Wait[] {
  return Object.keys(facts.components)
    .filter((name) => !EXPLAINED.includes(name) && isDown(facts, name))
    .map((name) => ({
      what: `The health is DOWN because of ${name}`,
      ...errorOf(facts, name),
      mend: 'Records are written as ever.',
      page: 'runbooks/HealthCheckFailing.md',
    }));
}

function letters(facts: PageFacts): readonly Wait[] {
  const waiting = waitingLetters(facts);
  return waiting === undefined || waiting.count === 0
    ? []
    : [
        {
          what: `Dead letters of the group wait for a person: ${waitingText(waiting.count, waiting.oldestMs)}`,
          mend: 'stream-consumer dead-letters list shows them; replay moves those that fit now, and discard gives one up.',
          page: 'dead-letters.md',
        },
      ];
}
