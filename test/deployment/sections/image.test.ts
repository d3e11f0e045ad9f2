import { expect, test } from '@jest/globals';
import { imageReference } from '../../../deployment/sections/image.ts';

const repository = 'registry.example.com/team/consumer';
const digest = `sha256:${'0'.repeat(64)}`;

test.each([
  ["the package's version is the tag", { repository }, `${repository}:1.2.3`],
  ['a tag replaces it', { repository, tag: 'main' }, `${repository}:main`],
  ['a digest wins over both', { repository, tag: 'main', digest }, `${repository}@${digest}`],
])('%s', (_name, source, reference) => {
  expect(imageReference(source, '1.2.3')).toBe(reference);
});
