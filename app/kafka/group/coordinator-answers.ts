import { FatalError } from '../../stream/ports/stream-errors.ts';
import { causesOf, errorTypeOf } from '../authorization.ts';

/** The answer by which another broker coordinates the group. */
const ELSEWHERE = 'NOT_COORDINATOR_FOR_GROUP';

/** Answers by which the broker does not coordinate the group, or not yet. */
const MOVED: ReadonlySet<string | undefined> = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  ELSEWHERE,
]);

/** The answer by which another generation begins. */
export const REBALANCING = 'REBALANCE_IN_PROGRESS';

/** Answers that only say that another generation begins, or began. */
export const OF_GENERATION: ReadonlySet<string | undefined> = new Set([REBALANCING, 'ILLEGAL_GENERATION']);

/** Answers by which the group may have given what the member owned to others. */
export const EXPELLED: ReadonlySet<string | undefined> = new Set(['UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID']);

/** Whether the group's coordinator answered, whatever the answer says; another broker's answer is none. */
export const isAnswer = (error: unknown): boolean => {
  const type = errorTypeOf(error);
  return type !== undefined && !MOVED.has(type);
};

/**
 * Whether the broker answered a commit as the group's coordinator. One that cannot store the offsets, as where too few of
 * their replicas are in sync, answers GROUP_COORDINATOR_NOT_AVAILABLE, and coordinates the group nevertheless.
 */
export const isAnswerToCommit = (error: unknown): boolean => {
  const type = errorTypeOf(error);
  return type !== undefined && type !== ELSEWHERE;
};

/** Whether no later attempt can succeed either: an answer that does not pass by itself. */
export function isForGood(error: unknown): boolean {
  const isLasting = (cause: Error & { readonly retriable?: unknown }) =>
    cause instanceof FatalError || (cause.retriable === false && Reflect.has(cause, 'type'));
  return [...causesOf(error)].some(isLasting);
}

export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
