import { expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from '../charts/example-consumer.ts';
import { renderedConsumer } from '../charts/rendered-consumer.ts';

const NAMED = { constructor: 'x' };
const SEALED = { sealedSecret: { encryptedData: { constructor: 'A'.repeat(100) } } };
const PEER = { namespace: 'kafka', podLabels: NAMED };

test.each<[string, object]>([
  ['pods.labels', { pods: { labels: NAMED } }],
  ['pods.annotations', { pods: { annotations: NAMED } }],
  ['pods.nodeSelector', { pods: { nodeSelector: NAMED } }],
  ['monitoring.labels', { monitoring: { labels: NAMED } }],
  ['networkPolicy.ingress\\[0\\].podLabels', { networkPolicy: { ingress: [PEER] } }],
  ['database.sealedSecret.encryptedData', { database: SEALED }],
])('a name that cdk8s cannot render is refused at its place: %s', (place, changes) => {
  const checked = checkConsumerFile(consumerDocument(changes));
  const problems = checked.ok ? [] : checked.problems;
  expect(problems.map(({ path, message }) => ({ path, message }))).toEqual([
    { path: expect.stringMatching(`^${place}.*\\.constructor$`), message: 'has a name that cdk8s cannot render' },
  ]);
});

test('such a name with a prefix is rendered, and so is the variable of that name', () => {
  const labels = { 'example.com/constructor': 'label' };
  const text = JSON.stringify(renderedConsumer({ pods: { labels, environment: { constructor: 'variable' } } }));
  expect(text).toContain('"example.com/constructor":"label"');
  expect(text).toContain('{"name":"constructor","value":"variable"}');
});
