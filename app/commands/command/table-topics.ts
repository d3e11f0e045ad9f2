import { nearestKey, type Problem } from '../../../settings/schema/problem.ts';

/** One problem for each topic that the command line names and the settings do not. */
export const unknownTopics = (
  asked: readonly string[],
  known: readonly string[],
  allowed: string,
): readonly Problem[] =>
  asked
    .filter((topic) => !known.includes(topic))
    .map((given) => {
      const nearest = nearestKey(given, known);
      const problem = { path: '--topic', message: 'is no topic of these settings', given };
      return { ...problem, allowed: `${allowed}: ${known.join(', ') || 'none'}`, ...(nearest && { nearest }) };
    });
