import { type Checked, checkAgainst, deepFreeze, rightSections } from '../settings/schema/check.ts';
import {
  formatPath,
  isSection,
  type Section,
  type SettingPath,
  sectionOf,
  valueAt,
} from '../settings/schema/document.ts';
import type { Problem } from '../settings/schema/problem.ts';
import type { SchemaNode } from '../settings/schema/schema.ts';
import { UNKNOWN_KEY } from '../settings/schema/schema-problems.ts';
import { shownPath } from '../settings/schema/shown-value.ts';
import { checkSettings, type Settings } from '../settings/settings.ts';
import { CONSUMER_FILE_RULES, type ConsumerFile, ConsumerFileSchema } from './consumer-file.ts';
import { KUBERNETES_TYPES } from './generated/kubernetes-types.ts';
import type { StreamConsumerProps } from './generated/props.ts';
import { InvalidConsumerError } from './invalid-consumer-error.ts';
import {
  consumerPath,
  SECRET_SETTINGS,
  secretHome,
  withPlaceholders,
  withSettingNames,
} from './sections/application.ts';

/** A consumer.yaml that is right: everything the charts need. */
export interface CheckedConsumer {
  /** The file as the user wrote it, overlays merged in and deeply frozen: the props of the constructs. */
  readonly document: StreamConsumerProps;
  /** The file with its defaults filled in. */
  readonly file: ConsumerFile;
  /** `application` alone, without defaults: what belongs into the ConfigMap. */
  readonly application: Readonly<Record<string, unknown>>;
  /** `application` as the consumer will see it, defaults included; secrets are placeholders. */
  readonly settings: Settings;
}

/** Consumers that are right, by their documents: what one construct has checked, or synth has, others take as it is. */
const KNOWN = new WeakMap<object, CheckedConsumer>();

function known(consumer: CheckedConsumer): CheckedConsumer {
  KNOWN.set(deepFreeze(consumer.document), consumer);
  return consumer;
}

/** A copy of a section without what is at a path in it. */
function without(root: Section, [key = '', ...rest]: SettingPath): Section {
  const { [key]: child, ...others } = root;
  return rest.length > 0 && isSection(child) ? { ...root, [key]: without(child, rest) } : others;
}

function secretProblem(path: SettingPath): Problem {
  return {
    path: `application.${formatPath(path)}`,
    message: 'is a secret, and a manifest is no place for one',
    allowed: `a Secret in the cluster with the key ${path.at(-1)}, named by ${secretHome(path)}`,
  };
}

/** The application's part without its secrets, and a problem for each of them. */
function withoutSecretValues(written: Section): { readonly application: Section; readonly problems: Problem[] } {
  const secrets = SECRET_SETTINGS.filter((path) => valueAt(written, path) !== undefined);
  return { application: secrets.reduce(without, written), problems: secrets.map(secretProblem) };
}

/** Whether a document is written as the props are: it is, where its check has found nothing. */
const isProps = (_written: unknown, { ok }: Checked<ConsumerFile>): _written is StreamConsumerProps => ok;

/**
 * Checks consumer.yaml, with `application` by the consumer's own rules.
 *
 * @param input the parsed document, overlays merged in; it is not changed. The `document` of a checked consumer is
 * right already.
 * @returns all that the charts need, or all problems at once; it never throws for a wrong input.
 */
export function checkConsumerFile(input: unknown): Checked<CheckedConsumer> {
  const found = typeof input === 'object' && input !== null ? KNOWN.get(input) : undefined;
  if (found !== undefined) {
    return { ok: true, value: found };
  }
  const written: unknown = structuredClone(input ?? {});
  const { named, application, problems } = namedConsumer(written);
  const file = checkAgainst(ConsumerFileSchema, named, CONSUMER_FILE_RULES);
  const settings = checkSettings(
    withPlaceholders(application, file.ok ? file.value : rightSections(ConsumerFileSchema, named)),
  );
  if (file.ok && settings.ok && problems.length === 0 && isProps(written, file)) {
    return { ok: true, value: known({ document: written, file: file.value, application, settings: settings.value }) };
  }
  problems.push(...(file.ok ? [] : file.problems));
  const isGiven = isSection(written) && isSection(written['application']);
  const more = settings.ok || !isGiven ? [] : settings.problems;
  const paths = new Set(problems.map(({ path }) => path));
  for (const problem of more.map((each) => ({ ...each, path: `application.${each.path}` }))) {
    if (!paths.has(problem.path)) {
      problems.push(problem);
    }
  }
  return { ok: false, problems: problems.map(withConsumerNames) };
}

/**
 * The document with the names of the settings in `application`, which is without its secrets, and what is wrong so far.
 */
function namedConsumer(written: unknown) {
  const { application: named, problems } = withSettingNames(
    sectionOf(isSection(written) ? written : {}, 'application'),
  );
  const { application, problems: secrets } = withoutSecretValues(isSection(named) ? named : {});
  return {
    named: isSection(written) && isSection(written['application']) ? { ...written, application } : written,
    application,
    problems: [...problems, ...secrets],
  };
}

/** Where a patch is no way out: what is not part of an object, and what has Kubernetes' own words already. */
const NOT_PATCHED = /^(application|files|patches|pods\.\w+)[.[]/;

/** The keys that are allowed beside an unknown one, and the way out where none of them says what is meant. */
function knownKeys({ path, allowed }: Problem): string {
  const keys = allowed.split(', ').map(consumerPath).join(', ');
  return NOT_PATCHED.test(path) ? keys : `${keys} (what has no word here: patches)`;
}

/** A problem with the names that consumer.yaml has for what Spring Boot writes in kebab-case. */
const withConsumerNames = (problem: Problem): Problem => ({
  ...problem,
  path: consumerPath(problem.path),
  ...(problem.nearest === undefined ? {} : { nearest: consumerPath(problem.nearest) }),
  ...(problem.message === UNKNOWN_KEY ? { allowed: knownKeys(problem) } : {}),
});

/** The same consumer, whose Namespace is in a file that it shares with others. */
export function withoutNamespace({ document, file, ...others }: CheckedConsumer): CheckedConsumer {
  const namespace = { ...file.namespace, create: false };
  return known({ ...others, document: { ...document, namespace }, file: deepFreeze({ ...file, namespace }) });
}

const NOT_PLAIN: Problem = {
  path: '',
  message: 'holds something that is no plain data, such as a function',
  allowed: 'what consumer.yaml could hold: maps, lists, strings, numbers, true and false',
};

const POD_TYPES: readonly SchemaNode[] = Object.values(KUBERNETES_TYPES);

/** A problem of consumer.yaml whose path shows keys that consumer.yaml or Kubernetes knows, and no others. */
export const withShownPath = (problem: Problem): Problem => ({
  ...problem,
  path: shownPath(ConsumerFileSchema as SchemaNode, problem.path, POD_TYPES),
});

function isPlain(props: unknown): boolean {
  try {
    structuredClone(props);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks a construct's props as consumer.yaml is checked.
 *
 * @param subject the construct with the props, for the error's message
 * @throws InvalidConsumerError with all problems at once
 */
export function consumerOfProps(subject: string, props: unknown): CheckedConsumer {
  if (!isPlain(props)) {
    throw new InvalidConsumerError(subject, [NOT_PLAIN]);
  }
  const checked = checkConsumerFile(props);
  if (!checked.ok) {
    throw new InvalidConsumerError(subject, checked.problems.map(withShownPath));
  }
  return checked.value;
}
