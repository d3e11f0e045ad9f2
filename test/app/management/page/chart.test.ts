import { expect, test } from '@jest/globals';
import { chart } from '../../../../app/management/page/chart.ts';

const WORDS = { what: 'lag of <orders>', write: String };

const drawn = (points: readonly number[]) => chart(points, WORDS)?.text;

test('a line goes from the left to the right, and from 0 to its highest value', () => {
  expect(drawn([0, 5, 10])).toContain('viewBox="0 -1 4 26"');
  expect(drawn([0, 5, 10])).toContain('<path d="M0 24l2 -12l2 -12"/>');
});

test('a flat stretch is one command', () => {
  expect(drawn([3, 3, 3, 0, 0])).toContain('<path d="M0 0h4l2 24h2"/>');
  expect(drawn([0, 0, 0])).toContain('<path d="M0 24h4"/>');
});

test('what is not known is a gap, and no 0', () => {
  expect(drawn([Number.NaN, 2, 2, Number.NaN, 1, 1])).toContain('<path d="M2 0h2M8 12h2"/>');
});

test('who does not see it hears what it shows', () => {
  expect(drawn([4, Number.NaN, 7])).toContain(
    'role="img" aria-label="lag of &lt;orders&gt;, last 10 minutes: from 4 to 7"',
  );
});

test('a single point is no line', () => {
  expect(chart([Number.NaN, 1], WORDS)).toBeNull();
  expect(chart([], WORDS)).toBeNull();
});
