import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SchemaServer } from '../../../dev/stack/schema-server.ts';

let server: SchemaServer;

beforeEach(async () => {
  server = await SchemaServer.listen((id) => (id === 7 ? { type: 'string' } : undefined));
});
afterEach(() => server.close());

async function answered(path: string): Promise<readonly [number, string]> {
  const response = await fetch(`${server.url}${path}`);
  return [response.status, await response.text()];
}

const FOUND = [200, '{"schema":"{\\"type\\":\\"string\\"}"}'];
const NOT_FOUND = [404, expect.stringContaining('"error_code":40403')];

test('a registry has the schemas that it is given, and nothing else', async () => {
  expect(await answered('/schemas/ids/7')).toEqual(FOUND);
  expect(await answered('/schemas/ids/8')).toEqual(NOT_FOUND);
  expect(await answered('/subjects/payments-value/versions/latest')).toEqual(NOT_FOUND);
});

test('a registry in trouble answers something else, as long as it lasts', async () => {
  server.setTrouble('failing');
  expect(await answered('/schemas/ids/7')).toEqual([500, expect.any(String)]);
  server.setTrouble('garbled');
  expect(await answered('/schemas/ids/7')).toEqual([200, expect.stringContaining('<html>')]);
  server.setTrouble('forgetful');
  expect(await answered('/schemas/ids/7')).toEqual(NOT_FOUND);
  expect(await answered('/schemas/ids/7')).toEqual(FOUND);
  server.setTrouble();
  expect(await answered('/schemas/ids/7')).toEqual(FOUND);
});
