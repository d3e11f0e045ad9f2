import { describe, expect, test } from '@jest/globals';
import { serverProperties } from '../../../dev/stack/local-kafka.ts';

const lines = serverProperties({ port: 1, controllerPort: 2, dataFolder: '/data' }).trim().split('\n');

describe('the settings of the local broker', () => {
  test('keep it on the loopback interface, on the ports and in the folder it was given', () => {
    expect(lines).toEqual(
      expect.arrayContaining([
        'listeners=PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:2',
        'advertised.listeners=PLAINTEXT://127.0.0.1:1',
        'controller.quorum.voters=1@127.0.0.1:2',
        'log.dirs=/data',
      ]),
    );
  });

  test('tell clients the port of a proxy where there is one', () => {
    const proxied = serverProperties({ port: 1, advertisedPort: 9, controllerPort: 2, dataFolder: '/data' });
    expect(proxied).toContain('\nadvertised.listeners=PLAINTEXT://127.0.0.1:9\n');
    expect(proxied).toContain('\nlisteners=PLAINTEXT://127.0.0.1:1,');
  });

  test('open a second way in for clients that see this machine under another address', () => {
    const elsewhere = { host: '10.1.2.3', port: 7 };
    const text = serverProperties({ port: 1, elsewhere, controllerPort: 2, dataFolder: '/data' });
    expect(text).toContain('\nlisteners=PLAINTEXT://127.0.0.1:1,ELSEWHERE://127.0.0.1:7,CONTROLLER://127.0.0.1:2\n');
    expect(text).toContain('\nadvertised.listeners=PLAINTEXT://127.0.0.1:1,ELSEWHERE://10.1.2.3:7\n');
  });

  test('make it a broker alone where it joins a cluster', () => {
    const text = serverProperties({ port: 1, controllerPort: 2, dataFolder: '/data', joins: true });
    expect(text).toContain('process.roles=broker\nnode.id=2\ncontroller.quorum.voters=1@127.0.0.1:2\n');
    expect(text).toContain('\nlisteners=PLAINTEXT://127.0.0.1:1\n');
  });

  test('are those that were asked for, where there are such', () => {
    const properties = { 'offsets.topic.replication.factor': 2, 'log.segment.bytes': 7 };
    const text = serverProperties({ port: 1, controllerPort: 2, dataFolder: '/data', properties });
    expect(text.match(/^(offsets\.topic\.replication\.factor|log\.segment\.bytes)=.*$/gm)).toEqual([
      'offsets.topic.replication.factor=2',
      'log.segment.bytes=7',
    ]);
  });

  test('keep records of any time', () => {
    expect(lines).toContain('log.retention.ms=-1');
  });

  test('make no topic by accident', () => {
    expect(lines).toContain('auto.create.topics.enable=false');
  });

  test('replicate nothing', () => {
    const factors = lines.filter((line) => /replication\.factor|min\.isr/.test(line));
    expect(factors.length).toBeGreaterThan(0);
    expect(factors.filter((line) => !line.endsWith('=1'))).toEqual([]);
  });
});
