import { posix } from 'node:path';

/** The folders whose files are changed. */
export const CORE_ROOMS = ['app/kafka/fetch', 'app/records', 'app/store', 'app/stream'];

const isIn = (file: string, room: string): boolean => file.startsWith(`${room}/`);

/** Whether a file may be changed: the tests that are run reach it. */
export const isOfCore = (file: string): boolean =>
  CORE_ROOMS.some((room) => isIn(file, room)) && file.endsWith('.ts') && posix.normalize(file) === file;

/** Files that the guarantee rests on: {@link LEAST_SCORE} percent of the mutants of each have to be noticed. */
export const GUARANTEE_FILES = [
  'app/stream/partition/partition-stream.ts',
  'app/stream/pipeline.ts',
  'app/stream/openings.ts',
  'app/stream/owned-streams.ts',
  'app/stream/partition/handover.ts',
  'app/stream/partition/record-queue.ts',
  'app/records/records.ts',
  'app/records/record-batch.ts',
  'app/store/transaction/compare-and-set.ts',
  'app/store/connection/transaction.ts',
  'app/store/copy/isolate-poison.ts',
] as const;

/** The least score of such a file, and of each room as a whole. */
const LEAST_SCORE = 90;

/** What is read of Stryker's report (the schema of mutation-testing-elements). */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
}

const NOTICED = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];

/** Percent of the mutants that tests noticed; those that could not be run do not count, and without any it is 100. */
function score(mutants: readonly Mutant[]): number {
  const noticed = mutants.filter(({ status }) => NOTICED.includes(status)).length;
  const missed = mutants.filter(({ status }) => MISSED.includes(status)).length;
  return noticed + missed === 0 ? 100 : (100 * noticed) / (noticed + missed);
}

/** Files of the guarantee, and rooms as far as their files are in the report, with a lower score than they should. */
export function weakPlaces(report: MutationReport): readonly string[] {
  const files = GUARANTEE_FILES.filter((file) => score(report.files[file]?.mutants ?? []) < LEAST_SCORE);
  const rooms = CORE_ROOMS.filter((room) => score(mutantsOf(report, room)) < LEAST_SCORE);
  return [...files, ...rooms];
}

const mutantsOf = ({ files }: MutationReport, room: string): readonly Mutant[] =>
  Object.entries(files).flatMap(([file, { mutants }]) => (isIn(file, room) ? mutants : []));

/** Rounded down: what is shown as {@link LEAST_SCORE} is enough. */
const scoreLine = (mutants: readonly Mutant[], place: string): string =>
  `${(Math.floor(score(mutants) * 10) / 10).toFixed(1).padStart(5)} %  ${place}`;

/**
 * A line for each file, each followed by the mutants that no test noticed; then one for each room with such files, and
 * one for the weak places, where there are any.
 */
export function scoreLines(report: MutationReport): readonly string[] {
  const files = Object.entries(report.files).flatMap(([file, { mutants }]) => [
    scoreLine(mutants, file),
    ...mutants
      .filter(({ status }) => MISSED.includes(status))
      .map(({ status, mutatorName, replacement, location: { start } }) => {
        const change = (replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 60);
        return `         ${status} ${file}:${start.line}:${start.column} ${mutatorName} -> ${change}`;
      }),
  ]);
  const rooms = CORE_ROOMS.map((room) => ({ room, mutants: mutantsOf(report, room) }));
  const weak = weakPlaces(report);
  return [
    ...files,
    ...rooms.filter(({ mutants }) => mutants.length > 0).map(({ room, mutants }) => scoreLine(mutants, room)),
    ...(weak.length > 0 ? [`below ${LEAST_SCORE} %: ${weak.join(', ')}`] : []),
  ];
}
