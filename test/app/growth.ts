const ROUNDS = 5;

/** Processor time of the fastest of several runs, in microseconds: what others do on the machine only makes runs slower. */
function cost(run: () => void): number {
  const costs = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.max(1, Math.min(...costs));
}

/**
 * How many times as much work an input takes that is four times as long: about 4 when the work grows with the length,
 * about 16 when it grows with its square.
 */
export function growth(length: number, run: (length: number) => void): number {
  run(length);
  return cost(() => run(4 * length)) / cost(() => run(length));
}

/** Between the two, with room for what is not proportional. */
export const NOT_QUADRATIC = 10;
