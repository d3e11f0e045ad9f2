import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { checkedEnvironments } from '../../synthesis/checked-environment.ts';

export const BASE = `image: { repository: registry/stream-consumer }
database: { existingSecret: database }
application:
  kafka:
    brokers: ["a:1"]
    topics: [orders]
    groupId: g
`;

/** The folder with the consumer.yaml of each test, which is removed after it. */
export const folder = mkdtempSync(join(tmpdir(), 'environments-'));

beforeEach(() => {
  mkdirSync(join(folder, 'environments'), { recursive: true });
  writeFileSync(join(folder, 'consumer.yaml'), BASE);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The problems of all environments, or of these, by their paths and places. */
export function problems(only?: readonly string[]): string[] {
  const checked = checkedEnvironments(folder, only);
  return checked.ok ? [] : checked.problems.map(({ path, source }) => `${path} @ ${source}`);
}
