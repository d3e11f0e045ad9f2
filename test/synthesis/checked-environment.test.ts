import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkedEnvironments } from '../../synthesis/checked-environment.ts';
import { BASE, folder, problems } from './environments-folder.ts';

const environment = (file: string, text: string): void => writeFileSync(join(folder, 'environments', file), text);

test('consumer.yaml comes first, then the environments by name', () => {
  environment('production.yaml', 'replicas: 6\n');
  environment('development.yml', '');
  environment('README.md', 'no environment');
  const checked = checkedEnvironments(folder);
  expect(checked).toMatchObject({
    ok: true,
    value: [
      { folder: '', consumers: [{ file: { replicas: 1 } }] },
      { folder: 'development', consumers: [{ file: { replicas: 1 } }] },
      { folder: 'production', consumers: [{ file: { replicas: 6 } }] },
    ],
  });
});

test('no environments folder is fine', () => {
  rmSync(join(folder, 'environments'), { recursive: true });
  expect(checkedEnvironments(folder)).toMatchObject({ ok: true, value: [{ folder: '' }] });
});

test('a mistake of consumer.yaml is told once, not once for each environment', () => {
  writeFileSync(join(folder, 'consumer.yaml'), `${BASE}replicas: -1\n`);
  environment('staging.yaml', 'namespace: { name: staging }\n');
  expect(problems()).toEqual(['replicas @ consumer.yaml:8:11']);
});

test('an environment that corrects consumer.yaml does not make consumer.yaml right', () => {
  writeFileSync(join(folder, 'consumer.yaml'), `${BASE}replicas: -1\n`);
  environment('staging.yaml', 'replicas: 1\n');
  expect(problems()).toEqual(['replicas @ consumer.yaml:8:11']);
});

test('an overlay may write in camelCase what consumer.yaml has as Spring Boot does, and a mistake in either is found', () => {
  writeFileSync(join(folder, 'consumer.yaml'), `${BASE}  management: { health: { kafka: { in-root: true } } }\n`);
  environment('staging.yaml', 'application: { management: { health: { kafka: { inRoot: false } } } }\n');
  const checked = checkedEnvironments(folder, ['staging']);
  const kafka = { 'in-root': false };
  expect(checked).toMatchObject({
    ok: true,
    value: [{ consumers: [{ settings: { management: { health: { kafka } } } }] }],
  });
  environment('staging.yaml', 'application: { management: { health: { kafka: { inRoot: x } } } }\n');
  writeFileSync(join(folder, 'consumer.yaml'), `${BASE}  management: { health: { kafka: { in-root: y } } }\n`);
  expect(problems(['staging'])).toEqual([
    'application.management.health.kafka.inRoot @ environments/staging.yaml:1:57',
  ]);
  expect(problems()).toContain('application.management.health.kafka.inRoot @ consumer.yaml:8:45');
});

test('what is missing is placed at the section that lacks it', () => {
  writeFileSync(join(folder, 'consumer.yaml'), BASE.replace('    groupId: g\n', ''));
  expect(problems()).toEqual(['application.kafka.groupId @ consumer.yaml:5:5']);
});

test('a section that is missing altogether is missed once, in consumer.yaml', () => {
  writeFileSync(join(folder, 'consumer.yaml'), BASE.replace(/^image:.*\n/, ''));
  environment('staging.yaml', 'replicas: 3\n');
  environment('right.yaml', 'image: { repository: registry/stream-consumer }\n');
  expect(problems()).toEqual(['image.repository @ consumer.yaml']);
});

test('an empty consumer.yaml lacks what has no default', () => {
  writeFileSync(join(folder, 'consumer.yaml'), '# nothing yet\n');
  expect(problems()).toEqual([
    'application @ consumer.yaml',
    'image.repository @ consumer.yaml',
    'database.existingSecret @ consumer.yaml',
  ]);
});

test('without consumer.yaml the folder is named', () => {
  rmSync(join(folder, 'consumer.yaml'));
  const checked = checkedEnvironments(folder);
  expect(checked).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining(folder) }] });
});

test.each(['prometheus.yaml', 'grafana.yaml', 'Prod.yaml', 'a b.yaml'])(
  'environments/%s cannot be a folder in dist',
  (file) => {
    environment(file, 'replicas: 2\n');
    expect(problems()).toEqual([` @ environments/${file}`]);
  },
);

test('two files of one name are one too many', () => {
  environment('staging.yaml', 'replicas: 2\n');
  environment('staging.yml', 'replicas: 3\n');
  expect(problems()).toEqual([' @ environments/staging.yml']);
});

test('a file that is not YAML is named with line and column', () => {
  environment('staging.yaml', 'replicas: 2\nkafka: [\n');
  const checked = checkedEnvironments(folder);
  expect(checked).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining('is not YAML') }] });
  expect(problems()).toEqual([expect.stringMatching(/^ @ environments\/staging\.yaml:\d+:\d+$/)]);
});

test('a line that is indented wrong is one problem', () => {
  environment('staging.yaml', '  replicas: 2\npods:\n  labels:\n    team: orders\napplication:\n  server: {}\n');
  expect(problems()).toEqual([' @ environments/staging.yaml:2:1']);
});

test('whichever line of consumer.yaml is indented two blanks too deep or too little, it is one problem at most', () => {
  const lines = `image:
  repository: registry/stream-consumer
replicas: 2
probes:
  paths: root
database:
  existingSecret: database
networkPolicy:
  ingress:
    - namespace: monitoring
monitoring:
  customResources: true
  alerts:
    labels:
      team: orders
application:
  kafka:
    brokers: ["a:1"]
    topics: [orders]
    groupId: g`.split('\n');
  const counts = lines.flatMap((line, index) =>
    [`  ${line}`, line.replace(/^ {2}/, '')].map((moved) => {
      writeFileSync(join(folder, 'consumer.yaml'), lines.with(index, moved).join('\n'));
      return [index + 1, moved, problems()] as const;
    }),
  );
  expect(counts.filter(([, , found]) => found.length > 1)).toEqual([]);
  expect(counts.filter(([, , found]) => found.length === 1).length).toBeGreaterThan(12);
});

test('a problem that only an overlay makes says in which environment, where its place does not', () => {
  environment('staging.yaml', 'application: { shutdown: { timeout: 50s } }\n');
  writeFileSync(join(folder, 'consumer.yaml'), `${BASE}terminationGracePeriodSeconds: 40\n`);
  expect(problems()).toEqual(['terminationGracePeriodSeconds @ consumer.yaml:8:32, in staging']);
});

test('one environment is checked alone when it is asked for alone', () => {
  environment('staging.yaml', 'replicas: 2\n');
  environment('wrong.yaml', 'replicas: many\n');
  expect(checkedEnvironments(folder, ['staging'])).toMatchObject({ ok: true, value: [{ folder: 'staging' }] });
  expect(problems(['wrong'])).toEqual(['replicas @ environments/wrong.yaml:1:11']);
});

describe('a consumer.yaml that is only a template', () => {
  const template = (text: string): void => writeFileSync(join(folder, 'consumer.yaml'), `base: template\n${text}`);
  const folders = (only?: readonly string[]): string[] => {
    const checked = checkedEnvironments(folder, only);
    return checked.ok ? checked.value.map((each) => each.folder) : [];
  };

  test('is no environment, and need not be complete', () => {
    template(BASE.replace(/^image:.*\n/, ''));
    environment('staging.yaml', 'image: { repository: registry/staging }\n');
    environment('prod.yaml', 'image: { repository: registry/prod }\n');
    expect(folders()).toEqual(['prod', 'staging']);
    expect(folders(['prod'])).toEqual(['prod']);
    expect(checkedEnvironments(folder, ['prod'])).toMatchObject({
      value: [{ consumers: [{ file: { image: { repository: 'registry/prod' } } }] }],
    });
  });

  test('may have the list of consumers', () => {
    template(`${BASE.slice(0, BASE.indexOf('application:'))}application: { kafka: { brokers: ["a:1"] } }
consumers: [{ name: orders, application: { kafka: { topics: [orders], groupId: g } } }]\n`);
    environment('prod.yaml', 'replicas: 2\n');
    expect(folders()).toEqual(['prod']);
  });

  test('is checked in each environment', () => {
    template(`${BASE.replace(/^image:.*\n/, '')}replicas: -1\n`);
    environment('prod.yaml', 'partitions: 3\n');
    environment('staging.yaml', 'image: { repository: registry/staging }\n');
    expect(problems()).toEqual([
      'image.repository @ consumer.yaml, in prod',
      'replicas @ consumer.yaml:8:11, in prod, staging',
    ]);
  });

  test('wants an environment', () => {
    template(BASE);
    expect(problems()).toEqual(['base @ consumer.yaml:1:7']);
  });

  test('says so in a word that there is, in consumer.yaml alone', () => {
    environment('prod.yaml', 'base: template\n');
    expect(problems()).toEqual(['base @ environments/prod.yaml:1:7']);
    environment('prod.yaml', 'replicas: 2\n');
    for (const word of ['templates', '3', '[template]', 'hunter2hunter2']) {
      writeFileSync(join(folder, 'consumer.yaml'), `base: ${word}\n${BASE}`);
      const checked = checkedEnvironments(folder);
      expect(checked).toMatchObject({
        problems: [{ path: 'base', allowed: 'one of consumer, template', source: 'consumer.yaml:1:7' }],
      });
      expect(JSON.stringify(checked)).not.toContain('hunter2');
    }
  });

  test('is none with base: consumer, which is what it is without the word', () => {
    writeFileSync(join(folder, 'consumer.yaml'), `base: consumer\n${BASE}`);
    expect(folders()).toEqual(['']);
  });
});
