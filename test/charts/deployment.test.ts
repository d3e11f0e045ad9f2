import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { manifestProblems } from '../manifests/manifest-problems.ts';
import { consumerDocument } from './example-consumer.ts';
import { deploymentSpec, onlyContainer, renderedConsumer } from './rendered-consumer.ts';

function places(changes: object): string[] {
  const checked = checkConsumerFile(consumerDocument(changes));
  return checked.ok ? [] : checked.problems.map(({ path }) => path);
}

describe('a rollout', () => {
  test('waits for a new Pod as long as rollout.minReadySeconds says', () => {
    const objects = renderedConsumer({ rollout: { minReadySeconds: 30 } });
    expect(deploymentSpec(objects)).toMatchObject({ minReadySeconds: 30 });
    expect(objects.flatMap(manifestProblems)).toEqual([]);
  });

  test('says nothing of it unless it is asked to', () => {
    expect(deploymentSpec(renderedConsumer())).not.toHaveProperty('minReadySeconds');
  });

  test('never waits longer than it may take, which the API server would refuse', () => {
    expect(places({ rollout: { minReadySeconds: 599 } })).toEqual([]);
    expect(places({ rollout: { minReadySeconds: 600 } })).toEqual(['rollout.minReadySeconds']);
  });
});

describe('the image', () => {
  test.each(['Always', 'IfNotPresent', 'Never'])('is pulled as image.pullPolicy says: %s', (pullPolicy) => {
    const objects = renderedConsumer({ image: { pullPolicy } });
    expect(onlyContainer(objects)).toMatchObject({ imagePullPolicy: pullPolicy });
    expect(objects.flatMap(manifestProblems)).toEqual([]);
  });

  test('is pulled where it is missing unless said otherwise', () => {
    expect(onlyContainer(renderedConsumer())).toMatchObject({ imagePullPolicy: 'IfNotPresent' });
  });

  test('is pulled in no other way', () => {
    expect(places({ image: { pullPolicy: 'Sometimes' } })).toEqual(['image.pullPolicy']);
  });
});
