import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { consumerDocument } from './example-consumer.ts';
import { deploymentSpec, only, renderedConsumer } from './rendered-consumer.ts';

const TICK = 'syntax = "proto3"; message Tick {}';
const formats = { orders: { key: { avro: 'key.avsc' }, value: { protobuf: 'acme/tick.proto', message: 'Tick' } } };
const GIVEN = { files: { 'key.avsc': '"long"', 'acme/tick.proto': TICK }, application: { formats } };

interface Mounted {
  readonly name: string;
  readonly items?: readonly object[];
}

/** The ConfigMap, its volume and its application.yml. */
function mounted(given: object) {
  const objects = renderedConsumer(given);
  const data = only(objects, 'ConfigMap')['data'] as Readonly<Record<string, string>>;
  const { volumes = [] } = deploymentSpec(objects).template.spec;
  const volume = volumes.find((each) => each['name'] === 'configuration')?.['configMap'] as Mounted;
  return { data, volume, application: parse(data['application.yml'] ?? '') as unknown };
}

const problems = (given: object): readonly string[] => {
  const checked = checkConsumerFile(consumerDocument(given));
  return checked.ok ? [] : checked.problems.map(describeProblem);
};

describe('files of consumer.yaml', () => {
  test('are in the ConfigMap, in their folders beside application.yml, and the settings name their places', () => {
    const { data, volume, application } = mounted(GIVEN);
    expect(data).toMatchObject({ 'key.avsc': '"long"', 'acme__tick.proto': TICK });
    expect(volume.items).toEqual([
      { key: 'application.yml', path: 'application.yml' },
      { key: 'key.avsc', path: 'key.avsc' },
      { key: 'acme__tick.proto', path: 'acme/tick.proto' },
    ]);
    expect(application).toMatchObject({
      formats: {
        orders: {
          key: { avro: '/etc/stream-consumer/key.avsc' },
          value: { protobuf: '/etc/stream-consumer/acme/tick.proto', message: 'Tick' },
        },
      },
    });
  });

  test('need no list of items without folders, and a change makes another ConfigMap', () => {
    const of = (text: string) => mounted({ files: { 'a.avsc': text } }).volume;
    expect(of('1')).not.toHaveProperty('items');
    expect(of('1').name).not.toBe(of('2').name);
    expect(of('1').name).toBe(of('1').name);
  });

  test('are refused where they are too much for a ConfigMap, or two are one key', () => {
    expect(problems({ files: { a: 'x'.repeat(600_000), b: 'x'.repeat(400_000) } })).toEqual([
      'files have 1,000,002 bytes in all, and go into one ConfigMap\n  allowed: at most 1,000,000 bytes',
    ]);
    const allowed = 'allowed: a name that no other file has, nor application.yml, with __ for each slash';
    expect(problems({ files: { 'a/b': '1', a__b: '2' } })).toEqual([
      `files.a__b would be the same key of the ConfigMap as another file\n  ${allowed}`,
    ]);
    expect(problems({ files: { 'application.yml': '1' } })).toEqual([
      `files.application.yml would be the same key of the ConfigMap as another file\n  ${allowed}`,
    ]);
  });

  test.each(['../a', '/a', 'a/', 'a//b', 'a b', '.', 'a/..'])('may not be called %j', (name) => {
    expect(problems({ files: { [name]: '1' } })).toHaveLength(1);
  });

  test('are what a relative path of a format names', () => {
    expect(problems(GIVEN)).toEqual([]);
    expect(problems({ application: { formats: { orders: { value: { avro: '/mnt/a.avsc' } } } } })).toEqual([]);
    expect(problems({ ...GIVEN, files: { 'key.avsc': '"long"' } })).toEqual([
      'application.formats.orders.value.protobuf names a file that nothing puts into the container: "acme/tick.proto"\n' +
        '  allowed: a name of files, which has the text of the file; or an absolute path into a volume of pods',
    ]);
  });
});
