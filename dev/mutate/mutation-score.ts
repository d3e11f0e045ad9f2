/** The folders whose files are changed. */
export const CORE_ROOMS = ['app/kafka/fetch', 'app/records', 'app/store', 'app/stream'];

/** Files that the guarantee rests on: of their mutants at least {@link LEAST_SCORE} percent have to be noticed. */
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

/** Files of the guarantee that are in the report and have a lower score than they should. */
export function weakFiles({ files }: MutationReport): readonly string[] {
  return GUARANTEE_FILES.filter((file) => score(files[file]?.mutants ?? []) < LEAST_SCORE);
}

/** A line for each file, each followed by the mutants that no test noticed. */
export function scoreLines({ files }: MutationReport): readonly string[] {
  return Object.entries(files).flatMap(([file, { mutants }]) => [
    `${score(mutants).toFixed(1).padStart(5)} %  ${file}`,
    ...mutants
      .filter(({ status }) => MISSED.includes(status))
      .map(({ status, mutatorName, replacement, location: { start } }) => {
        const change = (replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 60);
        return `         ${status} ${file}:${start.line}:${start.column} ${mutatorName} -> ${change}`;
      }),
  ]);
}
