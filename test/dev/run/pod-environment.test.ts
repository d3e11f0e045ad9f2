import { expect, test } from '@jest/globals';
import { podEnvironment } from '../../../dev/run/pod-environment.ts';
import { onlyContainer, renderedConsumer } from '../../charts/rendered-consumer.ts';

test.each([
  ['by default', podEnvironment(), {}],
  ['under a limit of 1Gi', podEnvironment('1Gi'), { resources: { limits: { memory: '1Gi' } } }],
])("a Pod's memory is bounded as the manifests and the image have it, %s", (_, bounds, changes) => {
  const { env } = onlyContainer(renderedConsumer(changes));
  expect(env).toContainEqual({ name: 'NODE_OPTIONS', value: bounds.NODE_OPTIONS });
  expect(bounds.MALLOC_MMAP_THRESHOLD_).toBe('65536');
});
