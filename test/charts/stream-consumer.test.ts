import { describe, expect, test } from '@jest/globals';
import { App, Chart, JsonPatch } from 'cdk8s';
import { Construct } from 'constructs';
import { InvalidConsumerError, StreamConsumer, type StreamConsumerProps } from '../../index.ts';
import { consumerDocument } from './example-consumer.ts';
import { type Manifest, only, renderedConsumer } from './rendered-consumer.ts';

const propsOf = (changes: object = {}) => consumerDocument(changes) as StreamConsumerProps;

const chartIn = (app = new App(), id = 'theirs') => new Chart(app, id);

const rendered = (chart: Chart): Manifest[] => chart.toJson() as Manifest[];

function refusal(props: unknown): InvalidConsumerError {
  try {
    new StreamConsumer(chartIn(), 'orders', props as StreamConsumerProps);
  } catch (error) {
    if (error instanceof InvalidConsumerError) {
      return error;
    }
    throw error;
  }
  throw new Error('the props were accepted');
}

describe('a StreamConsumer', () => {
  test('renders to the same objects in any chart, however deep and under whatever id', () => {
    const chart = chartIn();
    new StreamConsumer(new Construct(chart, 'deeper'), 'some-id', propsOf());
    expect(rendered(chart)).toEqual(renderedConsumer());
  });

  test('gives each of its objects, and no others', () => {
    const chart = chartIn();
    const consumer = new StreamConsumer(chart, 'orders', propsOf({ replicas: 2 }));
    const { namespace, serviceAccount, configMap, deployment, service, disruptionBudget, networkPolicy } = consumer;
    const given = [namespace, serviceAccount, configMap, deployment, service, disruptionBudget, networkPolicy];
    expect(given.map((object) => object?.toJson())).toEqual(rendered(chart));
  });

  test('has no Namespace and no budget where the props ask for none', () => {
    const props = propsOf({ replicas: 1, namespace: { create: false } });
    const { namespace, disruptionBudget } = new StreamConsumer(chartIn(), 'orders', props);
    expect([namespace, disruptionBudget]).toEqual([undefined, undefined]);
  });

  test('can be patched where the props have no word for it', () => {
    const chart = chartIn();
    const { deployment, service } = new StreamConsumer(chart, 'orders', propsOf());
    deployment.addJsonPatch(JsonPatch.add('/spec/template/spec/priorityClassName', 'high'));
    service.metadata.addAnnotation('example.com/team', 'orders');
    expect(only(rendered(chart), 'Deployment')).toMatchObject({
      spec: { template: { spec: { priorityClassName: 'high' } } },
    });
    expect(only(rendered(chart), 'Service').metadata).toMatchObject({ annotations: { 'example.com/team': 'orders' } });
  });

  test('stands beside others, and none knows of another', () => {
    const together = chartIn();
    for (const name of ['orders', 'payments']) {
      new StreamConsumer(together, name, propsOf({ name, replicas: name.length }));
    }
    const alone = ['orders', 'payments'].flatMap((name) => {
      const chart = chartIn();
      new StreamConsumer(chart, name, propsOf({ name, replicas: name.length }));
      return rendered(chart);
    });
    expect(rendered(together)).toEqual(alone);
  });

  test('leaves its props alone, and takes undefined for left out', () => {
    const image = Object.freeze({ ...propsOf().image, tag: undefined });
    const props = Object.freeze({ ...propsOf(), replicas: undefined, image });
    const before = JSON.stringify(props);
    const chart = chartIn();
    new StreamConsumer(chart, 'orders', props as unknown as StreamConsumerProps);
    expect(JSON.stringify(props)).toBe(before);
    expect(rendered(chart)).toEqual(renderedConsumer());
  });
});

describe('two consumers of one name', () => {
  const add = (scope: Construct, id: string, changes: object = {}) => new StreamConsumer(scope, id, propsOf(changes));

  test('and one namespace are refused when an app is synthesized, and both are named by their paths', () => {
    const app = new App();
    const chart = chartIn(app, 'eu');
    add(chart, 'orders');
    add(new Construct(chart, 'payments'), 'first', { name: 'payments' });
    add(chartIn(app, 'us'), 'sales');
    expect(() => rendered(chart)).toThrow(
      new Error(`Validation failed with the following errors:
  [us/sales] StreamConsumer us/sales: 1 problem in the props
name is also that of StreamConsumer eu/orders in the namespace stream-consumer, and in a cluster one would overwrite the other: "orders-consumer"
  allowed: another name or another namespace; consumers of two clusters may share both in two apps`),
    );
  });

  test('are refused once each, all but the first', () => {
    const chart = chartIn();
    for (const id of ['a', 'b', 'c']) {
      add(chart, id);
    }
    const problems = chart.node.findAll().flatMap(({ node }) => node.validate());
    expect(problems.map((each) => each.split(':')[0])).toEqual(['StreamConsumer theirs/b', 'StreamConsumer theirs/c']);
    expect(problems.every((each) => each.includes('StreamConsumer theirs/a in'))).toBe(true);
  });

  test('are none where the props of the first were refused', () => {
    const chart = chartIn();
    expect(() => add(chart, 'a', { replicas: -1 })).toThrow(InvalidConsumerError);
    add(chart, 'b');
    expect(rendered(chart)).toEqual(renderedConsumer());
  });

  test('may stand in two namespaces, or in two apps', () => {
    const chart = chartIn();
    add(chart, 'a', { namespace: { name: 'a' } });
    add(chart, 'b', { namespace: { name: 'b' } });
    add(chartIn(), 'a', { namespace: { name: 'a' } });
    expect(rendered(chart).filter(({ kind }) => kind === 'Deployment')).toHaveLength(2);
  });
});

describe('wrong props', () => {
  const wrong = { ...propsOf({ image: { tag: 'latest' } }), replicas: -1, replica: 2 };

  test('are refused with all problems at once, the path of the construct, and a code for programs', () => {
    const error = refusal(wrong);
    expect(error).toMatchObject({ name: 'InvalidConsumerError', code: 'INVALID_CONSUMER' });
    expect(error.problems.map(({ path }) => path).toSorted()).toEqual(['image.tag', 'replica', 'replicas']);
    expect(error.message).toContain('StreamConsumer theirs/orders: 3 problems in the props\n');
    expect(error.message).toContain('did you mean replicas?');
  });

  test('a secret is refused and not repeated', () => {
    const error = refusal(propsOf({ application: { database: { password: 'hunter2' } } }));
    expect(error.problems).toHaveLength(1);
    expect(error.message).toContain('application.database.password is a secret');
    expect(error.message).not.toContain('hunter2');
  });

  test.each([
    ['nothing', undefined],
    ['a list', []],
    ['a function', () => 1],
    ['a function in a section', { ...propsOf(), image: { tag: () => '1.0.0' } }],
  ])('%s is refused in the same way', (_what, props) => {
    expect(refusal(props).problems.length).toBeGreaterThan(0);
  });

  test('do no harm to the next consumer of the process', () => {
    refusal(wrong);
    const chart = chartIn();
    new StreamConsumer(chart, 'orders', propsOf());
    expect(rendered(chart)).toEqual(renderedConsumer());
  });
});
