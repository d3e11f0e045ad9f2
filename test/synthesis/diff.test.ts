import { stripVTControlCharacters } from 'node:util';
import { expect, test } from '@jest/globals';
import { countChanges, describeDifferences } from '../../synthesis/diff.ts';

const manifest = (name: string, content: object) => ({
  file: 'consumer.k8s.yaml',
  object: { kind: 'Deployment', metadata: { name, namespace: 'n' }, ...content },
});

const container = (name: string, image: string) => ({ name, image });

const changed = {
  before: manifest('a', { spec: { replicas: 1, containers: [container('one', 'x:1')], text: 'same\nold\n' } }),
  after: manifest('a', {
    spec: { replicas: 2, containers: [container('zero', 'y:1'), container('one', 'x:1')], text: 'same\nnew\n' },
  }),
};

const differences = [
  {
    folder: 'dist',
    objects: [changed, { before: manifest('b', {}) }, { after: manifest('c', { spec: {} }) }],
    files: [{ file: 'prometheus/rules.yml', before: 'a\nb\n', after: 'a\nc\n' }],
  },
];

test('each object has a sign, and the fields that differ say where they are', () => {
  expect(describeDifferences(differences, false).split('\n')).toEqual([
    'dist',
    '  ~ Deployment n/a',
    '      - spec.replicas: 1',
    '      + spec.replicas: 2',
    '      + spec.containers[zero].name: "zero"',
    '      + spec.containers[zero].image: "y:1"',
    '      - spec.text | old',
    '      + spec.text | new',
    '  - Deployment n/b',
    '  + Deployment n/c',
    '      + kind: Deployment',
    '      + metadata:',
    '      +   name: c',
    '      +   namespace: n',
    '      + spec: {}',
    '  ~ prometheus/rules.yml',
    '      - b',
    '      + c',
  ]);
  expect(countChanges(differences)).toBe('1 new, 2 changed, 1 gone');
});

test('an object that changes its name says both', () => {
  const renamed = { before: manifest('config-0123456789', {}), after: manifest('config-abcdef0123', {}) };
  expect(describeDifferences([{ folder: 'dist', objects: [renamed], files: [] }], false)).toContain(
    '~ Deployment n/config-0123456789 becomes config-abcdef0123',
  );
});

test('colours are there when they are asked for, and change nothing else', () => {
  const coloured = describeDifferences(differences, true);
  expect(coloured).toContain('\u001b[32m      + spec.replicas: 2\u001b[39m');
  expect(stripVTControlCharacters(coloured)).toBe(describeDifferences(differences, false));
});
