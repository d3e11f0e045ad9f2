import { expect, test } from '@jest/globals';
import { BENCH_HELP } from '../../dev/bench/options.ts';
import { anchorsIn, read } from './pages.ts';

const PAGE = read('docs/performance.md');

/** Rows of the table of runs: what was measured, and by which command, when, of which version and where. */
const RUNS = [...PAGE.matchAll(/^\| (\[.*) \| (`npm run bench.*) \| (.*) \| (.*) \| (.*) \| (.*) \|$/gm)].map(
  ([, what = '', command = '', date = '', version = '', node = '', cores = '']) => ({
    ...{ what, command, date, version, node, cores },
  }),
);

const sections = anchorsIn(PAGE).slice(1);

test('each section of figures is in the table of runs', () => {
  const linked = RUNS.map(({ what }) => /\(#([a-z-]+)\)/.exec(what)?.[1]);
  expect(sections.length).toBeGreaterThan(6);
  expect(sections.filter((section) => !linked.includes(section))).toEqual([]);
});

test.each(RUNS)('$what has a command that there is, a date, a version, Node.js and cores', (run) => {
  const words = [...run.command.matchAll(/-- ([a-z]+)/g)].map(([, word]) => `npm run bench -- ${word}`);
  expect(words.filter((word) => !BENCH_HELP.includes(word))).toEqual([]);
  expect(run).toMatchObject({
    date: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+, `[0-9a-f]{8}`$/),
    node: expect.stringMatching(/^\d+(\.\d+)*$/),
    cores: expect.stringMatching(/^\d+$/),
  });
});

/** Measured figures: rows a second, processor time of a row, memory and shares of a core. */
const figuresOf = (text: string): readonly string[] =>
  [...text.matchAll(/[\d,]{5,} rows\/s|[\d.]+ \+ [\d.]+(?= µs)|\d+ to \d+ MB|\d{3} MB|\d+\.\d+ %|\d+ ms/g)].map(
    ([figure]) => figure.replace(' rows/s', ''),
  );

test.each(['docs/comparison.md', 'docs/sizing.md'])('each figure of %s is one of docs/performance.md', (page) => {
  const measured = `${PAGE}\n${read('docs/small-batches.md')}`;
  const figures = figuresOf(read(page));
  expect(figures.length).toBeGreaterThan(6);
  expect(figures.filter((figure) => !measured.includes(figure))).toEqual([]);
});
