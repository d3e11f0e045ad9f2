import { describe, expect, test } from '@jest/globals';
import { EXIT_CODE } from '../../contract/exit-code.ts';
import { startContainer } from './stack/start-container.ts';

describe('a container with a wrong configuration', () => {
  test('exits with 78 and says everything that is wrong, and no secret', async () => {
    const container = await startContainer({
      settings: { kafka: { brokers: ['kafka:9092'], topics: ['orders'], groupId: 'g' }, server: { port: 'eighty' } },
      secrets: { 'database.password': 'hidden-from-everybody' },
    });
    expect(await container.ended()).toBe(EXIT_CODE.configuration);
    const { stdout, stderr } = await container.logs();
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^The configuration is wrong: \d problems; nothing was started\./);
    expect(stderr).toContain('server.port');
    expect(stderr).toContain('database.url');
    expect(stderr).not.toContain('hidden-from-everybody');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
