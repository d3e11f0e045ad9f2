import { type Static, Type } from 'typebox';
import { ALERT_LEVELS, ALERTS, type AlertDefinition, type AlertName } from '../../contract/alerts.ts';
import type { Rule } from '../../settings/schema/check.ts';
import { nearestKey, type Problem } from '../../settings/schema/problem.ts';
import { ALLOWED, closed, section } from '../../settings/schema/schema.ts';

const promDuration = (description: string) =>
  Type.String({
    pattern: '^[0-9]{1,6}(s|m|h)$',
    description,
    [ALLOWED]: 'a duration of Prometheus: a whole number and one of s, m, h, such as 0s, 90s, 5m',
  });

/** What Prometheus takes for the name of a label; the severity has another key, the name of the alert is fixed. */
const LABEL = Type.String({ pattern: '^(?!(severity|alertname)$)[a-zA-Z_][a-zA-Z0-9_]*$' });

const ANNOTATION = Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' });

const labels = (description: string) => Type.Record(LABEL, Type.String(), { ...section, description });

const annotations = (description: string) => Type.Record(ANNOTATION, Type.String(), { ...section, description });

const level = (name: string) =>
  Type.Object(
    {
      enabled: Type.Optional(
        Type.Boolean({
          description:
            'Whether the alert has this level; left out: as enabled of the alert, otherwise true, but false for an optional one.',
        }),
      ),
      threshold: Type.Optional(
        Type.Number({ minimum: 0, description: 'Limit; left out: the default that docs/monitoring.md lists.' }),
      ),
      for: Type.Optional(
        promDuration('Time the condition has to hold; left out: the default that docs/monitoring.md lists.'),
      ),
      severity: Type.Optional(
        Type.String({
          pattern: '^[a-zA-Z0-9_.-]{1,63}$',
          description: `Label severity, for other names in a routing tree; left out: ${name}.`,
          [ALLOWED]: 'letters, digits, and any of _ . -',
        }),
      ),
    },
    { ...closed, description: `The level ${name}, where the alert has it; left out: as docs/monitoring.md lists it.` },
  );

const rule = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({
        description:
          'false: no level of it is rendered. true: each of its levels, optional ones too. Left out: all but the optional ones.',
      }),
    ),
    keepFiringFor: Type.Optional(
      promDuration('Time it keeps firing afterwards; left out: the default that docs/monitoring.md lists.'),
    ),
    labels: labels('More labels for this alert.'),
    annotations: annotations('More annotations for this alert; one of the same name takes the place of a text.'),
    warning: Type.Optional(level('warning')),
    critical: Type.Optional(level('critical')),
  },
  { ...closed, description: 'What differs from the defaults of one alert.' },
);

/** What differs from the alerts' defaults. */
export const alerts = Type.Object(
  {
    labels: labels('More labels for every alert: a team, a route.'),
    annotations: annotations('More annotations for every alert.'),
    rules: Type.Record(Type.String({ pattern: '^[a-zA-Z]+$' }), rule, {
      ...section,
      description: 'Changes by the name of an alert; docs/monitoring.md lists all, with their defaults.',
    }),
  },
  { ...section, description: 'The alerts, where they differ from their defaults.' },
);

interface AlertsPart {
  readonly monitoring: { readonly alerts: Static<typeof alerts> };
}

const isAlert = (name: string): name is AlertName => Object.hasOwn(ALERTS, name);

function problemsOf(name: string, given: Static<typeof rule>): Problem[] {
  const path = `monitoring.alerts.rules.${name}`;
  const names = Object.keys(ALERTS);
  if (!isAlert(name)) {
    const nearest = nearestKey(name, names);
    return [
      {
        path,
        message: 'is no alert',
        allowed: `one of ${names.join(', ')}`,
        ...(nearest === undefined ? {} : { nearest }),
      },
    ];
  }
  const definition: AlertDefinition = ALERTS[name];
  const known = ALERT_LEVELS.filter((each) => definition[each] !== undefined);
  return ALERT_LEVELS.filter((each) => given[each] !== undefined && !known.includes(each)).map((each) => ({
    path: `${path}.${each}`,
    message: `is a level that ${name} does not have`,
    allowed: `${known.join(', ')}; its severity may be another`,
  }));
}

/** What Prometheus declares before each template (`template.Expand`). */
const VARIABLES: ReadonlySet<string> = new Set(['', 'labels', 'externalLabels', 'externalURL', 'value']);

/** An action of Go's text/template: comments and strings first, as a brace in one of them ends nothing. */
const ACTION =
  /\{\{(?:-\s)?(?:\/\*[\s\S]*?\*\/(?:\s-)?\}\}|(?!\/\*)((?:"(?:\\.|[^"\\\n])*"|`[^`]*`|'(?:\\.|[^'\\\n])*'|[^"'`}]|\}(?!\}))*)\}\})/g;

const STRING = /"(?:\\.|[^"\\\n])*"|`[^`]*`|'(?:\\.|[^'\\\n])*'/g;

const BEGINS = /^(?:if|range|with|define|block)\b/;

/** Why Prometheus, and so its operator, would refuse a template, as far as that can be said without its functions. */
function templateMistake(text: string): string | undefined {
  const actions = Array.from(text.matchAll(ACTION), ([, body]) => body?.replace(/^-(?=\s)|(?:^|\s)-$/g, '').trim());
  if (text.replaceAll(ACTION, '').includes('{{')) {
    return 'opens a template with {{ that nothing closes';
  }
  if (actions.includes('')) {
    return 'has a template without content';
  }
  const code = actions.map((action = 'comment') => action.replaceAll(STRING, '""'));
  const depths = code.map((action) => (BEGINS.test(action) ? 1 : action === 'end' ? -1 : 0));
  let depth = 0;
  const isEndedEarly = depths.some((step) => {
    depth += step;
    return depth < 0;
  });
  if (isEndedEarly || depth !== 0) {
    return 'has if, range, with or define without its end, or an end without one of them';
  }
  const declared = new Set(
    code.flatMap((action) => Array.from(action.matchAll(/\$(\w+)\s*(?:,|:=)/g), ([, name]) => name)),
  );
  const used = code.flatMap((action) => Array.from(action.matchAll(/\$(\w*)/g), ([, name = '']) => name));
  return used.every((name) => VARIABLES.has(name) || declared.has(name))
    ? undefined
    : 'has a template with a variable that Prometheus does not have';
}

/** Annotations are templates, and so are labels. */
const templatesParse = (
  path: string,
  read: (part: AlertsPart) => Readonly<Record<string, string>>,
): Rule<AlertsPart> => ({
  reads: [`${path}[]`],
  find: (part) =>
    Object.entries(read(part)).flatMap(([name, given]) => {
      const message = templateMistake(given);
      return message === undefined ? [] : [{ path: `${path}.${name}`, message, given, allowed: TEMPLATE_ALLOWED }];
    }),
});

const TEMPLATE_ALLOWED =
  'text, or a template of Prometheus such as {{ $labels.pod }} or {{ $value }}; {{ "{{" }} for two braces';

const ruleTemplatesParse: Rule<AlertsPart> = {
  reads: ['monitoring.alerts.rules[]'],
  find: ({ monitoring }) =>
    Object.entries(monitoring.alerts.rules).flatMap(([name, rule]) =>
      (['labels', 'annotations'] as const).flatMap((key) =>
        templatesParse(`monitoring.alerts.rules.${name}.${key}`, () => rule[key]).find({ monitoring }),
      ),
    ),
};

const alertsExist: Rule<AlertsPart> = {
  reads: ['monitoring.alerts.rules[]'],
  find: ({ monitoring }) => Object.entries(monitoring.alerts.rules).flatMap(([name, given]) => problemsOf(name, given)),
};

export const ALERT_RULES: readonly Rule<AlertsPart>[] = [
  alertsExist,
  templatesParse('monitoring.alerts.labels', ({ monitoring }) => monitoring.alerts.labels),
  templatesParse('monitoring.alerts.annotations', ({ monitoring }) => monitoring.alerts.annotations),
  ruleTemplatesParse,
];
