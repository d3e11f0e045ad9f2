import { describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { ConsumerChart } from '../../../charts/consumer-chart.ts';
import { checkConsumerFile } from '../../../deployment/check-consumer.ts';
import { checkedWorkload } from '../../../deployment/checked-workload.ts';
import { ALL_WORDS_ENVIRONMENT, allWordsTemplate } from '../../../dev/cluster/all-words.ts';
import { MonitoringChart } from '../../../monitoring/stream-consumer-monitoring.ts';
import { describeProblems } from '../../../settings/schema/problem.ts';
import { overlay } from '../../../synthesis/overlay.ts';
import type { Manifest } from '../../charts/rendered-consumer.ts';
import { manifestProblems } from '../../manifests/manifest-problems.ts';

const { base, ...template } = allWordsTemplate({
  namespace: 'n',
  broker: 'kafka:9092',
  databasePort: 5_432,
  hasOperator: true,
});

function objects(): Manifest[] {
  const checked = checkConsumerFile(overlay(template, ALL_WORDS_ENVIRONMENT));
  if (!checked.ok) {
    throw new Error(describeProblems(checked.problems));
  }
  const consumer = checked.value;
  const chart = new ConsumerChart(new App(), 'consumer', { consumer });
  const monitoring = new MonitoringChart(new App(), 'monitoring', {
    consumer: { workload: checkedWorkload(consumer) },
  });
  return [...chart.toJson(), ...monitoring.toJson()];
}

describe('the consumer with all words that a cluster sees', () => {
  test('is a template that an environment completes', () => {
    expect(base).toBe('template');
    expect(overlay(template, ALL_WORDS_ENVIRONMENT)).toMatchObject({ name: 'all-words', replicas: 0 });
  });

  test('is one that the API server takes, by the schemas of the publishers', () => {
    expect(objects().flatMap(manifestProblems)).toEqual([]);
  });

  test('has the common label, the common annotation and the patch on each object that is ours', () => {
    const kinds = new Set(objects().map(({ kind }) => kind));
    expect(kinds.size).toBeGreaterThan(7);
    for (const { metadata } of objects()) {
      expect(metadata).toMatchObject({
        labels: { 'example.com/cost-centre': '42', ...(metadata.name !== 'all-words-more' && { patched: 'all' }) },
        annotations: { 'example.com/owner': 'Payments, room 4' },
      });
    }
  });

  test('has each of the words in its Pods', () => {
    const text = JSON.stringify(objects());
    for (const word of [
      '"minReadySeconds":5',
      '"imagePullPolicy":"Always"',
      'Prune=false',
      'valueFrom',
      '"dnsConfig"',
    ]) {
      expect(text).toContain(word);
    }
    expect(text).toContain('"hostAliases"');
    expect(text).not.toMatch(/runAsUser|runAsGroup|fsGroup/);
  });
});
