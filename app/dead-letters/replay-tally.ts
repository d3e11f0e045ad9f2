import type { ReplayOutcome } from './dead-letters-replay.ts';

const number = (count: number): string => count.toLocaleString('en');

/** Counts of reasons as text, the most frequent first: `12 invalid_json, 3 value_too_large`. */
export const reasonList = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${number(count)} ${reason}`)
    .join(', ');

/** What became of the letters so far. */
export class ReplayTally {
  readonly #total: number;
  readonly #isDryRun: boolean;
  readonly #reasons = new Map<string, number>();
  #moved = 0;
  #present = 0;
  #refused = 0;

  /** @param total letters to look at */
  constructor(total: number, isDryRun: boolean) {
    this.#total = total;
    this.#isDryRun = isDryRun;
  }

  /** Whether every letter so far was moved. */
  get isClean(): boolean {
    return this.#refused + this.#present === 0;
  }

  add({ kind, letter }: ReplayOutcome): void {
    if (kind === 'moved') {
      this.#moved += 1;
    } else if (kind === 'present') {
      this.#present += 1;
    } else {
      this.#refused += 1;
      this.#reasons.set(letter.reason, (this.#reasons.get(letter.reason) ?? 0) + 1);
    }
  }

  /** One line while it goes on. */
  progress(): string {
    const seen = this.#moved + this.#present + this.#refused;
    return `${number(seen)} of ${number(this.#total)} dead letters, ${number(this.#moved)} ${this.#verb()}`;
  }

  /** One line when it is over. */
  summary(): string {
    const refused =
      this.#refused === 0 ? '' : `, ${number(this.#refused)} still refused (${reasonList(this.#reasons)})`;
    const present = this.#present === 0 ? '' : `, ${number(this.#present)} in records already`;
    return `${this.progress()}${refused}${present}${this.#isDryRun ? '; nothing was changed (--dry-run)' : ''}`;
  }

  #verb(): string {
    return this.#isDryRun ? 'would be moved' : 'moved';
  }
}
