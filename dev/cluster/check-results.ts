import { failureText } from '../run/explained-error.ts';
import type { Screen } from '../run/screen.ts';

const MARK = { ok: 'ok', failed: 'FAILED', skipped: 'skipped' } as const;
const CHECK_WIDTH = 64;

/** The table of the checks' results; each row is shown as soon as it is known. */
export class CheckResults {
  readonly #screen: Screen;
  #failures = 0;
  #skipped = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  get failures(): number {
    return this.#failures;
  }

  get skipped(): number {
    return this.#skipped;
  }

  /**
   * Makes one check and adds its row.
   *
   * @param run gives the result in a few words, or throws
   * @returns whether it did not throw
   */
  async check(name: string, run: () => Promise<string>): Promise<boolean> {
    const startedAt = performance.now();
    try {
      const found = await run();
      this.#row(name, 'ok', `${found} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
      return true;
    } catch (error) {
      this.#failures += 1;
      const [first = '', ...more] = failureText(error).split('\n');
      this.#row(name, 'failed', first);
      for (const line of more) {
        this.#screen.line(`      ${line}`);
      }
      return false;
    }
  }

  /** Adds a row for a check that cannot be made here. */
  skip(name: string, why: string): void {
    this.#skipped += 1;
    this.#row(name, 'skipped', why);
  }

  #row(name: string, mark: keyof typeof MARK, found: string): void {
    const shown = MARK[mark].padEnd(MARK.skipped.length);
    const tinted = mark === 'skipped' ? shown : this.#screen.tint(shown, mark === 'ok');
    this.#screen.line(`  ${name.padEnd(CHECK_WIDTH)}  ${tinted}  ${found}`);
  }
}
