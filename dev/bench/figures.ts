/** Writes a line: what was measured, and the figure in a column. */
export function print(what: string, figure: string): void {
  console.log(`${what.padEnd(52)}${figure}`);
}

export const rate = (perSecond: number): string =>
  Number.isFinite(perSecond) ? `${Math.round(perSecond).toLocaleString('en')} rows/s` : 'too few records for a rate';

export const percent = (share: number): string => `${(share * 100).toFixed(1)} % of a core`;

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

export const microseconds = (seconds: number, records: number): string => ((seconds * 1e6) / records).toFixed(1);
