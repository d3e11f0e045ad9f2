import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from '../charts/example-consumer.ts';

/** Every kind of place that takes the key of a label or annotation. */
const PLACES: Readonly<Record<string, (key: string) => object>> = {
  'pods.labels': (key) => ({ pods: { labels: { [key]: 'a' } } }),
  'pods.annotations': (key) => ({ pods: { annotations: { [key]: 'a' } } }),
  'pods.nodeSelector': (key) => ({ pods: { nodeSelector: { [key]: 'a' } } }),
  'pods.tolerations[0].key': (key) => ({ pods: { tolerations: [{ key, operator: 'Exists' }] } }),
  'serviceAccount.annotations': (key) => ({ serviceAccount: { annotations: { [key]: 'a' } } }),
  'monitoring.labels': (key) => ({ monitoring: { labels: { [key]: 'a' } } }),
  'networkPolicy.ingress[0].podLabels': (key) => ({ networkPolicy: { ingress: [{ podLabels: { [key]: 'a' } }] } }),
};

const prefix = (length: number): string =>
  'a.'
    .repeat(length)
    .slice(0, length - 1)
    .concat('b');

const isTaken = (place: string, key: string): boolean => checkConsumerFile(consumerDocument(PLACES[place]?.(key))).ok;

// As IsQualifiedName of Kubernetes (apimachinery/pkg/util/validation).
describe.each(Object.keys(PLACES))('at %s', (place) => {
  test.each([
    'team',
    'example.com/team',
    'topology.disk.csi.azure.com/zone',
    'a.b.c.d.e.f.g.h/Zone_1.x',
    `${'a'.repeat(70)}.b/zone`,
    `${prefix(253)}/${'z'.repeat(63)}`,
  ])('the key %s is taken', (key) => {
    expect(isTaken(place, key)).toBe(true);
  });

  test.each([
    '',
    '/zone',
    'a.b.c.d.e/',
    'a..b/zone',
    'a.b./zone',
    '.a/zone',
    'a/b/zone',
    'a_b.c/zone',
    `${prefix(254)}/zone`,
    `a.b.c.d.e/${'z'.repeat(64)}`,
  ])('the key %s is refused', (key) => {
    expect(isTaken(place, key)).toBe(false);
  });
});
