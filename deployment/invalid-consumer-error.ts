import { describeProblems, type Problem } from '../settings/schema/problem.ts';

/** Thrown by a construct whose props are wrong: one error that holds every problem. */
export class InvalidConsumerError extends Error {
  /** Distinguishes it from other errors where `instanceof` cannot, as in another copy of the package. */
  override readonly name = 'InvalidConsumerError';
  /** Stays the same over versions, for programs that ask. */
  readonly code = 'INVALID_CONSUMER';
  /** Everything that is wrong, in the order of the message. */
  readonly problems: readonly Problem[];

  /** @param subject what was wrong: the construct's path */
  constructor(subject: string, problems: readonly Problem[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(`${subject}: ${count} in the props\n${describeProblems(problems)}`);
    this.problems = problems;
  }
}
