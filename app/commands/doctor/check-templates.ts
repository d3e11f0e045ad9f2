import { describeProblem } from '../../../settings/schema/problem.ts';
import { isTemplate } from '../../../settings/sections/tables/topic-template.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { ReadTopics } from '../../topics/read-topics.ts';
import { namedTopics, templatesOf } from '../command/with-named-topics.ts';
import { away, type Finding, findingOf, LATE, ok, type Subject, warning, within, wrong } from './finding.ts';

/** The settings with a name for each topic, and what is found of templates. */
interface ResolvedTemplates {
  readonly settings: Settings;
  readonly findings: readonly Finding[];
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

/** Lists the cluster, and says of each template what it takes. */
export async function resolveTemplates(settings: Settings): Promise<ResolvedTemplates> {
  const templates = templatesOf(settings);
  if (templates.length === 0) {
    return { settings, findings: [] };
  }
  try {
    const named = await within(namedTopics(settings));
    if (named === undefined) {
      const findings = templates.map((template) => away(templateSubject(template), LATE));
      return { settings: withNamesAlone(settings), findings };
    }
    const read = new ReadTopics(settings);
    const topics = topicsOf(named.settings);
    const ofTemplate = (template: string) => topics.filter((topic) => read.takenBy(topic).includes(template));
    const waiting = [...named.waiting].map(([topic, problem]) => {
      const [message = ''] = describeProblem(problem).split('\n  allowed: ');
      return wrong({ area: 'Kafka', check: 'topic', name: topic }, { message, mend: problem.allowed });
    });
    return {
      settings: named.settings,
      findings: [...templates.map((template) => templateFinding(template, ofTemplate(template))), ...waiting],
    };
  } catch (error) {
    const findings = templates.map((template) => findingOf(templateSubject(template), error));
    return { settings: withNamesAlone(settings), findings };
  }
}
