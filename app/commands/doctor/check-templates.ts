import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import type { NamedTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import { isTemplate } from '../../../settings/sections/tables/topic-template.ts';
import { tablesOf, topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { ReadTopics } from '../../topics/read-topics.ts';
import { askedTable } from '../command/asked-table.ts';
import { namedTopics, templatesOf } from '../command/with-named-topics.ts';
import { away, type Finding, findingOf, LATE, ok, type Subject, warning, within, wrong } from './finding.ts';

/** The settings with a name for each topic, and what is found of templates. */
interface ResolvedTemplates extends Pick<NamedTopics<Settings>, 'settings' | 'isTemplated'> {
  readonly findings: readonly Finding[];
  /** Of the table that was asked for, where the settings have no such table. */
  readonly problem?: Problem;
}

const templateSubject = (name: string): Subject => ({ area: 'Kafka', check: 'template', name });

/** Names are looked at whether or not the cluster can be listed. */
const withNamesAlone = (settings: Settings): Settings => ({
  ...settings,
  kafka: { ...settings.kafka, topics: settings.kafka.topics.filter((text) => !isTemplate(text)) },
  tables: settings.tables.flatMap(({ except: _, ...entry }) => {
    const topic = [entry.topic].flat().filter((text) => !isTemplate(text));
    return topic.length === 0 ? [] : [{ ...entry, topic }];
  }),
});

/** The topics that a finding is about, alone or by its table. */
function topicsOfFinding({ check, name }: Finding, settings: Settings): readonly string[] {
  return check === 'table'
    ? tablesOf(settings).flatMap(({ schema, table, topics }) => (`${schema}.${table}` === name ? topics : []))
    : check === 'topic' || check === 'tables of topic'
      ? [name]
      : [];
}

/**
 * What is wrong with a topic that only a template takes, or with its table, ends no consumer: the topic waits alone
 * (decision 42). So it is a warning, which keeps no Pod back.
 */
export function ofWaiting(
  finding: Finding,
  { settings, isTemplated }: Pick<ResolvedTemplates, 'settings' | 'isTemplated'>,
): Finding {
  const topics = finding.status === 'wrong' ? topicsOfFinding(finding, settings) : [];
  return isTemplated !== undefined && topics.length > 0 && topics.every(isTemplated)
    ? warning(finding, { ...finding, message: `${finding.message} (its records wait, and all others are read)` })
    : finding;
}

const MOST_NAMED = 5;

function templateFinding(template: string, topics: readonly string[]): Finding {
  const subject = templateSubject(template);
  if (topics.length === 0) {
    return warning(subject, {
      message: 'the cluster has no topic that it takes, or the login may describe none',
      mend: 'let the login describe the topics (docs/access.md), or correct the template; topics that come later are found',
    });
  }
  const more = topics.length > MOST_NAMED ? ` and ${topics.length - MOST_NAMED} more` : '';
  return ok(subject, `takes ${topics.length}: ${topics.slice(0, MOST_NAMED).join(', ')}${more}`);
}

/** What is about the table alone, where one was asked for. */
function limited(named: NamedTopics<Settings>, table: string | undefined): NamedTopics<Settings> | Problem {
  const asked = table === undefined ? { alone: named } : askedTable(named, table);
  return 'path' in asked ? asked : asked.alone;
}

/** Of templates whose topics cannot be listed nothing is known: a table of theirs is not called unknown. */
function unlisted(settings: Settings, table: string | undefined, findings: readonly Finding[]): ResolvedTemplates {
  const named = { settings: withNamesAlone(settings), waiting: new Map() };
  const found = limited(named, table);
  const nothing = { ...named.settings, kafka: { ...named.settings.kafka, topics: [] }, tables: [] };
  return { settings: 'path' in found ? nothing : found.settings, findings };
}

/**
 * Lists the cluster, and says of each template what it takes.
 *
 * @param table the only one that is looked at. @default all of them
 */
export async function resolveTemplates(settings: Settings, table?: string): Promise<ResolvedTemplates> {
  const templates = templatesOf(settings);
  try {
    const all = await within(namedTopics(settings));
    if (all === undefined) {
      return unlisted(
        settings,
        table,
        templates.map((template) => away(templateSubject(template), LATE)),
      );
    }
    const named = limited(all, table);
    if ('path' in named) {
      return { settings, findings: [], problem: named };
    }
    const read = new ReadTopics(settings);
    const topics = topicsOf(all.settings);
    const ofTemplate = (template: string) => topics.filter((topic) => read.takenBy(topic).includes(template));
    const waiting = [...named.waiting].map(([topic, problem]) => {
      const [message = ''] = describeProblem(problem).split('\n  allowed: ');
      return wrong({ area: 'Kafka', check: 'topic', name: topic }, { message, mend: problem.allowed });
    });
    return {
      ...named,
      findings: [...templates.map((template) => templateFinding(template, ofTemplate(template))), ...waiting],
    };
  } catch (error) {
    return unlisted(
      settings,
      table,
      templates.map((template) => findingOf(templateSubject(template), error)),
    );
  }
}
