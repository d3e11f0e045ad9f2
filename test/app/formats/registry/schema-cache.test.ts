import { expect, test } from '@jest/globals';
import { SchemaCache } from '../../../../app/formats/registry/schema-cache.ts';
import { isUsable } from '../../../../app/formats/registry/schemas.ts';
import { knownSchemas } from './known-schemas.ts';

test('of more values than are kept, the least used one goes', () => {
  const cache = new SchemaCache<string>(2);
  cache.set(1, 'one');
  cache.set(2, 'two');
  cache.get(1);
  cache.set(3, 'three');
  expect([1, 2, 3].map((id) => cache.get(id))).toEqual(['one', undefined, 'three']);
  expect(cache.size).toBe(2);
});

test('an id that is known to be unusable is no schema to decode with', () => {
  const schemas = knownSchemas(
    { id: 1, type: 'AVRO', text: '"string"', references: [] },
    { id: 2, reason: 'unknown_schema', words: 'the registry has no schema 2' },
  );
  const usable = [1, 2, 3].map((id) => schemas.of(id)).map((schema) => schema && isUsable(schema));
  expect(usable).toEqual([true, false, undefined]);
});
