import type { Problem } from '../../../settings/schema/problem.ts';
import { shownText } from '../../../settings/schema/shown-value.ts';
import type { GivenOptions } from '../dead-letters/dead-letters-request.ts';

/** What the commands have in common. */
interface TopicRequest {
  readonly topic: string;
  /** Whether everything is looked at, and nothing changed. */
  readonly dryRun: boolean;
}

/** The command `offsets accept-topic`. */
export interface AcceptTopicRequest extends TopicRequest {
  readonly action: 'accept-topic';
}

/** The command `offsets begin-again`. */
export interface BeginAgainRequest extends TopicRequest {
  readonly action: 'begin-again';
  /** Whether the rows that the topic has get another topic's name; else the command is refused where there are any. */
  readonly renameRows: boolean;
  /** Whether rows of tables of the user's own stay as they are; else the command is refused where the topic fills any. */
  readonly keepTableRows: boolean;
}

export type OffsetsRequest = AcceptTopicRequest | BeginAgainRequest;

const ACTIONS = ['accept-topic', 'begin-again'] as const;

type Action = (typeof ACTIONS)[number];

const isAction = (word: string | undefined): word is Action => ACTIONS.some((action) => action === word);

function wrongAction(given: string | undefined): Problem {
  const problem = { path: 'the command offsets', allowed: ACTIONS.map((action) => `offsets ${action}`).join(', ') };
  return given === undefined
    ? { ...problem, message: 'needs to be told what to do' }
    : { ...problem, message: 'cannot do this', given: shownText(given, ACTIONS) };
}

/**
 * Reads the words and options of the command `offsets`.
 *
 * @param words the words behind the command's name, without the options
 * @returns the request, or its problems
 */
export function readOffsetsRequest(
  words: readonly string[],
  options: GivenOptions,
): { readonly request?: OffsetsRequest; readonly problems: readonly Problem[] } {
  const [action, topic, ...others] = words;
  if (!isAction(action)) {
    return { problems: [wrongAction(action)] };
  }
  const [path, allowed] = [`the command offsets ${action}`, `offsets ${action} TOPIC`];
  if (topic === undefined || topic === '') {
    return { problems: [{ path, message: 'needs a topic', allowed }] };
  }
  const problems = others.map((word) => ({ path, message: 'takes one topic', given: shownText(word), allowed }));
  const common = { topic, dryRun: options.has('dry-run') };
  const consents = { renameRows: options.has('rename-rows'), keepTableRows: options.has('keep-table-rows') };
  const request: OffsetsRequest =
    action === 'accept-topic' ? { ...common, action } : { ...common, action, ...consents };
  return { request, problems };
}
