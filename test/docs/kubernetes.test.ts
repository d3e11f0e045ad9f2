import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { consumerDocument } from '../charts/example-consumer.ts';

const read = (file: string): string => readFileSync(`docs/${file}`, 'utf8');

const blocks = ['kubernetes.md', 'database-roles.md'].flatMap((file) =>
  [...read(file).matchAll(/```yaml\n([^`]*)```/g)].map(([, text = '']) => [file, text] as const),
);

/** In the tables' cells; ... stands for something long. */
const inline = [
  ...read('kubernetes.md').matchAll(/`((?:scaling|externalSecret|secrets\.as|networkPolicy\.enabled)[:][^`]*)`/g),
].map(([, text = '']) => text);

const problemsOf = (changes: object): string[] => {
  const checked = checkConsumerFile(consumerDocument(changes));
  return checked.ok ? [] : checked.problems.map(describeProblem);
};

test.each(blocks)('docs/%s shows parts of consumer.yaml that are right (%#)', (_, text) => {
  expect(problemsOf(parse(text) as object)).toEqual([]);
});

test('what the document says in passing is right, too', () => {
  expect(inline.length).toBeGreaterThanOrEqual(4);
  for (const text of inline) {
    const [path = '', rest = ''] = text.split(/:(.*)/);
    const value = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), parse(rest)) as object;
    const changes = path === 'externalSecret' ? { database: value } : { partitions: 6, ...value };
    expect(problemsOf(changes)).toEqual([]);
  }
});
